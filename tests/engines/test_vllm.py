"""vLLM's command line under stable names, and what launches of it are told."""

from __future__ import annotations

from preflight.engines.base import Launch, Listening, Spread
from preflight.engines.steps import UNKNOWN
from preflight.lint import examine, lint_document
from preflight.text import Document


def launch(command: str) -> Launch:
    (resolved,) = examine(Document("launch.sh", f"{command}\n")).launches
    return resolved.launch


def test_spellings_of_one_setting() -> None:
    for spelling in ("-tp 4", "--tensor-parallel-size 4", "--tensor_parallel_size=4", "-tp=4", "--tensor-parallel 4"):
        assert launch(f"vllm serve m {spelling}").value("tensor-parallel-size") == 4


def test_the_positional_model_beats_the_flag() -> None:
    assert launch("vllm serve one --model two").value("model") == "one"
    assert launch("vllm serve --model two").value("model") == "two"


def test_dotted_flags_belong_to_their_option() -> None:
    uses = [use.name for use in launch("vllm serve m --attention_config.backend=FLASH_ATTN --no-enable-x").uses]
    assert uses == ["attention-config", "no-enable-x"]


def test_a_variable_is_unknown_and_a_default_known() -> None:
    unknown = launch('vllm serve m --port "$PORT" --tensor-parallel-size "${TP:-2}"')
    assert unknown.value("port") is UNKNOWN
    assert unknown.value("tensor-parallel-size") == 2


def test_several_values_and_no_value() -> None:
    found = launch("vllm serve m --served-model-name a b --enforce-eager")
    assert found.value("served-model-name") == ["a", "b"]
    assert found.value("enforce-eager") is True


def test_nothing_is_said_of_flags_that_no_history_knows() -> None:
    text = "vllm serve m --no-such-flag 1 --tensor-parallel-size eight\n"
    assert lint_document(Document("launch.sh", text)).diagnostics == ()


def test_ranks_are_the_product_of_the_sizes() -> None:
    engine = launch("vllm serve m").engine
    assert engine.spread(launch("vllm serve m -tp 4 -pp 2 -dp 2")).ranks == 16
    assert engine.spread(launch("vllm serve m -tp 2 -dp 8 -dpl 4")).ranks == 8
    assert engine.spread(launch("vllm serve m -tp 16 --distributed-executor-backend ray")) == Spread()
    assert engine.spread(launch("vllm serve m -tp 8 -dp 2 --data-parallel-rank 0")) == Spread()
    assert engine.spread(launch('vllm serve m -tp 8 "$@"')) == Spread()


def test_where_it_answers() -> None:
    engine = launch("vllm serve m").engine
    assert engine.listens(launch("vllm serve m")) == Listening("0.0.0.0", 8000)
    assert engine.listens(launch("vllm serve m --host localhost --port 9000")) == Listening("localhost", 9000)
    assert engine.listens(launch("vllm serve m --headless")) == Listening()
    assert engine.listens(launch('vllm serve m "$@"')) == Listening()


def test_sglang_ranks_share_gpus_under_dp_attention() -> None:
    run = "python -m sglang.launch_server --model-path m"
    alone, shared = launch(f"{run} --tp-size 4 --dp-size 2"), launch(f"{run} --tp-size 4 --dp-size 4 --enable-dp-attention")
    assert alone.engine.spread(alone).ranks == 8
    assert shared.engine.spread(shared).ranks == 4
    assert alone.engine.listens(alone) == Listening("127.0.0.1", 30000)
    second = launch(f"{run} --nnodes 2 --node-rank 1 --dist-init-addr 10.0.0.1:5000")
    assert second.engine.listens(second) == Listening()
