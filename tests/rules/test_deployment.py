"""Rules between a launch and its surroundings: what is proven, what is only likely, and what looks wrong and is legal."""

from __future__ import annotations

import pytest

from preflight.diagnostics import NOTE, Diagnostic
from preflight.lint import lint_document
from preflight.text import Document

NEW = ("PAR05", "CFG05", "ENV05", "FLG05", "UNT05", "VER0")


def found(text: str, path: str = "deploy.yaml") -> list[Diagnostic]:
    return [one for one in lint_document(Document(path, text)).diagnostics if one.rule.code.startswith(NEW)]


def codes(text: str, path: str = "deploy.yaml", *, notes: bool = False) -> list[tuple[str, str]]:
    return [(one.rule.code, one.severity.word) for one in found(text, path) if notes or one.severity > NOTE]


def pod(command: str, *, gpus: int | None = 4, image: str = "lmsysorg/sglang:v0.5.9", extra: str = "", spec: str = "") -> str:
    limits = "" if gpus is None else f"resources: {{ limits: {{ nvidia.com/gpu: {gpus} }} }}"
    return f"""apiVersion: v1
kind: Pod
metadata: {{ name: llm, labels: {{ app: llm }} }}
spec:
  {spec}
  containers:
    - name: server
      image: {image}
      {command}
      {limits}
      {extra}
"""


def sglang(flags: str) -> str:
    words = ", ".join(f'"{word}"' for word in f"--model-path m --host 0.0.0.0 {flags}".split())
    return f"command: [python3, -m, sglang.launch_server, {words}]"


SERVICE = """apiVersion: v1
kind: Service
metadata: {{ name: {name} }}
spec: {{ selector: {{ app: llm }}, {more} ports: [{{ port: 80, targetPort: {target} }}] }}
---
"""


# -- ranks and GPUs --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "gpus", "expected"),
    [
        ("--tp-size 8", 4, [("PAR050", "error")]),
        ("--tp-size 4", 4, []),
        ("--tp-size 2 --pp-size 4", 4, [("PAR050", "error")]),
        ("--tp-size 2 --dp-size 4", 4, [("PAR050", "error")]),
        ("--tp-size 4 --dp-size 4 --enable-dp-attention", 4, []),
        ("--tp-size 4 --base-gpu-id 4", 4, [("PAR050", "error")]),
        ("--tp-size 16 --nnodes 4 --node-rank 0 --dist-init-addr a:1", 4, []),
        ("--tp-size 16 --nnodes 2 --node-rank 0 --dist-init-addr a:1", 4, [("PAR050", "error")]),
        ("--tp-size 16 --nnodes $(N) --node-rank 0 --dist-init-addr a:1", 4, []),
        ("--tp-size 16 --dist-init-addr a:1", 8, [("PAR051", "error")]),
        ("--tp-size 8", None, []),
    ],
)
def test_ranks_against_a_pods_limit(flags: str, gpus: int | None, expected: list[tuple[str, str]]) -> None:
    assert codes(pod(sglang(flags), gpus=gpus)) == expected


def test_a_finding_names_the_sizes_and_the_limit() -> None:
    (one,) = found(pod(sglang("--tp-size 2 --pp-size 4")))
    assert one.message.startswith("tp-size 2 × pp-size 4 needs 8 GPUs and gets 4.")
    assert one.stage == "init"
    assert [related.label for related in one.related] == ["4 GPUs"]


def test_a_privileged_pod_may_see_more_than_its_limit() -> None:
    privileged = "securityContext: { privileged: true }"
    assert codes(pod(sglang("--tp-size 8"), extra=privileged)) == [("PAR050", "warning")]


def test_a_group_of_pods_without_nnodes_is_left_alone() -> None:
    container = (
        f"{{ image: 'lmsysorg/sglang:v0.5.9', {sglang('--tp-size 16')}, resources: {{ limits: {{ nvidia.com/gpu: 8 }} }} }}"
    )
    template = f"{{ size: 2, workerTemplate: {{ spec: {{ containers: [{container}] }} }} }}"
    text = f"kind: LeaderWorkerSet\nspec: {{ leaderWorkerTemplate: {template} }}\n"
    assert len(lint_document(Document("lws.yaml", text)).launches) == 1
    assert codes(text) == []


