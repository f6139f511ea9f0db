"""The attention backend is made for another kind of attention.

## Why
Multi-head latent attention (DeepSeek, Kimi) keeps one compressed vector a token, other models keep keys and values. Some
kernels read only one of the two: `trtllm_mla`, `cutedsl_mla`, `tokenspeed_mla` and `flashmla` the compressed vectors,
`trtllm_mha` and `hpc_ops` keys and values. SGLang notices only when it builds the backend, after loading.

A draft model takes the target's backend, unless `speculative-draft-attention-backend` names another. An EAGLE-3 draft has
plain attention whatever its target has, so with a DeepSeek or Kimi target the draft needs a backend of its own.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-b200" }
model = { profile = "llama-3.1-8b" }

[flags]
attention-backend = "trtllm_mla"
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-b200" }
model = { profile = "llama-3.1-8b" }

[flags]
attention-backend = "trtllm_mha"
```

## Fix
Unsafe: the backend that SGLang would choose, or one that reads what the draft keeps.

## Source
sglang 0.5.5.post3 to 0.5.23 srt/layers/attention/attention_registry.py; 0.5.5.post3 to 0.5.18
srt/model_executor/model_runner.py `_get_attention_backend` (the draft's).
"""

from preflight.engines.sglang.facts import algorithm, attention_backends, cuda_major, eagle_family, is_mla
from preflight.engines.steps import DIES, Row, Set, State, Topic

TOPIC = Topic("ATT013", "backend-of-other-attention", "sglang", "capture")

_SOURCE = "srt/layers/attention/attention_registry.py"
_OF_COMPRESSED = ("trtllm_mla", "cutedsl_mla", "tokenspeed_mla", "flashmla")
_OF_KEYS_AND_VALUES = ("trtllm_mha", "hpc_ops")


def _given(s: State) -> str | None:
    """The flag that names a backend which reads what this model does not keep."""
    wrong = _OF_KEYS_AND_VALUES if is_mla(s) else _OF_COMPRESSED
    for name in ("attention-backend", "decode-attention-backend", "prefill-attention-backend"):
        if s.given(name) and s.get(name) in wrong:
            return name
    return None


def _keeps(s: State) -> str:
    return "a compressed vector a token (MLA)" if is_mla(s) else "keys and values, no compressed vector (MLA)"


def _drafts_with(s: State) -> str | None:
    """The target's backend that a draft with plain attention cannot take over."""
    if not eagle_family(s) or not s.given("speculative-draft-model-path") or s.speculative_draft_attention_backend is not None:
        return None
    if s.draft.is_mla or not is_mla(s):
        return None
    return next((backend for backend in attention_backends(s) if backend in _OF_COMPRESSED), None)


def _plain(s: State) -> str:
    return {9: "fa3", 10: "trtllm_mha"}.get(cuda_major(s), "triton")


def _row(name: str, bad: str | None = None, good: str | None = None) -> Row:
    return Row(
        "backend-architecture",
        DIES,
        when=lambda s: _given(s) == name,
        versions="0.5.5..",
        says=lambda s: f"{name} {s.get(name)} cannot read what {s.model.name} keeps: {_keeps(s)}. Leave it out.",
        at=name,
        fix=(Set(name, None),),
        stage="capture",
        source=_SOURCE,
        bad=bad,
        good=good,
    )


ROWS = (
    _row("attention-backend", "--attention-backend trtllm_mla @ 0.5.9 8x-b200 llama-3.1-8b", "--attention-backend trtllm_mha"),
    _row("decode-attention-backend"),
    _row("prefill-attention-backend"),
    Row(
        "draft-backend-architecture",
        DIES,
        when=lambda s: _drafts_with(s) is not None,
        versions="0.5.5..0.5.18",
        says=lambda s: (
            f"The {algorithm(s)} draft has plain attention and takes the target's backend, {_drafts_with(s)}, which reads only "
            f"compressed vectors (MLA). Set speculative-draft-attention-backend {_plain(s)}."
        ),
        at="speculative-draft-model-path",
        fix=(Set("speculative-draft-attention-backend", _plain),),
        stage="capture",
        source="srt/model_executor/model_runner.py",
    ),
)
