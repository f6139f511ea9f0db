"""Reading options from source: one small made-up release for each way of declaring them, and for each trap."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from preflight.catalog.declarations import Declared, read_flags
from preflight.catalog.evaluate import SUPPRESS
from preflight.catalog.source import Source
from tests.catalog.engine import SERVER_ARGS, wheel


def flags(folder: Path, body: str, **others: str) -> dict[str, Declared]:
    files = {SERVER_ARGS: body} | {f"sglang/{name.replace('__', '/')}.py": text for name, text in others.items()}
    return {flag.spellings[0]: flag for flag in read_flags(Source(wheel(folder, "9.9", files)))}


CALLS = """
    import argparse, dataclasses, json, sys
    from sglang.srt.parsers import NamedParser
    from sglang.srt.common import MODULES, EXTRA

    QUANTIZATION_CHOICES = ["awq", "fp8"]

    @dataclasses.dataclass
    class ServerArgs:
        model_path: str
        tp_size: int = 1
        quantization: str = None
        cuda_graph_bs: list = None
        queue: int = sys.maxsize
        window: int = 4 * 1024

        @staticmethod
        def add_cli_args(parser: argparse.ArgumentParser):
            names = list(NamedParser.Map.keys())
            parser.add_argument("--model-path", "--model", type=str, required=True, help="text")
            parser.add_argument("--tensor-parallel-size", "--tp-size", type=int, default=ServerArgs.tp_size)
            parser.add_argument("--quantization", choices=QUANTIZATION_CHOICES, default=ServerArgs.quantization)
            parser.add_argument("--draft-quantization", choices=[*QUANTIZATION_CHOICES, "none"])
            parser.add_argument("--modules", type=str, choices=MODULES + [EXTRA], nargs="*")
            parser.add_argument("--parser", choices=["auto"] + names)
            parser.add_argument("--cuda-graph-bs", type=int, nargs="+", default=ServerArgs.cuda_graph_bs)
            parser.add_argument("--checksum", nargs="?", const="")
            parser.add_argument("--items", default=list(()))
            parser.add_argument("--queue", type=int, default=ServerArgs.queue)
            parser.add_argument("--window", type=int, default=ServerArgs.window)
            parser.add_argument("--overrides", type=json.loads)
            parser.add_argument("--trust", action="store_true", help="Trust it.")
            parser.add_argument("--overlap", action=argparse.BooleanOptionalAction, default=True)
            parser.add_argument("--secret", help=argparse.SUPPRESS)
            parser.add_argument("--old-way", action="store_true", help="[Deprecated] Use another.")
            parser.add_argument("--new-way", action="store_true", help="Replaces the deprecated one.")
            parser.add_argument("--dead", action=DeprecatedAction, help="Gone.")

        @classmethod
        def from_cli_args(cls, args):
            args.tp_size = args.tensor_parallel_size

    class DeprecatedAction(argparse.Action):
        def __init__(self, option_strings, dest, nargs=0, **kwargs):
            super().__init__(option_strings, dest, nargs=nargs, **kwargs)

        def __call__(self, parser, namespace, values, option_string=None):
            raise ValueError(self.help)
"""
PARSERS = """
    class NamedParser:
        Map = {"b": Anything, "a": Other.thing()}
"""
COMMON = """
    MODULES = ["q_proj", "k_proj"]
    EXTRA = "all"