def test_vllm_in_a_container_and_beside_ray() -> None:
    arguments = 'args: [m, --tensor-parallel-size, "8"]'
    image = "vllm/vllm-openai:v0.20.0"
    assert codes(pod(arguments, image=image)) == [("PAR050", "error")]
    assert codes("# joins a ray cluster\n" + pod(arguments, image=image)) == []
    assert codes("CUDA_VISIBLE_DEVICES=0,1 vllm serve m -tp 4\n", "run.sh") == [("PAR050", "warning")]
    assert codes('CUDA_VISIBLE_DEVICES=0,1 vllm serve m -tp 4 "$@"\n', "run.sh") == []


def test_a_launch_file_that_counts_its_gpus() -> None:
    text = 'engine = "sglang"\nengine-version = "0.5.9"\nhardware = { count = 4 }\nflags = { tp-size = 8 }\n'
    assert codes(text, "launch.toml") == [("PAR050", "error")]
    assert codes(text.replace("count = 4", "count = 4, nodes = 2"), "launch.toml") == []


def test_devices_from_outside_are_no_proof() -> None:
    text = """services:
  llm:
    image: lmsysorg/sglang:v0.5.9
    command: python3 -m sglang.launch_server --model-path m --host 0.0.0.0 --tp-size 2
    deploy: { resources: { reservations: { devices: [{ driver: nvidia, DEVICES, capabilities: [gpu] }] } } }
"""
    assert codes(text.replace("DEVICES", 'device_ids: ["0"]')) == [("PAR050", "error")]
    assert codes(text.replace("DEVICES", "count: 1")) == [("PAR050", "error")]
    assert codes(text.replace("DEVICES", 'device_ids: ["${GPUS:-0,1}"]')) == []
    assert codes(text.replace("DEVICES", 'device_ids: ["${GPU:?none}"]')) == []
    assert codes(text.replace("DEVICES", 'count: "${N:-1}"')) == [("PAR050", "warning")]
    assert codes(text.replace("DEVICES", "count: all")) == []


def test_idle_gpus_are_a_note() -> None:
    assert codes(pod(sglang("--tp-size 2")), notes=True) == [("PAR052", "note")]


# -- servers on one GPU ----------------------------------------------------------------------------------------------------


TWO = """CUDA_VISIBLE_DEVICES=0 vllm serve a --gpu-memory-utilization 0.9 --port 8001 > a.log 2>&1 &
CUDA_VISIBLE_DEVICES=0 vllm serve b --gpu-memory-utilization 0.5 --port 8002
"""


def test_two_servers_in_the_background_share_a_gpu() -> None:
    assert codes(TWO, "run.sh") == [("PAR053", "warning")]


@pytest.mark.parametrize(
    "text",
    [
        TWO.replace("=0 vllm serve b", "=1 vllm serve b"),
        TWO.replace(" &\n", "\n"),
        TWO.replace("0.9", "0.4"),
        TWO.replace("&1 &\n", "&1 && true\n"),
        f'if [ -n "$A" ]; then\n{TWO.splitlines()[0]}\nelse\n{TWO.splitlines()[1]}\nfi\n',
        f"start() {{\n{TWO.splitlines()[0]}\n}}\n{TWO.splitlines()[1]}\n",
        TWO.replace("=0 vllm serve b", '="$G" vllm serve b'),
    ],
)
def test_servers_that_need_not_meet(text: str) -> None:
    assert codes(text, "run.sh") == []


COMPOSE_TWO = """services:
  a:
    image: vllm/vllm-openai:v0.20.0
    command: [m, --gpu-memory-utilization, "0.8"]
    deploy: { resources: { reservations: { devices: [{ driver: nvidia, count: 1, capabilities: [gpu] }] } } }
  b:
    image: vllm/vllm-openai:v0.20.0
    command: [n, --gpu-memory-utilization, "0.8"]
    deploy: { resources: { reservations: { devices: [{ driver: nvidia, count: 1, capabilities: [gpu] }] } } }
"""


def test_a_count_takes_the_first_gpu_in_every_service() -> None:
    assert codes(COMPOSE_TWO) == [("PAR053", "warning")]


def test_profiles_are_alternatives() -> None:
    assert codes(COMPOSE_TWO.replace("  b:\n", "  b:\n    profiles: [other]\n")) == []


# -- hosts and ports -------------------------------------------------------------------------------------------------------


BARE = "command: [python3, -m, sglang.launch_server, --model-path, m]"


def test_loopback_behind_a_service_and_behind_a_probe() -> None:
    service = SERVICE.format(name="llm", more="", target=30000)
    assert codes(service + pod(BARE)) == [("CFG050", "warning")]
    assert codes(pod(BARE, extra="readinessProbe: { httpGet: { port: 30000 } }")) == [("CFG050", "warning")]


