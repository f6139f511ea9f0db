"""The boots of a log, of SGLang 0.4.6 to 0.5.23 and vLLM 0.12 to 0.33: one pass over the lines that say something.

Line shapes: sglang srt/server_args.py, srt/model_executor/model_runner.py, srt/mem_cache; vllm v1/worker/gpu_worker.py,
v1/core/kv_cache_utils.py, entrypoints. What is matched is the tail of a line, behind its time stamp and rank.
"""

from __future__ import annotations

import errno
import io
import os
import re
import stat
from collections.abc import Callable, Iterable
from typing import BinaryIO

from preflight.logs import boot as names
from preflight.logs.assemble import CAPTURE, SIZING, Assembly
from preflight.logs.boot import Boot, figure
from preflight.logs.failures import failure_in
from preflight.logs.lines import Line, interesting
from preflight.logs.prefixes import Spoken, spoken
from preflight.logs.values import fields_of, mapping_of

MOST_BOOTS = 64
"""Of a log with more, the last ones are kept."""
_EXCERPT = 2000
_MESSAGE = 8000
"""Characters of a line that are searched: only lines of arguments are longer, and those are read once, from left to right."""

_N = r"(-?\d+(?:\.\d+)?)"


def read_log(path: str) -> list[Boot]:
    """The boots in the order of their first lines. Raises OSError; a pipe or a device, which may never end, is not opened."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "no regular file", path)
    with open(path, "rb") as file:
        return read_stream(file)


def read_text(text: str) -> list[Boot]:
    return read_stream(io.BytesIO(text.encode("utf-8", "replace")))


def read_stream(stream: BinaryIO) -> list[Boot]:
    reader = _Reader()
    for line in interesting(stream):
        reader.take(line)
    return reader.finished()


class _Reader:
    def __init__(self) -> None:
        self.open: dict[str, Assembly] = {}
        self.done: list[Assembly] = []
        self.pending: dict[str, dict[str, tuple[str, int]]] = {}
        """Versions and variables that stand before the first line of a boot, by source."""

    def take(self, line: Line) -> None:
        said = spoken(line.text)
        whole = said
        if len(said.text) > _MESSAGE:
            said = said._replace(text=said.text[:_MESSAGE])
        for literal, shape, act in _SHAPES:
            if literal in said.text:
                match = shape.search(said.text)
                if match is not None:
                    act(self, line, whole if act in _WHOLE else said, match)
                    return
        current = self.open.get(said.source)
        if current is not None:
            found = failure_in(said.text, line.number, current.stage(said.rank), current.engine)
            if found is not None:
                current.failed(*found, line.text[:_EXCERPT])

    def finished(self) -> list[Boot]:
        self.done += self.open.values()
        return [one.finished() for one in sorted(self.done, key=lambda one: one.line)]

    def begin(self, engine: str, line: Line, said: Spoken) -> Assembly:
        if said.source in self.open:
            self.done.append(self.open.pop(said.source))
            del self.done[:-MOST_BOOTS]
        if len(self.open) >= MOST_BOOTS:
            self.done.append(self.open.pop(next(iter(self.open))))
        new = self.open[said.source] = Assembly(engine, line.number, said.source)
        new.excerpts[line.number] = line.text[:_EXCERPT]
        for name, (value, number) in self.pending.get(said.source, {}).items():
            _note(new, name, value, number)
        return new

    def current(self, engine: str, line: Line, said: Spoken) -> Assembly:
        """The boot that a line belongs to; one of another engine, or the first, begins a new one."""
        found = self.open.get(said.source)
        return found if found is not None and found.engine == engine else self.begin(engine, line, said)

    def hint(self, said: Spoken, line: Line, name: str, value: str) -> None:
        """A version or variable: of the boot that is under way, else of the next."""
        current = self.open.get(said.source)
        if current is not None:
            _note(current, name, value, line.number)
            return
        pending = self.pending.setdefault(said.source, {})
        if len(pending) < 256 and len(self.pending) <= MOST_BOOTS:
            pending[name] = value, line.number


def _note(boot: Assembly, name: str, value: str, number: int) -> None:
    if name.startswith("version:"):
        if boot.version is None and name == f"version:{boot.engine}":
            boot.version, boot.version_line = value, number
    elif len(boot.env) < 256:
        boot.env.setdefault(name, value)


Act = Callable[[_Reader, Line, Spoken, re.Match[str]], None]


def _sglang_arguments(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    boot = reader.begin("sglang", line, said)
    read = mapping_of(said.text, match.end() - 1) if match[1] == "{" else fields_of(said.text, match.end())
    boot.settings, boot.complete = read[0], read[1] and not line.cut
    boot.settings_line = line.number


def _vllm_arguments(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    found = reader.open.get(said.source)
    boot = (
        found
        if found is not None and found.engine == "vllm" and found.fresh and not found.settings
        else reader.begin("vllm", line, said)
    )
    text = said.text
    read = mapping_of(text, match.end() - 1) if text[match.end() - 1] == "{" else fields_of(text, match.end())
    boot.settings, boot.complete = read[0], read[1] and not line.cut
    boot.settings_line, boot.resolved = line.number, False


def _vllm_config(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    """The engine's own configuration: what was not given on the command line is in it too."""
    boot = reader.current("vllm", line, said)
    _note(boot, "version:vllm", match[1], line.number)
    if boot.settings_line == 0:
        read = fields_of(said.text, match.end(), None)
        boot.settings, boot.complete, boot.settings_line = read[0], read[1] and not line.cut, line.number
        boot.excerpts[line.number] = line.text[:_EXCERPT]