"""


def test_calls(tmp_path: Path) -> None:
    found = flags(tmp_path, CALLS, srt__parsers=PARSERS, srt__common=COMMON)
    assert found["--model-path"] == Declared(("--model-path", "--model"), "model_path", required=True)
    assert found["--tensor-parallel-size"] == Declared(
        ("--tensor-parallel-size", "--tp-size"), "tensor_parallel_size", type="int", default=1, field="tp_size"
    )
    assert found["--quantization"].choices == ("awq", "fp8")
    assert found["--draft-quantization"].choices == ("awq", "fp8", "none")
    assert (found["--modules"].choices, found["--modules"].nargs) == (("q_proj", "k_proj", "all"), "*")
    assert found["--parser"].choices == ("auto", "b", "a")
    assert (found["--cuda-graph-bs"].nargs, found["--cuda-graph-bs"].default) == ("+", None)
    assert (found["--checksum"].nargs, found["--checksum"].const) == ("?", "")
    assert found["--items"].default == []
    assert (found["--queue"].default, found["--window"].default) == (sys.maxsize, 4096)
    assert found["--overrides"].type == "json"
    assert (found["--trust"].action, found["--trust"].nargs, found["--trust"].default) == ("store_true", 0, False)
    assert found["--overlap"].spellings == ("--overlap", "--no-overlap")
    assert found["--secret"].hidden
    assert (found["--old-way"].deprecated, found["--new-way"].deprecated) == (True, False)
    assert (found["--dead"].deprecated, found["--dead"].fails) == (True, True)


FIELDS = """
    import argparse, dataclasses
    from typing import Annotated, List, Literal, Optional, Union
    from sglang.srt.arg_groups.arg_utils import A, Arg, NS
    from sglang.srt.graph import Backend

    Mode = Literal["on", "off"]

    @dataclasses.dataclass
    class ServerArgs:
        model_path: A[str, Arg(help="Path.", aliases=["--model"])]
        tp_size: A[int, Arg(help="Ranks.", cli_name="--tensor-parallel-size", aliases=["--tp-size"]), NS("parallel")] = 1
        port: A[int, "The port."] = 30000
        twice: A[int, "First form."] = 1
        internal: Optional[int] = None
        also_internal: A[int, NS("x")] = 0
        from_python: A[bool, Arg(help="Not here.", no_cli=True)] = False
        metrics: A[bool, "Metrics."] = False
        tri_state: A[Optional[bool], "Unset or true."] = None
        mode: A[Mode, "Mode."] = "on"
        level: A[int | None, Arg(help="Level.", choices=[1, 2])] = None
        sizes: A[Optional[List[int]], "Sizes."] = None
        names: A[List[str], "Names."] = dataclasses.field(default_factory=list)
        raw: A[Optional[List[str]], Arg(help="Raw.", type_parser=json_list_type)] = None
        either: A[Union[str, int, None], "Any."] = None
        graph: A[Optional[str], Arg(help="Graph.", choices=Backend.ALL)] = None
        elastic: A[Literal[None, "a"], Arg(help="Elastic.", choices=["none", "a"])] = None
        ratio: A[Optional[float], Arg(help="Ratio.", fallback=0.8)] = None
        tuple_choice: A[Optional[str], Arg(help="T.", choices=("z", "i"))] = None
        loras: A[Optional[List[str]], Arg(help="L.", action=LoRAPathAction, action_kwargs={"type": str, "nargs": "*"})] = None
        switch: A[bool, Arg(help="S.", action=argparse.BooleanOptionalAction)] = False
        twice: A[float, "Second form."] = 2.0

        @staticmethod
        def add_cli_args(parser):
            add_cli_args_from_dataclass(parser, ServerArgs)
            parser.add_argument("--data", choices=[m.name.lower() for m in Modes], default=ServerArgs.mode)
            parser.add_argument(
                "--old-graph", action=DeprecatedStoreConstAction, dest="graph", const_value=Backend.OFF, new_flag="--graph"
            )
            parser.add_argument("--old-port", action=DeprecatedAliasStoreAction, dest="port", type=int, default=argparse.SUPPRESS)
            parser.add_argument("--old-switch", action=DeprecatedStoreTrueAction, dest="switch")
            parser.add_argument("--stop", action=DeprecatedAction, error_message="Use another.")

    class Modes(Enum):
        NONE = 0
        ALL = 1
"""
GRAPH = """
    class Backend:
        FULL = "full"
        OFF = "disabled"
        ALL = (FULL, OFF)