@pytest.mark.parametrize(
    "text",
    [
        pod(BARE),
        pod(BARE, extra="readinessProbe: { exec: { command: [curl, localhost] } }"),
        pod(BARE, extra="readinessProbe: { httpGet: { port: 30000 } }", spec="hostNetwork: true"),
        SERVICE.format(name="llm", more="", target=30000)
        + pod(BARE.replace("m]", "m, --nnodes, '2', --node-rank, '1', --dist-init-addr, 'a:1']")),
        SERVICE.format(name="llm", more="", target=30000) + pod(sglang("")),
        SERVICE.format(name="llm", more="", target=8000) + pod("args: [m]", image="vllm/vllm-openai:v0.20.0"),
    ],
)
def test_a_host_that_is_right(text: str) -> None:
    assert codes(text) == []


def test_a_probe_and_a_service_at_another_port() -> None:
    assert codes(pod(sglang("--port 8000"), extra="livenessProbe: { tcpSocket: { port: 8080 } }")) == [("CFG051", "warning")]
    named = pod(sglang("--port 8000"), extra="ports: [{ name: http, containerPort: 30000 }]")
    assert codes(named, notes=True) == [("PAR052", "note"), ("CFG051", "note")]
    assert codes(SERVICE.format(name="llm", more="", target="http") + named) == [("CFG051", "warning")]


def test_a_sidecar_may_listen_elsewhere() -> None:
    two = (
        pod(sglang("--port 8000"), extra="livenessProbe: { tcpSocket: { port: 8080 } }") + "    - { name: proxy, image: nginx }\n"
    )
    assert codes(two) == []


def test_ports_that_the_command_names_are_open() -> None:
    ports = "ports: [{ name: http, containerPort: 30000 }, { name: metrics-bootstrap, containerPort: 8998 }]"
    assert codes(pod(sglang("--disaggregation-bootstrap-port 8998"), extra=ports)) == []


def test_metrics_have_no_port_of_their_own() -> None:
    ports = "ports: [{ name: http, containerPort: 30000 }, { name: metrics, containerPort: 9090 }]"
    (one,) = [one for one in found(pod(sglang(""), extra=ports)) if one.severity > NOTE]
    assert one.message == ("SGLang opens no port 9090 for metrics: it serves /metrics on its HTTP port 30000. Scrape port 30000.")


def test_published_ports() -> None:
    text = """services:
  llm:
    image: vllm/vllm-openai:v0.20.0
    command: [m]
    ports: ["PORT"]
"""
    assert codes(text.replace("PORT", "8000:8001")) == [("CFG051", "warning")]
    assert codes(text.replace("PORT", "${P:-9000}:8000")) == []
    assert codes(text.replace("PORT", "8000-8010:8000-8010")) == []
    assert codes("docker run -d --gpus all -p 80:9000 vllm/vllm-openai:v0.20.0 m\n", "run.sh") == [("CFG051", "warning")]
    assert codes("docker run --network host -p 80:9000 vllm/vllm-openai:v0.20.0 m\n", "run.sh") == [("CFG051", "warning")]


# -- the command and its environment ---------------------------------------------------------------------------------------


def test_a_doubled_entrypoint_in_every_kind() -> None:
    assert codes("docker run --gpus all vllm/vllm-openai:v0.20.0 vllm serve m\n", "run.sh") == [("FLG050", "error")]
    assert codes(pod("args: [vllm, serve, m]", image="vllm/vllm-openai:v0.20.0")) == [("FLG050", "error")]
    assert codes(pod("command: [vllm, serve, m]", image="vllm/vllm-openai:v0.20.0")) == []
    assert codes("docker run --gpus all vllm/vllm-openai:v0.20.0 serve m\n", "run.sh") == [("FLG050", "error")]
    assert codes("docker run --gpus all vllm/vllm-openai:v0.20.0 m --served-model-name serve\n", "run.sh") == []
    assert codes("docker run --entrypoint vllm vllm/vllm-openai:v0.20.0 serve m\n", "run.sh") == []
    assert codes("docker run my/vllm-openai:1 vllm serve m\n", "run.sh") == [("FLG050", "warning")]


def test_the_model_as_a_flag() -> None:
    assert codes("vllm serve --model m\n", "run.sh") == [("FLG051", "warning")]
    (both,) = found("vllm serve m --model n\n", "run.sh")
    assert both.message == "--model is dropped: the model named first, m, counts. Remove it."
    assert codes("python -m vllm.entrypoints.openai.api_server --model m\n", "run.sh") == []
    assert codes("vllm serve m\n", "run.sh") == []


