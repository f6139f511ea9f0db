"""A fingerprint of every engine function that our rows and formulas mirror, per release.

With it the first and last release of a row is bisected, and a release whose functions nobody has read yet is told
from one that only got a new number. A fingerprint is of the syntax tree without docstrings, comments and layout, and
the same on every Python version.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator

from preflight.catalog.history import FORMAT, Book, Form, Releases, fold, in_order, unfold
from preflight.catalog.source import Source, parse
from preflight.records import NamedTuple

ARGUMENTS, MEMORY = "arguments", "memory"


class Mirrored(NamedTuple):
    """Functions of the files whose path matches `path` that we mirror: those whose name matches `name`."""

    topic: str
    path: re.Pattern[str]
    name: re.Pattern[str]


_ANY = r"(?!.*(ascend|npu|xpu|hpu))\w+"


def _mirrored(topic: str, path: str, name: str = _ANY) -> Mirrored:
    return Mirrored(topic, re.compile(rf"sglang/srt/(?:{path})\.py"), re.compile(name))


# The memory ones first: a function counts for the first that takes it.
MIRRORED = (
    _mirrored(
        MEMORY,
        r"server_args|arg_groups/memory_hook",
        r"_?(handle_gpu_memory\w*|adjust_mem_fraction\w*|\w*gpu_memory_capacity|_?generate_\w*(bs|batch|sizes|tokens)\w*)",
    ),
    _mirrored(MEMORY, r"model_executor/(pool_configurator|model_runner_kv_cache_mixin)"),
    _mirrored(MEMORY, r"mem_cache/(kv_cache_configurator|draft_kv_budget)"),
    _mirrored(
        MEMORY,
        r"model_executor/model_runner",
        r"profile_max_num_token|init_memory_pool|init_torch_distributed|set_num_tokens?_hybrid\w*|handle_max_mamba_cache",
    ),
    _mirrored(MEMORY, r"utils(/common)?", r"get_available_gpu_memory|get_(device_memory|nvgpu_memory)_capacity"),
    _mirrored(
        MEMORY, r"model_executor/(runner/base_)?cuda_graph_runner|model_executor/runner/\w+", r"get_batch_sizes_to_capture"
    ),
    _mirrored(MEMORY, r"distributed/bootstrap", r"measure_pre_model_load_memory|init_torch_distributed"),
    _mirrored(MEMORY, r"mem_cache/memory_pool", r"get_kv_size_bytes|calculate_mla_kv_cache_dim|_create_buffers"),
    _mirrored(MEMORY, r"configs/(mamba_utils|qwen3_next)", r"mamba_cache_per_req"),
    _mirrored(MEMORY, r"speculative/dflash_utils", r"scale_kv_cell_size_per_token_for_dflash|dflash_draft_cell_size_per_token"),
    _mirrored(MEMORY, r"managers/scheduler", r"init_memory_pools?(_and_cache)?"),
    _mirrored(
        ARGUMENTS,
        r"server_args|arg_groups/[\w/]+",
        r"__post_init__|_?(handle|check|adjust|validate|resolve|get_default|set_default|generate|override|apply)\w*",
    ),
)


def read_mirror(source: Source) -> list[Form]:
    """The release's mirrored functions: name without outer underscores; topic, place and fingerprint."""
    found: list[Form] = []
    for path in source.paths(".py"):
        wanted = [mirrored for mirrored in MIRRORED if mirrored.path.fullmatch(path)]
        module = parse(path, source.text(path) or "") if wanted else None
        for owner, function in _functions(module.tree) if module is not None else ():
            topic = next((mirrored.topic for mirrored in wanted if mirrored.name.fullmatch(function.name)), None)
            if topic is not None:
                place = f"{path.removeprefix('sglang/')} {owner}{function.name}"
                found.append((function.name.strip("_"), [topic, place, fingerprint(function)]))
    return sorted(found)


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield "", node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    yield f"{node.name}.", inner


def fingerprint(function: ast.FunctionDef) -> str:
    """The same for two functions that differ in their name, docstrings, comments or layout only."""
    digest = hashlib.blake2s(digest_size=5)
    for part in _parts(function, is_top=True):
        digest.update(part.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


_UNSTABLE = {"type_comment", "type_params", "kind", "ctx"}
"""Fields that some Python versions lack, and those that say nothing."""


def _parts(node: object, is_top: bool = False) -> Iterator[str]:
    if isinstance(node, ast.AST):
        yield f"({type(node).__name__}"
        for name, value in ast.iter_fields(node):
            if name in _UNSTABLE or (is_top and name in ("name", "decorator_list")):
                continue
            if name == "body" and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                value = _without_docstring(value)
            if value not in (None, []):
                yield f" {name}"
                yield from _parts(value)
        yield ")"
    elif isinstance(node, list):
        for item in node:
            yield from _parts(item)
    else:
        yield f" {node!r}"


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    said = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    return body[1:] if said else body


def make_mirror_book(engine: str, releases: Releases, reviewed: list[str]) -> Book:
    """`reviewed`: the releases whose functions someone has read."""
    return {
        "format": FORMAT,
        "engine": engine,
        "releases": in_order(releases),
        "reviewed": in_order(reviewed),
        "functions": fold(releases),
    }


def mirror_releases(book: Book) -> dict[str, list[Form]]:
    return unfold(book["releases"], book["functions"])
