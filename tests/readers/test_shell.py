"""Launches in shell: which commands are launches, what their words are, and edits in place."""

import shlex
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.readers.launches import deleted, inserted, line, only, replaced, sites, words, written

LAUNCHES = [
    ("python -m sglang.launch_server --tp 2", "sglang", "sglang.launch_server", ["--tp", "2"]),
    ("python3 -u -m sglang.launch_server --tp 2", "sglang", "sglang.launch_server", ["--tp", "2"]),
    (
        "/opt/venv/bin/python3.11 -m vllm.entrypoints.openai.api_server --port 1",
        "vllm",
        "vllm.entrypoints.openai.api_server",
        ["--port", "1"],
    ),
    ('"${PYTHON}" -m sglang.launch_server --tp 2', "sglang", "sglang.launch_server", ["--tp", "2"]),
    ("$PYTHON_BIN -m sglang.launch_server --tp 2", "sglang", "sglang.launch_server", ["--tp", "2"]),
    ("sglang serve --model-path m", "sglang", "sglang serve", ["--model-path", "m"]),
    ("uv run vllm serve m --tp 2", "vllm", "vllm serve", ["m", "--tp", "2"]),
    ("exec env A=1 B=2 vllm serve m", "vllm", "vllm serve", ["m"]),
    ("nohup .venv/bin/vllm serve m > log 2>&1 &", "vllm", "vllm serve", ["m"]),
    ("vllm serve m 2>&1 | tee server.log", "vllm", "vllm serve", ["m"]),
    ("srun --nodes=1 --ntasks 1 bash -c 'vllm serve m'", "vllm", "vllm serve", ["m"]),
    (
        "ray job submit --address http://x -- python -m vllm.entrypoints.openai.api_server --model m",
        "vllm",
        "vllm.entrypoints.openai.api_server",
        ["--model", "m"],
    ),
    ("distrobox enter box -- bash -lc 'sglang serve --model-path m'", "sglang", "sglang serve", ["--model-path", "m"]),
    ("numactl --membind 0 timeout 60 python -m sglang.launch_server --tp 2", "sglang", "sglang.launch_server", ["--tp", "2"]),
    ("python3 -m dynamo.sglang --tp 2", "sglang", "dynamo.sglang", ["--tp", "2"]),
    ("python3 -m dynamo.vllm --model m", "vllm", "dynamo.vllm", ["--model", "m"]),
    (
        "docker run --rm -it --gpus all -p 80:80 -e A=1 lmsysorg/sglang:v0.5.9 python3 -m sglang.launch_server --tp 2",
        "sglang",
        "sglang.launch_server",
        ["--tp", "2"],
    ),
    (
        "docker run -d --ipc=host vllm/vllm-openai:latest --model m --max-model-len 4096",
        "vllm",
        "image",
        ["--model", "m", "--max-model-len", "4096"],
    ),
    ('IMAGE=${IMAGE:-vllm/vllm-openai:v0.9.0}\ndocker run --rm -p 1:1 "$IMAGE" --model m', "vllm", "image", ["--model", "m"]),
    ("docker run --entrypoint bash img:1 -c 'vllm serve m'", "vllm", "vllm serve", ["m"]),
    ("PID=$(nohup vllm serve m >/dev/null 2>&1 & echo $!)", "vllm", "vllm serve", ["m"]),
    ("PID=`vllm serve m >/dev/null 2>&1`", "vllm", "vllm serve", ["m"]),
    ("echo `vllm serve m --tp 2` `date`", "vllm", "vllm serve", ["m", "--tp", "2"]),
    ("ssh node1 'cd /x && vllm serve m'", "vllm", "vllm serve", ["m"]),
    ('tmux new-session -d -s s "vllm serve m --tp 2"', "vllm", "vllm serve", ["m", "--tp", "2"]),
    ('CMD="vllm serve m"\nCMD="$CMD --tp 2"\neval "$CMD"', "vllm", "vllm serve", ["m", "--tp", "2"]),
    ('CMD="vllm serve m"\nCMD+=" --tp 2"\nexec $CMD', "vllm", "vllm serve", ["m", "--tp", "2"]),
    ('CMD=(vllm serve m --tp 2)\n"${CMD[@]}"', "vllm", "vllm serve", ["m", "--tp", "2"]),
    ("bash -c 'exec vllm serve \"$@\"' -- m --tp 2", "vllm", "vllm serve", ["m", "--tp", "2"]),
    ("cat > run.sh <<'EOF'\nvllm serve m \\\n  --tp 2\nEOF", "vllm", "vllm serve", ["m", "--tp", "2"]),
    ("ssh host <<EOF\nvllm serve m \\\\\n  --tp 2\nEOF", "vllm", "vllm serve", ["m", "--tp", "2"]),
    (
        "vllm serve m --a 'x y' --b \"p q\" --c=\\ z --d $'\\t' '' ",
        "vllm",
        "vllm serve",
        ["m", "--a", "x y", "--b", "p q", "--c= z", "--d", "\t", ""],
    ),
    ('vllm serve m --j \'{"a": 1}\' --k "{\\"b\\": 2}"', "vllm", "vllm serve", ["m", "--j", '{"a": 1}', "--k", '{"b": 2}']),
    ("vllm serve m \\\r\n  --tp 2\r\n", "vllm", "vllm serve", ["m", "--tp", "2"]),
    ("run() {\n  local tp=2\n  vllm serve m --tp $tp\n}\nrun", "vllm", "vllm serve", ["m", "--tp", "2"]),
]