def test_a_service_named_vllm() -> None:
    server = pod("args: [m]", image="vllm/vllm-openai:v0.20.0")
    assert codes(SERVICE.format(name="vllm", more="", target=8000) + server) == [("ENV050", "warning")]
    assert codes(SERVICE.format(name="vllm", more="clusterIP: None,", target=8000) + server) == []
    assert codes(SERVICE.format(name="vllm-svc", more="", target=8000) + server) == []
    linkless = pod("args: [m]", image="vllm/vllm-openai:v0.20.0", spec="enableServiceLinks: false")
    assert codes(SERVICE.format(name="vllm", more="", target=8000) + linkless) == []


def test_variables_that_vllm_dropped() -> None:
    run = "VLLM_USE_V1=1 vllm serve m\n"
    assert codes(run, "run.sh", notes=True) == [("ENV051", "note")]
    assert codes(f"pip install vllm==0.33.0\n{run}", "run.sh") == [("ENV051", "warning")]
    assert codes(f"pip install vllm==0.8.5\n{run}", "run.sh", notes=True) == []


def test_compose_swallows_only_what_the_script_sets() -> None:
    text = """services:
  llm:
    image: vllm/vllm-openai:v0.20.0
    entrypoint: [bash, -c]
    command:
      - |
        SCRIPT
        exec vllm serve m
"""
    assert codes(text.replace("SCRIPT", "N=2; echo $N")) == [("CFG053", "warning")]
    assert codes(text.replace("SCRIPT", "for x in a b; do echo ${x}; done")) == [("CFG053", "warning")]
    assert codes(text.replace("SCRIPT", "N=4; echo ${N:-2}")) == [("CFG053", "warning")]
    assert codes(text.replace("SCRIPT", "source /detect.sh\n        test ${_FOUND:-0} = 1")) == [("CFG053", "warning")]
    assert codes(text.replace("SCRIPT", "source /detect.sh; echo $MODEL")) == []
    assert codes(text.replace("SCRIPT", "N=${N:-2}; echo ${N:-2}")) == []
    assert codes(text.replace("SCRIPT", "echo ${N:-2} $HOME")) == []
    assert codes(text.replace("SCRIPT", "N=2; echo $$N")) == []
    assert codes(text.replace("SCRIPT", "export N=${N}; echo done")) == []


def test_fractions_above_one() -> None:
    (one,) = found("vllm serve m --gpu-memory-utilization 90\n", "run.sh")
    assert (one.severity.word, one.stage, one.fixes[0].title) == ("error", "arguments", "Set gpu-memory-utilization to 0.9")
    run = "pip install sglang==0.5.9\npython -m sglang.launch_server --model-path m --mem-fraction-static 88"
    assert codes(f"{run}\n", "run.sh") == [("UNT050", "error")]
    assert codes(f"{run} --max-total-tokens 1000\n", "run.sh") == [("UNT050", "warning")]


# -- versions --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("image", "moving"),
    [
        ("lmsysorg/sglang", True),
        ("lmsysorg/sglang:latest", True),
        ("lmsysorg/sglang:dev-cu13", True),
        ("vllm/vllm-openai:nightly", True),
        ("vllm/vllm-openai:cu130", True),
        ("lmsysorg/sglang:nightly-dev-20260101-0a1b2c3d", False),
        ("lmsysorg/sglang:v0.5.9-cu129-amd64", False),
        ("lmsysorg/sglang@sha256:00", False),
    ],
)
def test_tags_that_move(image: str, moving: bool) -> None:
    text = pod("command: [vllm, serve, m]" if "vllm" in image else sglang("--tp-size 4"), image=image)
    assert (("VER050", "note") in codes(text, notes=True)) is moving


def test_a_missing_version_is_said_once_and_where_it_matters() -> None:
    run = "python -m sglang.launch_server --model-path m --cuda-graph-max-bs 8 &\n"
    assert [code for code, _ in codes(run + run.replace(" m ", " n "), "run.sh", notes=True)] == ["VER003"]
    assert codes("python -m sglang.launch_server --model-path m\n", "run.sh", notes=True) == []


def test_versions_that_are_none_and_unknown_ones() -> None:
    text = 'engine = "sglang"\nengine-version = "VERSION"\n'
    assert codes(text.replace("VERSION", "soon"), "launch.toml") == [("VER001", "error")]
    assert codes(text.replace("VERSION", "0.1.0"), "launch.toml", notes=True) == [("VER002", "note")]
    assert codes(text.replace("VERSION", "0.99.0"), "launch.toml") == [("VER002", "warning")]


