"""Turn an engine's answers into the recordings that the replay reads.

    PYTHONPATH=. python -m tests.conformance.record requests.jsonl answers.jsonl tests/conformance/recorded/sglang-0.5.9.jsonl.gz
    PYTHONPATH=. python -m tests.conformance.record --flags flags.json tests/conformance/recorded/flags/sglang-0.5.9.json.gz

A recording is one JSON object a line: `id`, `row`, `argv`, `env`, `gpu`, `model` of the request, `ok`, and either `where`
("file:line function" in the engine, with `usage` true when its parser refused) or `settings`, the resolved values of
SETTINGS that this version has, and `derived`, what it made of the model. No message and no other text of the engine is kept.
Answers that rest on a stand-in (`artefact`) or that never came are left out, and so are usage errors beyond a fifth of
the refusals.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path
from typing import Any

# fmt: off
SETTINGS = (
    # parallelism
    "tp_size", "pp_size", "dp_size", "ep_size", "attn_dp_size", "attn_cp_size", "moe_dp_size", "dcp_size", "moe_dense_tp_size",
    "enable_dp_attention", "enable_dp_lm_head",
    # memory and scheduling
    "mem_fraction_static", "chunked_prefill_size", "max_prefill_tokens", "max_running_requests", "max_total_tokens",
    "page_size", "schedule_policy", "schedule_conservativeness", "enable_mixed_chunk", "disable_radix_cache",
    "disable_overlap_schedule", "swa_full_tokens_ratio", "disable_hybrid_swa_memory",
    # CUDA graphs
    "disable_cuda_graph", "cuda_graph_backend", "cuda_graph_max_bs", "cuda_graph_bs", "prefill_cuda_graph_backend",
    "prefill_cuda_graph_max_bs", "enable_piecewise_cuda_graph", "disable_piecewise_cuda_graph",
    "piecewise_cuda_graph_max_tokens",
    # attention and kernels
    "attention_backend", "prefill_attention_backend", "decode_attention_backend", "mm_attention_backend",
    "nsa_prefill_backend", "nsa_decode_backend", "dsa_prefill_backend", "dsa_decode_backend", "sampling_backend",
    "grammar_backend", "kv_cache_dtype", "dtype", "quantization", "load_format", "fp8_gemm_runner_backend",
    "fp4_gemm_runner_backend", "linear_attn_backend", "linear_attn_decode_backend",
    # experts and collectives
    "moe_runner_backend", "moe_a2a_backend", "deepep_mode", "disable_shared_experts_fusion", "enable_eplb", "eplb_algorithm",
    "ep_dispatch_algorithm", "expert_distribution_recorder_mode", "enable_two_batch_overlap", "disable_custom_all_reduce",
    "enable_flashinfer_allreduce_fusion", "flashinfer_allreduce_fusion_backend", "enable_symm_mem",
    # speculative decoding
    "speculative_algorithm", "speculative_draft_model_path", "speculative_draft_model_revision", "speculative_num_steps",
    "speculative_eagle_topk", "speculative_num_draft_tokens", "speculative_moe_runner_backend", "speculative_moe_a2a_backend",
    "speculative_draft_model_quantization", "speculative_draft_attention_backend", "speculative_attention_mode",
    "speculative_adaptive", "speculative_use_rejection_sampling",
    # adapters, caches, disaggregation, the rest
    "enable_lora", "max_lora_rank", "max_loras_per_batch", "max_loaded_loras", "lora_backend", "enable_hierarchical_cache",
    "hicache_ratio", "hicache_size", "hicache_write_policy", "hicache_io_backend", "hicache_mem_layout",
    "hicache_storage_backend", "disaggregation_mode", "disaggregation_transfer_backend", "disaggregation_ib_device",
    "load_balance_method", "mamba_ssm_dtype", "mamba_radix_cache_strategy", "mamba_scheduler_strategy", "mamba_track_interval",
    "enable_multimodal", "enable_deterministic_inference", "tokenizer_worker_num", "detokenizer_worker_num", "context_length",
)
# fmt: on
DERIVED = ("context_len", "quantization", "dtype")


def recording(request: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any] | None:
    """What is kept of one launch; None when its answer cannot be believed."""
    if answer["id"] != request["id"]:
        raise ValueError(f"answer {answer['id']} does not belong to request {request['id']}")
    if answer.get("artefact") or answer["ok"] is None:
        return None
    kept = {key: request[key] for key in ("id", "row", "argv", "env", "gpu", "model")}
    kept["ok"] = answer["ok"]
    if answer["ok"]:
        args, model = answer["args"], answer["model"]
        kept["settings"] = {name: args[name] for name in SETTINGS if name in args}
        kept["derived"] = {name: model[name] for name in DERIVED if name in model}
    else:
        kept["where"] = answer["where"]
        if answer["error"].startswith("usage: "):
            kept["usage"] = True
    return kept


def without_surplus(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Drop the last usage errors beyond a fifth of all refusals."""
    refused = [row for row in rows if not row["ok"]]
    usage = [row for row in refused if row.get("usage")]
    keep = (len(refused) - len(usage)) // 4
    dropped = {row["id"] for row in usage[keep:]}
    return [row for row in rows if row["id"] not in dropped]


def launch_key(row: dict[str, Any]) -> str:
    return json.dumps([row["argv"], row["env"], row["gpu"]])


def read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        return [json.loads(line) for line in file]


def write(path: Path, text: str) -> None:
    """Compressed without name and time, so that the same text gives the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def summary(rows: list[dict[str, Any]]) -> str:
    refused = [row for row in rows if not row["ok"]]
    places = {row["where"] for row in refused if not row.get("usage")}
    aimed = {row["row"] for row in rows if row["row"] not in ("mix", "soup")}
    return (
        f"{len(rows)} launches, {len(refused)} refused, {sum(row.get('usage', False) for row in refused)} of them usage errors, "
        f"{len(places)} other places, {len({name[:-1] for name in aimed})} rules aimed at"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--flags", action="store_true", help="pack a dump of the parser's flags: --flags DUMP TARGET")
    parser.add_argument("--without", type=Path, help="leave out the launches of this recording")
    parser.add_argument("paths", nargs="+", type=Path, help="REQUESTS ANSWERS TARGET")
    options = parser.parse_args()
    if options.flags:
        source, target = options.paths
        write(target, "[\n" + ",\n".join(json.dumps(row) for row in json.loads(source.read_text())) + "\n]\n")
        return
    requests, answers, target = options.paths
    known = {launch_key(row) for row in read(options.without)} if options.without else set()
    kept = [recording(request, answer) for request, answer in zip(read(requests), read(answers), strict=True)]
    rows = without_surplus([row for row in kept if row and launch_key(row) not in known])
    write(target, "".join(json.dumps(row) + "\n" for row in rows))
    print(f"{target.name}: {summary(rows)}; {sum(row is None for row in kept)} not believed")


if __name__ == "__main__":
    main()