@pytest.mark.parametrize(("script", "engine", "entry", "argv"), LAUNCHES)
def test_a_launch_is_found_whatever_starts_it(script: str, engine: str, entry: str, argv: list[str]) -> None:
    site = only("shell", script)
    assert site.entry is not None
    assert (site.engine, site.entry.value, words(site), site.complete) == (engine, entry, argv, True)


@pytest.mark.parametrize(
    "script",
    [
        "# vllm serve m",
        "echo vllm serve m",
        "echo 'Run: python -m sglang.launch_server --tp 2'",
        "log_info vllm serve m",
        'pkill -f "sglang.launch_server"',
        "pgrep -f 'vllm serve'",
        "vllm serve --help",
        "python -m sglang.launch_server -h",
        "vllm bench serve --model m",
        "python -m sglang.bench_serving --backend sglang",
        "python -m sglang_router.launch_router --policy random --prefill http://x",
        "pip install vllm",
        "docker pull vllm/vllm-openai:latest",
        "curl http://localhost:8000/health  # vllm serve m",
        "cat <<'EOF'\nimport vllm\nfrom vllm import LLM\nEOF",
        "command -v vllm && vllm --version",
        "python - <<EOF\nimport sglang\nEOF",
    ],
)
def test_what_only_speaks_of_a_launch_is_none(script: str) -> None:
    assert sites("shell", script) == ()


VALUES = [
    ("TP=4\nvllm serve m --tp $TP", "4", "known"),
    ("TP=${TP:-4}\nvllm serve m --tp $TP", "4", "default"),
    ('TP="${1:-4}"\nvllm serve m --tp $TP', "4", "default"),
    ('TP=4\nwhile [ $# -gt 0 ]; do case $1 in --tp) TP="$2"; shift 2;; esac; done\nvllm serve m --tp $TP', "4", "default"),
    ('if [ -z "$TP" ]; then TP=4; fi\nvllm serve m --tp $TP', "4", "default"),
    (': "${TP:=4}"\nvllm serve m --tp ${TP:-4}', "4", "default"),
    ("vllm serve m --tp ${TP:-${GPUS:-4}}", "4", "default"),
    ('export TP=4\nbash -c "vllm serve m --tp \\$TP"', "4", "known"),
    ('N=4\nTP=$N\nvllm serve m --tp "$TP"', "4", "known"),
    ("TP=2\nTP=4\nvllm serve m --tp $TP", "4", "known"),
    ("TP=2\nif x; then TP=4; fi\nvllm serve m --tp $TP", "${TP}", "unknown"),
    ("if x; then TP=2; else TP=4; fi\nvllm serve m --tp $TP", "${TP}", "unknown"),
    ("vllm serve m --tp $TP", "${TP}", "unknown"),
    ("vllm serve m --tp ${TP:?set it}", "${TP}", "unknown"),
    ("vllm serve m --tp $(nvidia-smi -L | wc -l)", "${}", "unknown"),
    ("vllm serve m --tp $((A * 2))", "${}", "unknown"),
    ("TP=$(nproc)\nvllm serve m --tp $TP", "${}", "unknown"),
    ("read TP\nvllm serve m --tp $TP", "${TP}", "unknown"),
    ("for TP in 1 2; do\nvllm serve m --tp $TP\ndone", "${TP}", "unknown"),
    ("vllm serve m --tp /models/$X/y", "/models/${X}/y", "unknown"),
    ("vllm serve m --tp=${X}", "--tp=${X}", "unknown"),
    ("vllm serve m --x <model-path>", "${model-path}", "unknown"),
    ('vllm serve m --x "<model>"', "${model}", "unknown"),
    ("A=x\nvllm serve m --tp a/$A:${B:-1}", "a/x:1", "default"),
]


@pytest.mark.parametrize(("script", "text", "state"), VALUES)
def test_a_value_is_known_as_far_as_the_file_says(script: str, text: str, state: str) -> None:
    token = only("shell", script).argv[-1]
    assert (token.text, token.state) == (text, state)
    assert (token.value is None) == (state == "unknown")