def _vllm_version(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    found = reader.open.get(said.source)  # several API servers say it once each
    again = found is None or found.engine != "vllm" or not found.fresh or found.failure is not None
    boot = reader.begin("vllm", line, said) if found is None or again else found
    _note(boot, "version:vllm", match[1], line.number)


def _init(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    """A rank that has loaded before and begins again: the server was started anew."""
    boot = reader.current("sglang", line, said)
    if match[1] == "begin" and said.rank in boot.ranks and boot.ranks[said.rank].loads and boot.ranks[said.rank].pool_end:
        boot = reader.begin("sglang", line, said)
    boot.rank(said.rank)


def _load_begin(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    reader.current("sglang", line, said).rank(said.rank).begin_load(figure(match[1], line.number, said.rank))


def _load_end(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    text, usage = said.text, _USAGE.search(said.text)
    free = _AVAILABLE.search(text)
    reader.current("sglang", line, said).rank(said.rank).end_load(
        None if free is None else figure(free[1], line.number, said.rank),
        None if usage is None else figure(usage[1], line.number, said.rank),
    )


def _pool(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    sizes = [figure(number, line.number, said.rank) for number in _SIZES.findall(said.text)]
    if "upper bound" not in said.text:  # the pool is backed later, by another line
        reader.current("sglang", line, said).rank(said.rank).pool(int(match[1].replace(",", "")), sizes)


def _states(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    sizes = [figure(number, line.number, said.rank) for number in _STATES.findall(said.text)]
    more = reader.current("sglang", line, said).rank(said.rank).more
    if sizes:
        total = sum(one.bytes for one in sizes)
        more.setdefault(
            "states", sizes[0]._replace(bytes=total, slack=sum(one.slack for one in sizes), text=f"{total / (1 << 30):.2f} GiB")
        )


def _pool_end(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    rank = reader.current("sglang", line, said).rank(said.rank)
    rank.more.setdefault("free-after-pool", figure(match[1], line.number, said.rank))
    rank.pool_end, rank.stage = True, CAPTURE


def _graph_end(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    rank = reader.current("sglang", line, said).rank(said.rank)
    usage, free = _USAGE.search(said.text), _AVAILABLE.search(said.text)
    if usage is not None and len(rank.graphs) < 16:
        rank.graphs.append(figure(usage[1], line.number, said.rank))
    if free is not None:
        rank.more[names.LATE_FREE] = figure(free[1], line.number, said.rank)
    rank.stage = CAPTURE


def _graph_begin(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    reader.current("sglang", line, said).rank(said.rank).stage = CAPTURE


def _summary(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    boot = reader.current("sglang", line, said)
    for name, number in _COUNTS.findall(said.text):
        boot.counts.setdefault(_COUNT_NAMES.get(name, name.replace("_", "-")), int(number))


def _window(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    boot = reader.current("sglang", line, said)
    for name, number in re.findall(r"(full|swa)_layer_tokens=(\d+)", said.text):
        boot.counts.setdefault("kv-tokens" if name == "full" else "window-tokens", int(number))


def _vllm_loading(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    rank = reader.current("vllm", line, said).rank(said.rank)
    rank.stage = "load"


def _vllm_loaded(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    rank = reader.current("vllm", line, said).rank(said.rank)
    rank.more.setdefault(names.WEIGHTS, figure(match[1], line.number, said.rank))
    rank.stage = SIZING


def _vllm_available(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    rank = reader.current("vllm", line, said).rank(said.rank)
    rank.more.setdefault(names.KV_CACHE, figure(match[1], line.number, said.rank))
    rank.stage = SIZING


def _vllm_tokens(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    boot = reader.current("vllm", line, said)
    tokens = int(match[1].replace(",", ""))
    boot.counts["kv-tokens"] = min(tokens, boot.counts.get("kv-tokens", tokens))
    boot.rank(said.rank).stage = CAPTURE
    _vllm_concurrency(reader, line, said, match)


def _vllm_concurrency(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    found = _CONCURRENCY.search(said.text)
    if found is not None:
        reader.current("vllm", line, said).counts.setdefault("context-length", int(found[1].replace(",", "")))


def _vllm_graphs(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    rank = reader.current("vllm", line, said).rank(said.rank)
    rank.more.setdefault(names.GRAPHS, figure(match[1], line.number, said.rank))
    rank.stage = CAPTURE


def _vllm_estimate(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    rank = reader.current("vllm", line, said).rank(said.rank)
    rank.more.setdefault("graph-estimate", figure(match[1], line.number, said.rank))


def _vllm_initial(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    rank = reader.current("vllm", line, said).rank(said.rank)
    rank.more.setdefault(names.BEFORE, figure(match[1], line.number, said.rank))


def _vllm_usage(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    """The suggestion for --kv-cache-memory names what was measured."""
    if "less than desired" in said.text:
        boot = reader.current("vllm", line, said)
        found = failure_in(said.text, line.number, "init", "vllm")
        if found is not None:
            boot.failed(*found, line.text[:_EXCERPT])
        return
    more = reader.current("vllm", line, said).rank(said.rank).more
    more.setdefault(names.BEFORE, figure(match[1], line.number, said.rank))
    more.setdefault("total", figure(match[2], line.number, said.rank))
    for name, pattern in _USAGES:
        found_usage = pattern.search(said.text)
        if found_usage is not None:
            more.setdefault(name, figure(found_usage[1], line.number, said.rank))


def _vllm_profile(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    more = reader.current("vllm", line, said).rank(said.rank).more
    found = re.search(rf"torch peak memory increase: {_N}GiB", said.text)
    if found is not None:
        more.setdefault(names.ACTIVATIONS, figure(found[1], line.number, said.rank))


def _ready(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    boot = reader.open.get(said.source)
    if boot is not None:
        boot.started = True


def _context(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    reader.current("vllm", line, said).counts.setdefault("context-length", int(match[1].replace(",", "")))


def _version_hint(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    reader.hint(said, line, f"version:{match[1].replace('-openai', '').lower()}", match[2])


def _variable(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    reader.hint(said, line, match[1], match[2].strip("'\""))


def _nccl(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    reader.hint(said, line, "nccl", match[1])


def _driver(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    reader.hint(said, line, "driver", match[1])
    cuda = re.search(r"CUDA Version: ([\d.]+)", said.text)
    if cuda is not None:
        reader.hint(said, line, "cuda", cuda[1])


def _least_fraction(reader: _Reader, line: Line, said: Spoken, match: re.Match[str]) -> None:
    """The second line of a message: the fraction that would do."""
    boot = reader.open.get(said.source)
    if boot is not None and boot.failure is not None and boot.failure.kind == "weights-leave-nothing":
        boot.failure = boot.failure._replace(numbers={**boot.failure.numbers, "minimum": float(match[1])})


_USAGE = re.compile(rf"mem usage={_N} GB")
_AVAILABLE = re.compile(rf"avail mem={_N} GB")
_SIZES = re.compile(rf"\b(?:K|V|KV) size: {_N} GB")
_STATES = re.compile(rf"(?:_state|_cache) size: {_N} ?GB")
_COUNTS = re.compile(r"\b([a-z_]+)=(\d{1,18})(?![\w.])")
_COUNT_NAMES = {"max_total_num_tokens": "kv-tokens", "context_len": "context-length"}
_CONCURRENCY = re.compile(r"Maximum concurrency for ([\d,]+) tokens per request")
_USAGES = (
    (names.WEIGHTS, re.compile(rf"{_N} GiB for weight")),
    (names.ACTIVATIONS, re.compile(rf"{_N} GiB for peak activation")),
    ("consumed", re.compile(rf"{_N} GiB for consumed memory")),
    ("non-torch", re.compile(rf"{_N} GiB for non-torch memory")),
)


def _shape(literal: str, pattern: str, act: Act) -> tuple[str, re.Pattern[str], Act]:
    return literal, re.compile(pattern), act


_WHOLE = (_sglang_arguments, _vllm_arguments, _vllm_config)
_SHAPES: Iterable[tuple[str, re.Pattern[str], Act]] = (
    _shape("server_args=", r"server_args=(?:ServerArgs\(|(\{))", _sglang_arguments),
    _shape("args: ", r"(?:non-default )?args: (?:\{|Namespace\()", _vllm_arguments),
    _shape(" with config: ", r"LLM engine \(v([\w.+]+)\) with config: ", _vllm_config),
    _shape("API server version", r"vLLM API server version ([\w.+]+)", _vllm_version),
    _shape("Init torch distributed", r"Init torch distributed (begin|ends)", _init),
    _shape("Init parallel", r"Init parallel (begin|ends)", _init),
    _shape("Load weight begin", rf"Load weight begin\. avail mem={_N} GB", _load_begin),
    _shape("Load weight end", r"Load weight end\.", _load_end),
    _shape("#tokens: ", r"#tokens: ([\d,]{1,24})\b", _pool),
    _shape("Cache is allocated", r"Mamba Cache is allocated", _states),
    _shape("emory pool end", rf"Memory pool end\. avail mem={_N} GB", _pool_end),
    _shape("raph begin", r"Capture .*graph begin", _graph_begin),
    _shape("raph end", r"Capture .*graph end", _graph_end),
    _shape("max_total_num_tokens=", r"max_total_num_tokens=\d+, ", _summary),
    _shape("Use sliding window", r"Use sliding window memory pool", _window),
    _shape("Starting to load model", r"Starting to load model", _vllm_loading),
    _shape("Model loading took", rf"Model loading took {_N} Gi?B", _vllm_loaded),
    _shape("Available KV cache memory", rf"Available KV cache memory: {_N} GiB", _vllm_available),
    _shape("KV cache size: ", r"KV cache size: ([\d,]{1,24}) tokens", _vllm_tokens),
    _shape("Maximum concurrency", r"Maximum concurrency for ", _vllm_concurrency),
    _shape("Graph capturing finished", rf"Graph capturing finished in .*took {_N} GiB", _vllm_graphs),
    _shape("Estimated CUDA graph", rf"Estimated CUDA graph memory: {_N} GiB", _vllm_estimate),
    _shape("Initial free memory", rf"Initial free memory:? {_N} GiB", _vllm_initial),
    _shape("Free memory on device", rf"Free memory on device.*?\({_N}/{_N} GiB\) on startup", _vllm_usage),
    _shape("Memory profiling takes", r"Memory profiling takes", _vllm_profile),
    _shape("Using max model len", r"Using max model len ([\d,]{1,18})", _context),
    _shape("fired up", r"The server is fired up", _ready),
    _shape("startup complete", r"Application startup complete", _ready),
    _shape("sglang==", r"\b(sglang)(?:\[[\w,-]*\])?==(\d[\w.]*)", _version_hint),
    _shape("vllm==", r"\b(vllm)(?:\[[\w,-]*\])?==(\d[\w.]*)", _version_hint),
    _shape("sglang:v", r"\b(sglang):v(\d+\.\d+\.\d+(?:\.?(?:post|rc)\d+)?)", _version_hint),
    _shape("vllm-openai:v", r"\b(vllm-openai):v(\d+\.\d+\.\d+(?:\.?(?:post|rc)\d+)?)", _version_hint),
    _shape("set by environment to", r"\b([A-Z][A-Z0-9_]{2,60}) set by environment to (\S+?)\.?$", _variable),
    _shape("export ", r"(?:^|[+\s])export ([A-Z][A-Z0-9_]{2,60})=(\S+)", _variable),
    _shape("NCCL version", r"NCCL version ([\d.]+\S*)", _nccl),
    _shape("minimum viable", r"^\s*Raise .*?above\s+(0\.\d+|1\.0*)\b", _least_fraction),
    _shape("driver version", r"Nvidia driver version\s*: ([\d.]+)", _driver),
    _shape("Driver Version", r"Driver Version: ([\d.]+)", _driver),
)
