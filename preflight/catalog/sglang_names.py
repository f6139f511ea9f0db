"""What SGLang's own code cannot tell about its options: one name across renames, and what took a removed one's place.

Read when the history is built; the lint path reads the result. Since when a spelling is gone or deprecated is not
said here: the releases themselves say it.

Source: the releases' `srt/server_args.py` and `srt/environ.py`, read on both sides of each change.
"""

from __future__ import annotations

from preflight.records import NamedTuple

RENAMED, VALUE, MAPPED, DEFAULT, RELATED, GONE = "renamed", "value", "mapped", "default", "related", "gone"


class Successor(NamedTuple):
    """What to write in place of an option that is deprecated or gone.

    `kind`: RENAMED (same values), VALUE (`argv` is all of it), MAPPED (`argv` is the flag, `values` translates),
    DEFAULT (the engine does it anyway: delete), RELATED (`argv` is the flag that took over, its value is a
    judgement), GONE.
    """

    kind: str
    argv: tuple[str, ...] = ()
    values: dict[str, str] = {}
    note: str = ""


STABLE_NAMES = {
    "tensor-parallel-size": "tp-size",
    "pipeline-parallel-size": "pp-size",
    "data-parallel-size": "dp-size",
    "expert-parallel-size": "ep-size",
    "attention-context-parallel-size": "attn-cp-size",
    "attention-data-parallel-size": "attn-dp-size",
    "moe-data-parallel-size": "moe-dp-size",
    "decode-context-parallel-size": "dcp-size",
    "cuda-graph-max-bs-decode": "cuda-graph-max-bs",
    "cuda-graph-bs-decode": "cuda-graph-bs",
    "piecewise-cuda-graph-max-tokens": "cuda-graph-max-bs-prefill",
    "piecewise-cuda-graph-tokens": "cuda-graph-bs-prefill",
    "piecewise-cuda-graph-compiler": "cuda-graph-tc-compiler",
    "nsa-prefill": "dsa-prefill-backend",
    "nsa-decode": "dsa-decode-backend",
    "nsa-prefill-backend": "dsa-prefill-backend",
    "nsa-decode-backend": "dsa-decode-backend",
    "nsa-prefill-cp-mode": "dsa-prefill-cp-mode",
    "enable-nsa-prefill-context-parallel": "enable-dsa-prefill-context-parallel",
    "mamba-scheduler-strategy": "mamba-radix-cache-strategy",
    "speculative-dflash-draft-window-size": "speculative-draft-window-size",
    "stream-output": "incremental-streaming-output",
    "max-micro-batch-size": "pp-max-micro-batch-size",
    "enable-deepep-waterfill": "enable-waterfill",
    "optimistic-prefill-retries": "optimistic-prefill-attempts",
    "enable-gdn-replayssm-spec": "enable-linear-replayssm-spec",
    "hierarchical-sparse-attention-extra-config": "hisparse-config",
    "file-storage-pth": "file-storage-path",
    "enable-llama4-multimodal": "enable-multimodal",
    "impl": "model-impl",
    "oltp-traces-endpoint": "otlp-traces-endpoint",
    "kt-amx-weight-path": "kt-weight-path",
    "kt-amx-method": "kt-method",
    "return-hidden-states": "enable-return-hidden-states",
    "enable-flashinfer-moe": "enable-flashinfer-cutlass-moe",
    "disable-disk-cache": "disable-outlines-disk-cache",
}


def _renamed(flag: str, note: str = "") -> Successor:
    return Successor(RENAMED, (flag,), note=note)


def _value(*argv: str) -> Successor:
    return Successor(VALUE, argv)


_CP_STRATEGY = Successor(MAPPED, ("--cp-strategy",), {"in-seq-split": "zigzag", "round-robin-split": "interleave"})
_DOUBLE_SPARSITY = Successor(GONE, note="Double sparsity was dropped.")
_NEGOTIATED = Successor(DEFAULT, note="The two sides negotiate it at bootstrap.")
_PREFILL_CP = Successor(RELATED, ("--enable-prefill-cp",), note="It needs --cp-strategy as well.")