def test_a_server_of_images_is_of_no_engine_that_is_known() -> None:
    assert only("shell", "sglang serve --model-path m --model-type diffusion").engine is None
    assert only("shell", "sglang serve --model-path m --num-gpus 2").engine is None
    assert only("shell", "sglang serve --model-path m --model-type llm").engine == "sglang"


def test_redirections_are_no_placeholders() -> None:
    assert words(only("shell", "vllm serve m --x 1 <in >out 2>&1")) == ["m", "--x", "1"]


def test_branches_are_launches_of_their_own() -> None:
    found = sites("shell", "if [ $A = 1 ]; then\n  vllm serve a --tp 1\nelse\n  vllm serve b --tp 2\nfi\n")
    assert [words(site) for site in found] == [["a", "--tp", "1"], ["b", "--tp", "2"]]
    assert [line(site) for site in found] == [2, 4]


def test_an_assignment_in_another_branch_does_not_reach() -> None:
    found = sites("shell", "case $1 in\n a) M=x; vllm serve $M ;;\n b|c) M=y\n  vllm serve $M ;;\nesac\n")
    assert [words(site) for site in found] == [["x"], ["y"]]


def test_arrays_keep_what_is_certain_apart_from_what_is_not() -> None:
    site = only("shell", 'A=(--tp 2)\nif x; then A+=(--port 1); fi\nA+=(--host h)\nvllm serve m "${A[@]}"')
    assert [(token.text, token.conditional) for token in site.argv] == [
        ("m", False),
        ("--tp", False),
        ("2", False),
        ("--port", True),
        ("1", True),
        ("--host", False),
        ("h", False),
    ]
    assert site.complete


@pytest.mark.parametrize("tail", ["$EXTRA_ARGS", '"$@"', '"${MISSING[@]}"', "${EXTRA_ARGS:-}", "--enable-x $MORE", "$(flags)"])
def test_an_opaque_tail_makes_the_launch_incomplete(tail: str) -> None:
    site = only("shell", f"vllm serve m --tp=2 {tail}")
    assert not site.complete
    assert site.argv[-1].state == "opaque"
    assert site.argv[-1].value is None


def test_optional_flags_are_conditional_or_default() -> None:
    site = only("shell", 'Q=""\n[ -n "$X" ] && Q="--quantization fp8"\nvllm serve m $Q ${Y:+--enforce-eager}')
    assert [(token.text, token.conditional) for token in site.argv[1:]] == [
        ("--quantization", True),
        ("fp8", True),
        ("--enforce-eager", True),
    ]


def test_a_comment_after_a_continuation_ends_the_command() -> None:
    assert words(only("shell", "vllm serve m \\\n  # --tp 2 \\\n  --port 1\n")) == ["m"]


def test_every_word_points_at_its_characters() -> None:
    site = only("shell", 'TP=4\nbash -c "vllm serve \'a b\' --tp \\$TP --x \\"y z\\""')
    assert written(site) == ["'a b'", "--tp", "\\$TP", "--x", '\\"y z\\"']
    assert [token.definition is not None for token in site.argv] == [False, False, True, False, False]


def test_what_surrounds_a_launch_is_read() -> None:
    site = only(
        "shell",
        "pip install 'vllm==0.10.0'\nexport A=1\nB=2 CUDA_VISIBLE_DEVICES=0,1,2 vllm serve m",
    )
    assert site.version is not None
    assert site.version.value == "0.10.0"
    assert [(variable.name, variable.token.value) for variable in site.env] == [
        ("A", "1"),
        ("B", "2"),
        ("CUDA_VISIBLE_DEVICES", "0,1,2"),
    ]
    assert site.gpus is not None
    assert site.gpus.value == 3


def test_a_container_run_is_read() -> None:
    site = only(
        "shell",
        "docker run --gpus '\"device=0,1\"' -e A=1 -eB=2 --env C=3 "
        "lmsysorg/sglang:v0.5.5.post3-cu129 python3 -m sglang.launch_server",
    )
    assert site.image is not None
    assert site.version is not None
    assert site.gpus is not None
    assert (site.image.value, site.version.value, site.gpus.value) == ("lmsysorg/sglang:v0.5.5.post3-cu129", "0.5.5.post3", 2)
    assert [(variable.name, variable.token.value) for variable in site.env] == [("A", "1"), ("B", "2"), ("C", "3")]


def test_a_batch_job_says_what_it_asked_for() -> None:
    site = only("shell", "#!/bin/bash\n#SBATCH --gres=gpu:h100:8\n#SBATCH --nodes=2  # two\nsrun vllm serve m")
    assert site.kind == "slurm"
    assert site.gpus is not None
    assert site.gpus.value == 8
    assert {key: value.value for key, value in site.hardware.items()} == {"nodes": 2, "gpu": "h100"}


