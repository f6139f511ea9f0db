"""vLLM's command line without a history of its flags: every flag is taken, a few are known by name.

A flag may be written with dashes or underscores, and dotted below an option that takes JSON.
Source: vLLM 0.33.0 vllm/utils/argparse_utils.py.
"""

from __future__ import annotations

import re
from typing import Any

from preflight.engines.base import FlagUse, Parsing
from preflight.engines.steps import FILE, INLINE_DEFAULT, NOT_KNOWN, UNKNOWN, Setting
from preflight.launch import DEFAULT, OPAQUE, LaunchSite, Token
from preflight.text import Place, Span

_SHORT = {
    "tp": "tensor-parallel-size",
    "pp": "pipeline-parallel-size",
    "dp": "data-parallel-size",
    "dpl": "data-parallel-size-local",
    "dpr": "data-parallel-start-rank",
    "dpn": "data-parallel-rank",
    "pcp": "prefill-context-parallel-size",
    "dcp": "decode-context-parallel-size",
    "ep": "enable-expert-parallel",
    "n": "nnodes",
    "r": "node-rank",
    "q": "quantization",
    "cc": "compilation-config",
    "ac": "attention-config",
    "asc": "api-server-count",
}
_PREFIXES = {
    "tensor-parallel": "tensor-parallel-size",
    "pipeline-parallel": "pipeline-parallel-size",
    "gpu-memory-util": "gpu-memory-utilization",
    "gpu-memory": "gpu-memory-utilization",
    "served-model": "served-model-name",
    "max-model": "max-model-len",
}
_INTEGERS = frozenset(
    (
        "tensor-parallel-size",
        "pipeline-parallel-size",
        "prefill-context-parallel-size",
        "decode-context-parallel-size",
        "data-parallel-size",
        "data-parallel-size-local",
        "data-parallel-rank",
        "nnodes",
        "node-rank",
        "port",
        "max-num-seqs",
    )
)
_NUMBERS = frozenset(("gpu-memory-utilization",))
_FLAG = re.compile(r"--?[A-Za-z]")


def parse(site: LaunchSite, release: str) -> Parsing:
    """Settings by stable name. Words that follow a flag are its values; what cannot be read is unknown."""
    settings: dict[str, Setting] = {}
    uses: list[FlagUse] = []
    complete = site.complete
    argv = site.argv
    if argv and _is_word(argv[0]) and _takes_positional(site):
        settings["model"] = _setting(site, "model", argv[0].value, 0, 0)
    at = 0
    while at < len(argv):
        if not _is_flag(argv[at]):
            at += 1
            continue
        last = at
        while last + 1 < len(argv) and not _is_flag(argv[last + 1]):
            last += 1
        use = _use(argv, at, last)
        complete = complete and use.name != "config"
        if any(word.conditional for word in argv[at : last + 1]):
            use, complete = use._replace(value=UNKNOWN), False
        uses.append(use)
        if use.name != "model" or "model" not in settings:  # the positional model beats the flag
            settings[use.name] = _setting(site, use.name, use.value, at, use.last)
        at = last + 1
    return Parsing(settings, tuple(uses), (), complete)


def _takes_positional(site: LaunchSite) -> bool:
    return site.entry is not None and site.entry.value in ("vllm serve", "image", "image + vllm serve")


def _is_word(word: Token) -> bool:
    """Exactly one word that is no flag, whatever it says."""
    return word.state != OPAQUE and not word.conditional and not _is_flag(word)


def _is_flag(word: Token) -> bool:
    return _FLAG.match(word.text) is not None


def stable_name(spelling: str) -> str:
    """`-tp`, `--tensor_parallel_size` and `--tensor-parallel` are one setting; what is below a dot belongs to it."""
    name = spelling.lstrip("-").partition(".")[0].replace("_", "-")
    return _SHORT.get(name) or _PREFIXES.get(name) or name


def _use(argv: tuple[Token, ...], first: int, last: int) -> FlagUse:
    spelling, equals, attached = argv[first].text.partition("=")
    name = stable_name(spelling)
    if equals:
        value = _read(name, attached) if argv[first].value is not None else UNKNOWN
        return FlagUse(name, spelling, value, first, first, attached=True)
    words = [argv[index].value for index in range(first + 1, last + 1)]
    if not words:
        return FlagUse(name, spelling, True, first, first)
    if name in _INTEGERS or name in _NUMBERS or len(words) == 1:
        return FlagUse(name, spelling, UNKNOWN if words[0] is None else _read(name, words[0]), first, first + 1)
    return FlagUse(name, spelling, UNKNOWN if None in words else words, first, last)


def _read(name: str, text: str) -> Any:
    """A number where the setting is one; a text that is none is nothing that could be judged."""
    try:
        if name in _INTEGERS:
            return int(text)
        return float(text) if name in _NUMBERS else text
    except ValueError:
        return UNKNOWN


def _setting(site: LaunchSite, name: str, value: Any, first: int, last: int) -> Setting:
    words = site.argv[first : last + 1]
    origin = INLINE_DEFAULT if any(word.state == DEFAULT for word in words) else FILE
    if value is UNKNOWN or value is None:
        value, origin = UNKNOWN, NOT_KNOWN
    start, end = words[0].place, words[-1].place
    place = start
    if start.document is end.document and end.span.end >= start.span.start:
        place = Place(start.document, Span(start.span.start, end.span.end))
    return Setting(value, origin, place, words[0].text.partition("=")[0] if _is_flag(words[0]) else None)