"""


def test_annotated_fields(tmp_path: Path) -> None:
    found = flags(tmp_path, FIELDS, srt__graph=GRAPH)
    assert found["--model-path"] == Declared(("--model-path", "--model"), "model_path", required=True)
    assert found["--tensor-parallel-size"].dest == "tp_size"
    assert not {"--internal", "--also-internal", "--from-python"} & set(found)
    assert (found["--twice"].type, found["--twice"].default, list(found).index("--twice")) == ("float", 2.0, 3)
    assert (found["--metrics"].action, found["--metrics"].default) == ("store_true", False)
    assert (found["--tri-state"].action, found["--tri-state"].default) == ("store_true", None)
    assert found["--mode"].choices == ("on", "off")
    assert (found["--level"].type, found["--level"].choices) == ("int", (1, 2))
    assert (found["--sizes"].type, found["--sizes"].nargs) == ("int", "+")
    assert (found["--names"].nargs, found["--names"].default, found["--names"].required) == ("+", [], False)
    assert (found["--raw"].type, found["--raw"].nargs) == ("json_list", None)
    assert found["--either"].type == "str"
    assert found["--graph"].choices == ("full", "disabled")
    assert found["--elastic"].choices == ("none", "a")
    assert (found["--ratio"].default, found["--ratio"].fallback) == (None, 0.8)
    assert found["--tuple-choice"].choices == ("z", "i")
    assert (found["--loras"].action, found["--loras"].nargs) == ("lora_paths", "*")
    assert found["--switch"].spellings == ("--switch", "--no-switch")


def test_calls_beside_fields(tmp_path: Path) -> None:
    found = flags(tmp_path, FIELDS, srt__graph=GRAPH)
    assert (found["--data"].choices, found["--data"].default) == (("none", "all"), "on")
    assert (found["--old-graph"].dest, found["--old-graph"].const, found["--old-graph"].nargs) == ("graph", "disabled", 0)
    assert (found["--old-port"].dest, found["--old-port"].default) == ("port", SUPPRESS)
    assert (found["--old-switch"].default, found["--old-switch"].const) == (False, True)
    assert (found["--stop"].deprecated, found["--stop"].fails) == (True, True)


STRUCTS = """
    from sglang.srt.arg_groups.arg_utils import A, Arg, Derived
    from sglang.srt.arg_groups.choices import BACKENDS

    class Parallel(msgspec.Struct):
        _NS_PATH = "parallel"
        model_path: A[str, "Path."]
        tp_size: A[int, "Ranks."] = 1
        rank: A[int, Derived("Set at run time.")]
        backend: A[Optional[str], Arg(help="B.", choices=BACKENDS)] = None
        urls: A[List[str], "Urls."] = msgspec.field(default_factory=list)

    class Helper(msgspec.Struct):
        not_a_flag: A[int, "No namespace."] = 1
"""
ASSEMBLED = """
    from sglang.srt.arg_groups.choices import BACKENDS

    def _parser_choices():
        module = sys.modules.get("sglang.srt.heavy")
        if module is not None:
            return list(module.Map)
        from sglang.srt.names import NAMES
        return list(NAMES)

    class ServerArgs:
        @staticmethod
        def add_cli_args(parser):
            add_cli_args_from_dataclass(parser, ServerArgs)
            choices = set(BACKENDS)
            if envs.SOMETHING.get():
                choices.add("extra")
            names = _parser_choices()
            parser.add_argument("--sampling-backend", choices=choices, default=_declared_default("backend"))
            parser.add_argument("--parser", choices=["auto"] + names, default=_declared_default("tp_size"))

    ServerArgs = msgspec.defstruct("ServerArgs", [], bases=(ServerArgs,))
"""


def test_structs_in_namespaces(tmp_path: Path) -> None:
    found = flags(
        tmp_path,
        ASSEMBLED,
        srt__arg_groups__fields__parallel=STRUCTS,
        srt__arg_groups__choices='BACKENDS = ["b", "a"]',
        srt__names='NAMES = ("x", "y")',
    )
    assert list(found) == ["--model-path", "--tp-size", "--backend", "--urls", "--sampling-backend", "--parser"]
    assert found["--model-path"].required
    assert found["--backend"].choices == ("b", "a")
    assert found["--urls"].default == []
    assert (found["--sampling-backend"].choices, found["--sampling-backend"].default) == (("a", "b"), None)
    assert (found["--parser"].choices, found["--parser"].default) == (("auto", "x", "y"), 1)


def test_choices_that_cannot_be_told_are_left_open(tmp_path: Path) -> None:
    body = """
        class ServerArgs:
            def add_cli_args(parser):
                parser.add_argument("--a", choices=compute(1), default=other(2))
                parser.add_argument("--b", choices=["x", unknown_name])
    """
    found = flags(tmp_path, body)
    assert (found["--a"].choices, found["--b"].choices) == (None, None)


def test_an_action_that_is_new_keeps_its_arity(tmp_path: Path) -> None:
    body = """
        class ServerArgs:
            def add_cli_args(parser):
                parser.add_argument("--a", action=Fresh)
                parser.add_argument("--b", action=Valued, type=int)
        class Fresh(argparse.Action):
            def __init__(self, option_strings, dest, nargs=0, **kwargs): ...
        class Valued(argparse.Action):
            def __call__(self): ...
    """
    found = flags(tmp_path, body)
    assert (found["--a"].action, found["--a"].nargs) == ("Fresh", 0)
    assert (found["--b"].nargs, found["--b"].type) == (None, "int")


def test_what_is_no_engine_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="server_args"):
        read_flags(Source(wheel(tmp_path, "1.0", {"sglang/__init__.py": ""})))
    plain = tmp_path / "plain.whl"
    plain.write_text("no zip")
    with pytest.raises(ValueError, match="not a wheel"):
        Source(plain)