# -- what is hidden or under a condition -----------------------------------------------------------------------------------


def every(text: str, path: str = "run.sh") -> list[str]:
    return [one.rule.code for one in lint_document(Document(path, text)).diagnostics if one.severity > NOTE]


RUN = "pip install sglang==0.5.9\npython -m sglang.launch_server --model-path m"


def test_a_default_that_a_hidden_tail_may_replace_proves_nothing() -> None:
    run = RUN.replace("0.5.9", "0.5.23")
    assert every(f"{run} --dcp-size 16\n") == ["PAR013"]
    assert every(f'{run} --dcp-size 16 "$@"\n') == []


def test_words_of_two_branches_do_not_meet() -> None:
    text = """pip install sglang==0.5.9
ARGS=()
if [ -n "$A" ]; then
  ARGS+=(--model-path one)
else
  ARGS+=(--model-path two)
fi
python -m sglang.launch_server "${ARGS[@]}"
"""
    assert every(text) == []


HUGE = "9" * 5000
WILD = (
    ("a.yaml", SERVICE.format(name="vllm", more="", target=HUGE) + pod(f"args: [m, --port, '{HUGE}']", image="vllm/vllm-openai")),
    ("b.yaml", pod(f"args: [m, -tp, '{HUGE}']", image="vllm/vllm-openai", extra=f"ports: [{{ containerPort: {HUGE} }}]")),
    ("c.yaml", pod("args: [m]", image="vllm/vllm-openai").replace("gpu: 4", f"gpu: {HUGE}")),
    ("d.yaml", COMPOSE_TWO.replace("count: 1", f"count: {HUGE}")),
    ("e.sh", f"docker run --gpus {HUGE} -p {HUGE} -e CUDA_VISIBLE_DEVICES={HUGE} vllm/vllm-openai m -dp ² \n"),
    ("f.sh", f"#SBATCH --gres=gpu:{HUGE} --nodes=²\nvllm serve m -tp 2 --gpu-memory-utilization nan\n"),
    (
        "g.sh",
        "CUDA_VISIBLE_DEVICES=0 python -m sglang.launch_server --model-path m --nnodes 0 --gpu-id-step 0 --base-gpu-id -1\n",
    ),
)


@pytest.mark.parametrize(("path", "text"), WILD)
def test_numbers_that_nobody_can_mean_break_nothing(path: str, text: str) -> None:
    result = lint_document(Document(path, text))
    assert result.internal_errors == ()
    assert not {one.rule.code for one in result.diagnostics} & {"PAR050", "PAR051", "PAR053"}


# -- which variable counts, and what a script ends ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "export CUDA_VISIBLE_DEVICES=0\nCUDA_VISIBLE_DEVICES=0,1,2,3 vllm serve m -tp 4\n",
        'if [ "$A" = b ]; then export CUDA_VISIBLE_DEVICES=0; fi\nvllm serve m -tp 4\n',
        "export CUDA_VISIBLE_DEVICES=0\nexport CUDA_VISIBLE_DEVICES=0,1,2,3\nvllm serve m -tp 4\n",
        'export CUDA_VISIBLE_DEVICES="${GPUS:-0}"\nvllm serve m -tp 4\n',
        "export CUDA_VISIBLE_DEVICES=$(pick)\nvllm serve m -tp 4\n",
        TWO.replace("&\nCUDA", "&\nPID=$!\npython bench.py\nkill $PID\nCUDA"),
        TWO.replace("&\nCUDA", "&\nwait\nCUDA"),
        TWO.replace("&\nCUDA", "&\nstop_server\nCUDA"),
        TWO.replace("=0 vllm serve b", "=1 vllm serve b").replace("CUDA_VISIBLE_DEVICES=0 ", "export CUDA_VISIBLE_DEVICES=0\n"),
    ],
)
def test_silent_scripts(text: str) -> None:
    assert codes(text, "run.sh") == []


def test_a_wait_for_both_comes_too_late_to_keep_them_apart() -> None:
    assert codes(f"{TWO.rstrip()} &\nwait\n", "run.sh") == [("PAR053", "warning")]


def test_an_export_in_the_script_beats_the_containers_variable() -> None:
    script = "export CUDA_VISIBLE_DEVICES=0,1,2,3; vllm serve m -tp 4"
    text = pod(
        f'command: [bash, -c, "{script}"]',
        image="vllm/vllm-openai:v0.20.0",
        extra='env: [{ name: CUDA_VISIBLE_DEVICES, value: "0" }]',
    )
    assert codes(text) == []