SUCCESSORS: dict[str, Successor] = {
    "--enable-overlap-schedule": Successor(DEFAULT, note="Overlap scheduling is on by default."),
    "--disable-flashinfer": _value("--attention-backend", "triton"),
    "--disable-flashinfer-sampling": _value("--sampling-backend", "pytorch"),
    "--disable-disk-cache": _renamed("--disable-outlines-disk-cache"),
    "--disable-nan-detection": Successor(DEFAULT, note="NaN detection is off by default."),
    "--file-storage-pth": _renamed("--file-storage-path"),
    "--return-hidden-states": _renamed("--enable-return-hidden-states"),
    "--enable-llama4-multimodal": _renamed("--enable-multimodal"),
    "--n-share-experts-fusion": Successor(
        RELATED,
        ("--disable-shared-experts-fusion",),
        note="Shared experts are fused automatically; the flag turns it off.",
    ),
    "--enable-flashinfer-mla": _value("--attention-backend", "flashinfer"),
    "--enable-flashmla": _value("--attention-backend", "flashmla"),
    "--impl": _renamed("--model-impl"),
    "--enable-flashinfer-moe": _renamed("--enable-flashinfer-cutlass-moe"),
    "--max-micro-batch-size": _renamed("--pp-max-micro-batch-size"),
    "--debug-tensor-dump-prefill-only": Successor(RELATED, ("--debug-tensor-dump-layers",)),
    "--nsa-prefill": _renamed("--nsa-prefill-backend"),
    "--nsa-decode": _renamed("--nsa-decode-backend"),
    "--enable-ep-moe": Successor(RELATED, ("--ep-size",), note="The flag meant an expert-parallel size equal to tp-size."),
    "--enable-deepep-moe": _value("--moe-a2a-backend", "deepep"),
    "--enable-flashinfer-cutlass-moe": _value("--moe-runner-backend", "flashinfer_cutlass"),
    "--enable-flashinfer-cutedsl-moe": _value("--moe-runner-backend", "flashinfer_cutedsl"),
    "--enable-flashinfer-trtllm-moe": _value("--moe-runner-backend", "flashinfer_trtllm"),
    "--enable-triton-kernel-moe": _value("--moe-runner-backend", "triton_kernel"),
    "--enable-flashinfer-mxfp4-moe": _value("--moe-runner-backend", "flashinfer_mxfp4"),
    "--oltp-traces-endpoint": _renamed("--otlp-traces-endpoint"),
    "--kt-amx-weight-path": _renamed("--kt-weight-path"),
    "--kt-amx-method": _renamed("--kt-method"),
    "--dllm-block-size": Successor(
        RELATED, ("--dllm-algorithm-config",), note="The block size is part of the algorithm's configuration."
    ),
    "--enable-flashinfer-autotune": Successor(
        DEFAULT, note="Autotuning is on by default; --disable-flashinfer-autotune turns it off."
    ),
    "--disaggregation-decode-enable-fake-auto": _value("--disaggregation-transfer-backend", "fake"),
    "--disaggregation-decode-tp": _NEGOTIATED,
    "--disaggregation-decode-dp": _NEGOTIATED,
    "--disaggregation-prefill-pp": _NEGOTIATED,
    "--speculative-ngram-branch-length": Successor(RELATED, ("--speculative-ngram-max-trie-depth",), note="Its default is 18."),
    "--speculative-ngram-min-match-window-size": Successor(GONE, note="The match length is no longer configured."),
    "--speculative-ngram-max-match-window-size": Successor(GONE, note="The match length is no longer configured."),
    "--hierarchical-sparse-attention-extra-config": _renamed("--hisparse-config"),
    "--enable-double-sparsity": _DOUBLE_SPARSITY,
    "--ds-channel-config-path": _DOUBLE_SPARSITY,
    "--ds-heavy-channel-num": _DOUBLE_SPARSITY,
    "--ds-heavy-token-num": _DOUBLE_SPARSITY,
    "--ds-heavy-channel-type": _DOUBLE_SPARSITY,
    "--ds-sparse-decode-threshold": _DOUBLE_SPARSITY,
    "--multi-item-scoring-delimiter": Successor(
        RELATED, ("--enable-mis",), note="It is a switch: the delimiter is no longer configured."
    ),
    "--enable-piecewise-cuda-graph": Successor(DEFAULT, note="The prefill graph is on by default since 0.5.10."),
    "--hybrid-kvcache-ratio": Successor(RELATED, ("--swa-full-tokens-ratio",), note="The two ratios do not mean the same."),
    "--enable-nan-detection": Successor(GONE, note="Environment variables took its place."),
    "--torchao-config": Successor(GONE, note="The torchao path was removed."),
    "--enable-deepep-waterfill": _renamed("--enable-waterfill"),
    "--optimistic-prefill-retries": _renamed("--optimistic-prefill-attempts"),
    "--cuda-graph-max-bs": _renamed("--cuda-graph-max-bs-decode"),
    "--cuda-graph-bs": _renamed("--cuda-graph-bs-decode"),
    "--piecewise-cuda-graph-max-tokens": _renamed("--cuda-graph-max-bs-prefill"),
    "--piecewise-cuda-graph-tokens": _renamed("--cuda-graph-bs-prefill"),
    "--piecewise-cuda-graph-compiler": _renamed("--cuda-graph-tc-compiler"),
    "--cuda-graph-tc-compiler": Successor(GONE, note="The compiled piecewise backend was removed."),
    "--disable-cuda-graph": _value("--cuda-graph-backend-decode", "disabled", "--cuda-graph-backend-prefill", "disabled"),
    "--disable-piecewise-cuda-graph": _value("--cuda-graph-backend-prefill", "disabled"),
    "--enforce-piecewise-cuda-graph": Successor(
        RELATED,
        ("--cuda-graph-backend-prefill",),
        note="It meant tc_piecewise, which ended with 0.5.20; breakable is its nearest.",
    ),
    "--enable-breakable-cuda-graph": _value("--cuda-graph-backend-prefill", "breakable"),
    "--nsa-prefill-backend": _renamed("--dsa-prefill-backend"),
    "--nsa-decode-backend": _renamed("--dsa-decode-backend"),
    "--enable-nsa-prefill-context-parallel": _PREFILL_CP,
    "--enable-dsa-prefill-context-parallel": _PREFILL_CP,
    "--enable-prefill-context-parallel": _PREFILL_CP,
    "--nsa-prefill-cp-mode": _CP_STRATEGY,
    "--dsa-prefill-cp-mode": _CP_STRATEGY,
    "--prefill-cp-mode": _CP_STRATEGY,
    "--mamba-scheduler-strategy": _renamed("--mamba-radix-cache-strategy"),
    "--speculative-dflash-draft-window-size": _renamed("--speculative-draft-window-size"),
    "--stream-output": _renamed("--incremental-streaming-output"),
    "--prefill-round-robin-balance": Successor(DEFAULT, note="It has had no effect since 0.5.8."),
    "--collect-tokens-histogram": Successor(DEFAULT, note="--enable-metrics is enough."),
    "--enable-expert-distribution-metrics": Successor(RELATED, ("--expert-balancedness-report-mode",)),
    "--enable-gdn-replayssm-spec": _renamed("--enable-linear-replayssm-spec"),
    "--elastic-ep-rejoin": _value("--elastic-ep-join-mode", "recover"),
    "--keep-mm-feature-on-device": Successor(RELATED, ("--mm-feature-transport",)),
    "--enable-beta-spec": Successor(GONE, note="SGLANG_ENABLE_SPEC_V2 took its place up to 0.5.12; then it became the default."),
    **dict.fromkeys(
        (
            "--disable-jump-forward",
            "--disable-mla",
            "--prefill-only-one-req",
            "--return-token-ids",
            "--debug-tensor-dump-inject",
            "--pdlb-url",
            "--disable-overlap-cg-plan",
            "--load-watch-interval",
            "--crash-on-nan",
            "--mm-max-concurrent-calls",
            "--mm-per-request-timeout",
            "--custom-sigquit-handler",
            "--disable-hicache-numa-detect",
            "--record-nolora-graph",
            "--no-record-nolora-graph",
            "--speculative-skip-dp-mlp-sync",
        ),
        Successor(GONE),
    ),
    "--enable-dp-attention": Successor(
        RELATED, ("--attn-dp-size",), note="--attn-dp-size N takes the place of --dp-size N --enable-dp-attention."
    ),
    "--enable-flashinfer-allreduce-fusion": _value("--flashinfer-allreduce-fusion-backend", "auto"),
    "--monokernel-backend": Successor(MAPPED, ("--enable-amd-monokernel",), {"amd": ""}),
    "--grpc-mode": _renamed("--smg-grpc-mode"),
    "--disable-fast-image-processor": _value("--image-processor-backend", "pil"),
}

