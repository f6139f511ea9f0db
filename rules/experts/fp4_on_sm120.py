"""The automatic runner of FP4 experts is made for another GPU.

## Why
With ModelOpt FP4 weights the automatic choice of the MoE runner was made for datacentre Blackwell (SM100). On RTX Blackwell
(SM120) it can name a kernel that does not exist there. From 0.5.16 on the engine chooses by GPU.

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
None: the runner and a newer release are both remedies.

## Source
sglang 0.5.15.post1 and 0.5.23 srt/arg_groups (MoE runner by GPU); public reports of launches on SM120 before 0.5.16.
"""

from preflight.engines.sglang.facts import sm_major
from preflight.engines.steps import WARNS, Row, Topic

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
)
