"""NamedTuple at a fraction of what the standard ones cost to define: a lint loads some 90 records, most of them unused.

To a type checker it is `typing.NamedTuple`. At run time annotations stay as they are written, as nothing here reads them,
and a record's constructor is compiled when the first one is made (17 against 170 µs a record in CPython 3.11).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 14):  # 3.14 keeps annotations where only typing should look for them
    from typing import NamedTuple as NamedTuple
else:
    from _collections import _tuplegetter

    class _Record(tuple):
        __slots__ = ()

        def __new__(cls, /, *values: Any, **named: Any) -> _Record:
            fields = ", ".join(cls._fields)
            constructor = eval(f"lambda _cls, {fields}: _new(_cls, ({fields},))", {"_new": tuple.__new__})
            constructor.__defaults__ = tuple(cls._field_defaults.values())
            cls.__new__ = staticmethod(constructor)
            return constructor(cls, *values, **named)

        def __class_getitem__(cls, of: Any) -> Any:
            return cls

        @classmethod
        def _make(cls, values: Iterable[Any]) -> _Record:
            return cls(*values)

        def _replace(self, /, **named: Any) -> _Record:
            record = tuple.__new__(type(self), map(named.pop, self._fields, self))
            if named:
                raise ValueError(f"no such fields: {', '.join(named)}")
            return record

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

    class _Definition(type):
        def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            fields = tuple(body.get("__annotations__", ()))
            body["_fields"] = body["__match_args__"] = fields
            body["_field_defaults"] = {field: body[field] for field in fields if field in body}
            body["__slots__"] = ()
            for index, field in enumerate(fields):
                body[field] = _tuplegetter(index, None)
            return type(name, (_Record,), body)

    _BASE = type.__new__(_Definition, "NamedTuple", (), {})

    def NamedTuple() -> None: ...

    NamedTuple.__mro_entries__ = lambda bases: (_BASE,)