VALUE_SUCCESSORS: dict[str, dict[str, tuple[str, ...]]] = {
    "load-balance-method": {"shortest_queue": ("total_requests",), "minimum_tokens": ("total_tokens",)},
    "reasoning-parser": {"nano_v3": ("nemotron_3",)},
    "tool-call-parser": {"qwen25": ("qwen",), "glm45": ("glm",)},
    "quantization": {"marlin": ("gptq_marlin", "awq_marlin")},
    "kv-cache-dtype": {"fp4_e2m1": ("nvfp4", "fp4_mx_block16")},
    "cuda-graph-backend-prefill": {"tc_piecewise": ("breakable",)},
    "cuda-graph-backend-decode": {"tc_piecewise": ("full", "breakable")},
    "attention-backend": {"nsa": ("dsa",), "compressed": ("dsv4",), "tokenspeed_mla": ("cutedsl_mla",)},
    "prefill-attention-backend": {"nsa": ("dsa",), "compressed": ("dsv4",), "tokenspeed_mla": ("cutedsl_mla",)},
    "decode-attention-backend": {"nsa": ("dsa",), "compressed": ("dsv4",), "tokenspeed_mla": ("cutedsl_mla",)},
}
"""By setting: values that are gone or only rewritten, and what stands in their place."""
