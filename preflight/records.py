"""NamedTuple without what typing does to every annotation of it: some 90 records load in a lint, and load sooner so.

To a type checker it is `typing.NamedTuple`. At run time annotations stay as they are written: nothing here reads them.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False

if TYPE_CHECKING or sys.version_info >= (3, 14):  # 3.14 keeps annotations where only typing should look for them
    from typing import NamedTuple as NamedTuple
else:
    from collections import namedtuple

    class _Record(type):
        def __new__(mcs, name, bases, body):  # type: ignore[no-untyped-def]
            fields = list(body.get("__annotations__", ()))
            defaults = [body[field] for field in fields if field in body]
            record = namedtuple(name, fields, defaults=defaults, module=body["__module__"])
            for key in body.keys() - {*fields, "__module__", "__qualname__", "__annotations__"}:
                setattr(record, key, body[key])
            record.__annotations__ = body.get("__annotations__", {})
            return record

    _BASE = type.__new__(_Record, "NamedTuple", (), {})

    def NamedTuple(): ...  # type: ignore[no-untyped-def]

    NamedTuple.__mro_entries__ = lambda bases: (_BASE,)  # type: ignore[attr-defined]
