"""The runner of the experts is made for another GPU.

## Why
The TensorRT-LLM kernels for experts (`flashinfer_trtllm`) exist for datacentre Blackwell (SM100) only. With ModelOpt FP4
weights the automatic choice of the MoE runner was made for it, too: on RTX Blackwell (SM120) it can name a kernel that does
not exist there. From 0.5.16 on the engine chooses by GPU.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.15.post1"
hardware = { profile = "4x-rtx-pro-6000-blackwell" }
model = { profile = "nvidia/Qwen3.5-397B-A17B-NVFP4" }
flags = { tp-size = 4, quantization = "modelopt_fp4" }
```
```toml good
engine = "sglang"
engine-version = "0.5.15.post1"
hardware = { profile = "4x-rtx-pro-6000-blackwell" }
model = { profile = "nvidia/Qwen3.5-397B-A17B-NVFP4" }

[flags]
tp-size = 4
quantization = "modelopt_fp4"
moe-runner-backend = "flashinfer_cutlass"
fp4-gemm-backend = "flashinfer_cutlass"
```

## Fix
Unsafe: a runner with kernels for this GPU. For the automatic choice none: the runner and a newer release are both remedies.

## Source
sglang 0.5.15.post1 and 0.5.23 srt/arg_groups (MoE runner by GPU); public reports of launches on SM120 before 0.5.16.
"""

from preflight.engines.sglang.facts import TRTLLM_RUNNERS, cuda_major, sm_major
from preflight.engines.steps import WARNS, Row, Set, Topic

TOPIC = Topic("MOE009", "fp4-experts-on-sm120", "sglang", "early")

ROWS = (
    Row(
        "E8-before",
        WARNS,
        when=lambda s: (
            s.quantization == "modelopt_fp4" and not s.given("moe-runner-backend") and sm_major(s) == 12 and s.model.experts > 0
        ),
        versions="0.5.9..0.5.15",
        says="Before 0.5.16 the automatic MoE runner of FP4 experts can be a kernel that exists on SM100 only, and this GPU is "
        "SM120. Set moe-runner-backend flashinfer_cutlass and fp4-gemm-backend flashinfer_cutlass.",
        at="moe-runner-backend",
        source="srt/arg_groups, MoE runner",
        bad="--tp-size 4 --quantization modelopt_fp4 @ 0.5.15.post1 4x-rtx-pro-6000-blackwell qwen3-235b-a22b-nvfp4",
        good="--moe-runner-backend flashinfer_cutlass",
    ),
    Row(
        "trtllm-on-sm120",
        WARNS,
        when=lambda s: (
            s.given("moe-runner-backend")
            and s.moe_runner_backend in TRTLLM_RUNNERS
            and cuda_major(s) == 12
            and s.model.experts > 0
        ),
        versions="0.5.2..",
        says="moe-runner-backend {moe_runner_backend} runs kernels that are built for SM100 (B200, B300) only, and this GPU has "
        "compute capability {gpu__compute_capability}. Use flashinfer_cutlass for FP4 experts, triton for others.",
        at="moe-runner-backend",
        fix=(Set("moe-runner-backend", lambda s: "flashinfer_cutlass" if "fp4" in str(s.quantization) else "triton"),),
        source="srt/layers/moe, FlashInfer's TensorRT-LLM kernels",
        bad="--tp-size 4 --quantization modelopt_fp4 --moe-runner-backend flashinfer_trtllm @ 0.5.9 4x-rtx-pro-6000-blackwell "
        "qwen3-235b-a22b-nvfp4",
        good="--moe-runner-backend flashinfer_cutlass",
    ),
)
