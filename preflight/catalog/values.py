"""The conversions that the engine's parser applies to a value, and what each refuses.

Source: sglang `srt/utils/common.py` (human_readable_int, json_list_type, nullable_str),
`srt/model_executor/cuda_graph_config.py`, `srt/arg_groups/argparse_actions.py`.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from preflight.catalog.load import Flag


class Unknown:
    """The value of a word whose text is not known."""

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __bool__(self) -> bool:
        raise TypeError("an unknown value is neither true nor false")


UNKNOWN = Unknown()

_RETIRED_BACKENDS = ("tc_piecewise",)
_MULTIPLES = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_KINDS = {
    "int": "an integer",
    "float": "a number",
    "json": "JSON",
    "json_list": "a JSON list",
    "human_readable_int": "an integer, or one with k, M, G, T, Ki, Mi, Gi or Ti",
    "parse_cuda_graph_config_arg": "a JSON object of phases",
    "parse_cuda_graph_backend_arg": "a backend that this release has",
}


def convert(flag: Flag, text: str) -> object:
    """The value of `text` for `flag`. Raises ValueError where the engine's parser refuses it.

    A conversion that is not known gives UNKNOWN.
    """
    if flag.action == "lora_paths":
        return _lora_path(text) if flag.keys else text
    if flag.type == "parse_cuda_graph_config_arg":
        return _graph_config(text, flag.keys)
    convert_it = _CONVERSIONS.get(flag.type)
    return UNKNOWN if convert_it is None else convert_it(text)


def expected(flag: Flag) -> str:
    """What a value of `flag` has to be, in words."""
    return _KINDS.get(flag.type, "a LoRA path" if flag.action == "lora_paths" else "text")


def _json(text: str) -> object:
    import json

    return json.loads(text)  # its error is a ValueError


def _human_readable_int(text: str) -> int:
    text = text.strip()
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(Ki|Mi|Gi|Ti|k|M|G|T)", text)
    if found is None:
        return int(text)
    number, suffix = found.groups()
    if suffix.endswith("i"):
        return int(number) * _MULTIPLES[suffix]  # a ValueError where there is a fraction
    whole, _, fraction = number.partition(".")
    divisor: int = 10 ** len(fraction)
    return int(whole + fraction) * _MULTIPLES[suffix] // divisor


def _nullable_str(text: str) -> str | None:
    return None if text in ("", "None") else text


def _graph_backend(text: str) -> str:
    if text in _RETIRED_BACKENDS:
        raise ValueError(text)
    return text


def _graph_config(text: str, keys: Mapping[str, Sequence[str]] | None) -> object:
    value = _json(text)
    if not isinstance(value, dict):
        raise ValueError(text)
    for phase, settings in value.items():
        if not isinstance(settings, dict):
            raise ValueError(f"{phase} is not an object")
        if keys is not None and (phase not in keys or not set(settings) <= set(keys[phase])):
            raise ValueError(f"{phase} is unknown or holds an unknown key")
        # The piecewise backend went together with the key for its compiler.
        if keys is not None and "tc_compiler" not in keys[phase] and settings.get("backend") in _RETIRED_BACKENDS:
            raise ValueError(f"{phase} asks for a retired backend")
    return value


def _lora_path(text: str) -> object:
    text = text.strip()
    if text.startswith("{") and text.endswith("}"):
        value = _json(text)
        if not isinstance(value, dict) or not {"lora_path", "lora_name"} <= set(value):
            raise ValueError("needs lora_name and lora_path")
        return value
    return text


_CONVERSIONS: dict[str, Callable[[str], object]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "json": _json,
    "json_list": _json,
    "human_readable_int": _human_readable_int,
    "nullable_str": _nullable_str,
    "parse_cuda_graph_backend_arg": _graph_backend,
}