# -- edits -----------------------------------------------------------------------------------------------------------------


def test_a_flag_is_added_in_the_style_of_the_command() -> None:
    assert inserted("shell", "vllm serve m --tp 2 > log &\n", "--port", "1") == "vllm serve m --tp 2 --port 1 > log &\n"
    assert (
        inserted("shell", "vllm serve m \\\n    --tp 2 \\\n    --x\n", "--j", '{"a": 1}')
        == "vllm serve m \\\n    --tp 2 \\\n    --x \\\n    --j '{\"a\": 1}'\n"
    )
    assert inserted("shell", 'vllm serve m --tp=2 "$@"', "--x") == 'vllm serve m --tp=2 --x "$@"'
    assert (
        inserted("shell", 'A=(\n  --tp 2\n  --y 3\n)\nvllm serve "${A[@]}"', "--x")
        == 'A=(\n  --tp 2\n  --y 3\n  --x\n)\nvllm serve "${A[@]}"'
    )
    assert inserted("shell", 'bash -c "vllm serve m --tp 2"', "--j", "a b") == "bash -c \"vllm serve m --tp 2 --j 'a b'\""
    assert inserted("shell", "C='vllm serve m'\n$C", "--x", "1") == "C='vllm serve m --x 1'\n$C"


def test_a_flag_never_lands_between_a_flag_and_its_value() -> None:
    script = 'B=(1 2)\nvllm serve m --sizes "${B[@]}"\nvllm serve n --sizes "${B[@]}"'
    for site in sites("shell", script):
        edit = site.editor.insert("--x", [])
        assert edit is not None
        assert edit.span.start > site.head.span.start
    assert inserted("shell", "vllm serve m --tp $TP", "--x") == "vllm serve m --tp $TP --x"


def test_a_flag_is_taken_out_with_its_line() -> None:
    assert deleted("shell", "vllm serve m \\\n  --tp 2 \\\n  --x\n", 1, 2) == "vllm serve m \\\n  --x\n"
    assert deleted("shell", "vllm serve m \\\n  --tp 2 \\\n  --x\n", 3, 3) == "vllm serve m \\\n  --tp 2\n"
    assert deleted("shell", 'A=(--tp 2 --x)\nvllm serve m "${A[@]}"', 1, 2) == 'A=(--x)\nvllm serve m "${A[@]}"'


def test_a_value_is_replaced_where_it_stands() -> None:
    assert replaced("shell", "vllm serve m --tp '2'", "2", "4") == "vllm serve m --tp '4'"
    assert replaced("shell", "vllm serve m --tp ${TP:-2}", "2", "4") == "vllm serve m --tp ${TP:-4}"
    assert replaced("shell", "TP=${TP:-2}\nvllm serve m --tp $TP", "2", "4") == "TP=${TP:-4}\nvllm serve m --tp $TP"
    assert replaced("shell", 'TP="2"\nvllm serve m --tp $TP', "2", "4") == 'TP="4"\nvllm serve m --tp $TP'
    assert (
        replaced("shell", 'bash -c "vllm serve m --j \'{\\"a\\": 1}\'"', '{"a": 1}', '{"b": 2}')
        == 'bash -c "vllm serve m --j \'{\\"b\\": 2}\'"'
    )


@pytest.mark.parametrize(
    "script",
    [
        "TP=2\necho $TP\nvllm serve m --tp $TP",
        "export TP=2\nvllm serve m --tp $TP",
        'A=(m)\n[ x ] && A+=(--tp 2)\nvllm serve "${A[@]}"',
        "P=2\nvllm serve m --tp a$P",
    ],
)
def test_a_value_that_others_may_read_is_not_edited(script: str) -> None:
    assert only("shell", script).argv[-1].replace("4") is None


BASH = shutil.which("bash")


@pytest.mark.skipif(BASH is None, reason="no bash on this machine")
@given(st.lists(st.text(alphabet="ab-= '\"\\$`\t*{}#~!;&|<>(),", max_size=6), min_size=1, max_size=5))
def test_quoted_words_are_read_as_a_shell_reads_them(arguments: list[str]) -> None:
    script = "vllm serve " + shlex.join(arguments)
    assert words(only("shell", script)) == arguments


def test_words_are_those_that_bash_makes() -> None:
    if BASH is None:
        return
    line_ = r"""a"b"'c'\d "x \" \\ \a" 'it''s' $'t\tq' "" --x={\"k\":1} a\
b --y="{\"a\": \"b c\"}" """
    spoken = subprocess.run([BASH, "-c", f"printf '%s\\0' {line_}"], capture_output=True, text=True, check=True).stdout
    assert words(only("shell", f"vllm serve {line_}")) == spoken.split("\0")[:-1]
