"""Maps whose keys are flags: `--config` files, role-keyed recipes, Helm values with `serverArgs`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from preflight.launch import UNKNOWN_STATE, EnvVar, LaunchSite, Token
from preflight.readers.counts import count
from preflight.readers.images import image_versions
from preflight.readers.listedit import MapLines
from preflight.readers.shell import Context
from preflight.readers.shellwords import STAND_IN, shown
from preflight.readers.yamlscalar import looks_typed
from preflight.readers.yamltree import Mapping, Node, Scalar, whole_text
from preflight.readers.yamltree import Sequence as ListNode
from preflight.text import Decoded, Edit, Located

_SGLANG = frozenset(
    "mem-fraction-static tp-size dp-size ep-size disable-radix-cache chunked-prefill-size disaggregation-mode "  # noqa: SIM905
    "max-running-requests context-length cuda-graph-max-bs cuda-graph-bs schedule-policy schedule-conservativeness "
    "stream-interval watchdog-timeout moe-runner-backend moe-a2a-backend enable-dp-attention enable-dp-lm-head "
    "skip-tokenizer-init max-total-tokens max-prefill-tokens speculative-algorithm speculative-num-steps "
    "speculative-eagle-topk speculative-num-draft-tokens speculative-draft-model-path fp4-gemm-backend disable-cuda-graph "
    "enable-torch-compile swa-full-tokens-ratio dist-init-addr disaggregation-transfer-backend enable-metrics "
    "model-path moe-dense-tp-size deepep-mode disable-overlap-schedule".split()
)
_VLLM = frozenset(
    "gpu-memory-utilization max-model-len max-num-seqs max-num-batched-tokens enforce-eager enable-prefix-caching "  # noqa: SIM905
    "no-enable-prefix-caching enable-chunked-prefill enable-expert-parallel kv-transfer-config compilation-config "
    "enable-auto-tool-choice swap-space cpu-offload-gb limit-mm-per-prompt tokenizer-mode config-format speculative-config "
    "block-size distributed-executor-backend data-parallel-rpc-port async-scheduling max-loras disable-log-requests "
    "guided-decoding-backend max-seq-len-to-capture all2all-backend".split()
)
_COMMON = frozenset(
    "tensor-parallel-size pipeline-parallel-size data-parallel-size served-model-name kv-cache-dtype trust-remote-code "  # noqa: SIM905
    "reasoning-parser tool-call-parser quantization dtype port host model chat-template load-format attention-backend page-size "
    "tp dp ep nnodes node-rank download-dir revision seed".split()
)
KNOWN_FLAGS = frozenset("--" + name for name in _SGLANG | _VLLM | _COMMON)
_LARGEST = 2000
_HINT = re.compile(r"sglang|vllm", re.I)
_HOLDER = re.compile(
    r"(?:sglang|vllm)(?:[_-]?(?:config|args|settings|engine.?args))?$|(?:server|engine|serving)[_-]?(?:args|kwargs)$", re.I
)
_TRUE, _FALSE, _NULL = (
    re.compile(r"(?:true|yes|on)\Z", re.I),
    re.compile(r"(?:false|no|off)\Z", re.I),
    re.compile(r"(?:~|null|)\Z", re.I),
)


def folded(key: str) -> str:
    return key.replace("_", "-")


def map_engine(node: Mapping, path: Sequence[str]) -> str | None:
    """The engine whose flags these keys are; None where they are not unmistakably flags."""
    names = [folded(key.value) for key, value in node.pairs if not isinstance(value, Mapping)]
    sglang = sum(name in _SGLANG for name in names)
    vllm = sum(name in _VLLM for name in names)
    known = sglang + vllm + sum(name in _COMMON for name in names)
    held = any(_HOLDER.search(name) for name in path[-2:])
    if not (known >= 2 and sglang + vllm >= 1 and known * 2 >= len(node.pairs)) and not (held and known >= 1):
        return None
    if sglang != vllm:
        return "sglang" if sglang > vllm else "vllm"
    for name in reversed(path):
        hint = _HINT.search(name)
        if hint is not None:
            return hint.group().lower()
    return None


class FlagCodec:
    """A key as the flag it stands for."""

    def decode(self, raw: str) -> Decoded | None:
        places = range(len(raw) + 1)
        return Decoded("--" + raw, 0, [0, 0, *places], [0, 0, *places[1:]])

    def encode(self, fragment: str) -> str | None:
        return fragment.removeprefix("--")


_FLAG = FlagCodec()


def flag_token(key: Scalar) -> Token:
    at = key.text.inner(0, len(key.value), _FLAG)
    assert at is not None  # every key reads
    return Token(at.value, at, at if key.uses == 1 else None)


def flag_named(flag: str, key: Scalar) -> Token:
    """A key that stands for a flag in a spelling of its own."""
    return Token(flag, whole_text(key.tree.text, key.start, key.end, flag), None)


class MapEditor:
    """Flags of a map: one pair a line. `pairs` says which pair each word came from."""

    __slots__ = ("container", "pairs")

    def __init__(self, node: Mapping, pairs: Sequence[int]) -> None:
        self.container = MapLines(node)
        self.pairs = pairs

    def insert(self, flag: str, values: Sequence[str]) -> Edit | None:
        if self.container.node.uses > 1 or not self.container.node.pairs:
            return None
        return self.container.insert(len(self.container.node.pairs) - 1, [flag, *values])

    def delete(self, first: int, last: int) -> Edit | None:
        if self.container.node.uses > 1 or not 0 <= first <= last < len(self.pairs):
            return None
        start, end = self.pairs[first], self.pairs[last]
        whole = (first == 0 or self.pairs[first - 1] != start) and (last + 1 == len(self.pairs) or self.pairs[last + 1] != end)
        return self.container.delete(start, end) if whole else None


def map_site(node: Mapping, engine: str, context: Context) -> LaunchSite | None:
    """A flag map as the launch it configures. Others may add to it: it is never complete."""
    tokens: list[Token] = []
    pairs: list[int] = []
    for number, (key, value) in enumerate(node.pairs):
        for token in _pair(key, value):
            tokens.append(token)
            pairs.append(number)
    if not tokens:
        return None
    return LaunchSite(
        document=context.document,
        kind="flag-map",
        head=node.pairs[0][0].place,
        engine=engine,
        argv=tuple(tokens),
        complete=False,
        editor=MapEditor(node, pairs),
        env=context.env,
        version=context.versions.get(engine),
        image=context.image,
        gpus=context.gpus,
        hardware=context.hardware,
        name=context.name,
        entry=Located("config", node.pairs[0][0].place),
        extent=node.place,
    )


def _pair(key: Scalar, value: Node) -> Iterator[Token]:
    if key.value == "<<":
        return
    if isinstance(value, Scalar):
        if value.plain and _FALSE.match(value.value):
            return
        yield flag_token(key)
        if not (value.plain and _TRUE.match(value.value)):
            yield value_token(value)
    elif isinstance(value, ListNode):
        if value.items:
            yield flag_token(key)
        for item in value.items:
            yield value_token(item) if isinstance(item, Scalar) else _json_token(item)
    else:
        yield flag_token(key)
        yield _json_token(value)


def value_token(node: Scalar) -> Token:
    text = node.text
    if STAND_IN in node.value:
        return Token(None, text, None, UNKNOWN_STATE, pattern=shown(node.value))
    if (node.plain and _NULL.match(node.value)) or "{{" in node.value or "${" in node.value:
        return Token(None, text, None, UNKNOWN_STATE, pattern=node.value or "${}")
    return Token(text.value, text, text if node.uses == 1 else None)


def _json_token(node: Node) -> Token:
    """A mapping as the JSON text that the engine makes of it."""
    budget = [_LARGEST]
    value = json.dumps(plain(node, budget), separators=(", ", ": "), ensure_ascii=False)
    if budget[0] <= 0:
        return Token(None, whole_text(node.tree.text, node.start, node.end, ""), None, UNKNOWN_STATE)
    return Token(value, whole_text(node.tree.text, node.start, node.end, value), None)


def plain(node: Node, budget: list[int], depth: int = 0) -> object:
    """What a YAML 1.1 loader makes of a node of at most `budget` nodes (aliases of aliases may be many)."""
    budget[0] -= 1
    if depth > 20:
        budget[0] = 0
    if budget[0] <= 0:
        return None
    if isinstance(node, ListNode):
        return [plain(item, budget, depth + 1) for item in node.items]
    if isinstance(node, Mapping):
        return {key.value: plain(value, budget, depth + 1) for key, value in node.entries()}
    if not node.plain or not looks_typed(node.value):
        return node.value
    for pattern, value in ((_TRUE, True), (_FALSE, False), (_NULL, None)):
        if pattern.match(node.value):
            return value
    try:
        return json.loads(node.value)
    except ValueError:
        return node.value


# -- recipes ---------------------------------------------------------------------------------------------------------------


def recipe_context(root: Node, path: Sequence[str], context: Context) -> Context:
    """What a role-keyed recipe says around its `sglang_config.ROLE`: image, GPUs, environment."""
    role = path[-1] if len(path) >= 2 and re.search(r"_config$", path[-2]) else None
    if role is None or not isinstance(root, Mapping):
        return context
    context = context._replace(name=role)
    image = _scalar(root, "model", "container")
    if image is not None:
        token = value_token(image)
        located = Located(token.value, token.place) if token.value else None
        context = context._replace(image=located, versions=image_versions(token))
    per_node, gpu = _scalar(root, "resources", "gpus_per_node"), _scalar(root, "resources", "gpu_type")
    if per_node is not None and (number := count(per_node.value)) is not None:
        context = context._replace(gpus=Located(number, per_node.place))
    if gpu is not None:
        context = context._replace(hardware={**context.hardware, "gpu": Located(gpu.value, gpu.place)})
    parent = _at(root, path[:-2])
    variables = parent.get(f"{role}_environment") if isinstance(parent, Mapping) else None
    if isinstance(variables, Mapping):
        env = tuple(EnvVar(k.value, value_token(v), k.place) for k, v in variables.entries() if isinstance(v, Scalar))
        context = context._replace(env=env)
    return context


def _at(node: Node | None, path: Sequence[str]) -> Node | None:
    for name in path:
        node = node.get(name) if isinstance(node, Mapping) else None
    return node


def _scalar(root: Node, *path: str) -> Scalar | None:
    found = _at(root, path)
    return found if isinstance(found, Scalar) else None
