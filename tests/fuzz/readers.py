"""Feeds readers what nobody would write: `python -m tests.fuzz.readers [READER…] --seconds 600`.

Counts as a failure: an exception, more than a second for one input, a token whose place lies outside the file, an edit that
raises. Each failure is written to a file of its own, with its traceback.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import FrameType

from preflight.launch import LaunchSite
from preflight.text import Document, apply_edits

SHELL = """#!/bin/bash
pip install 'sglang[all]==0.5.9'
TP=${TP:-4}; export A=1
ARGS=(--tp "$TP" --x 'a b')
[[ $S == 1 ]] && ARGS+=(--y)
if [ -n "$1" ]; then vllm serve "$1" "$@"; elif x; then :; else python -m sglang.launch_server "${ARGS[@]}" $E > log 2>&1 & fi
case $1 in a|b) M=x;; *) M=y; esac
for i in 1 2; do bash -c "vllm serve \\$M --j '{\\"a\\": 1}'"; done
cat > f <<EOF
vllm serve $M \\\\
  --tp 2
EOF
docker run --rm --gpus '"device=0,1"' -e A=1 vllm/vllm-openai:v0.9.0 --model m
CMD="vllm serve m"; CMD="$CMD --x"; eval "$CMD"
"""
COMPOSE = """x: &x {image: vllm/vllm-openai:v0.9.0, environment: {A: "1"}}
services:
  a: {<<: *x, command: "--model ${M:-m} --tp $${X} ${Y}"}
  b:
    image: lmsysorg/sglang
    entrypoint: [bash, -c, 'exec vllm serve "$$@"', --]
    command:
      - m
      - --tp
      - "${TP:-2}"
    deploy: {resources: {reservations: {devices: [{count: 2}]}}}
  c:
    command: >-
      bash -c "vllm serve m
      --x"
"""
KUBERNETES = """kind: LWS
spec:
  size: 2
  workerTemplate:
    containers:
    - name: a
      image: lmsysorg/sglang:v0.5.9
      env: [{name: TP, value: "8"}]
      command: [sh, -c]
      args:
      - |
        exec sglang serve --tp $(TP) \\
          {{- if .x }} --y {{ .z }}{{ end }} --w
      resources: {limits: {nvidia.com/gpu: 8}}
---
vllm:
  tensor-parallel-size: 2
  max-model-len: 1
  x: [1, {a: 2}]
"""
SEEDS: dict[str, list[str]] = {
    "shell": [SHELL],
    "manifest": [COMPOSE, KUBERNETES],
    "template": [
        KUBERNETES,
        '[Service]\nEnvironment="A={{ a }}"\nExecStart={{ x }}/vllm serve {% if y %}--z{% else %}--w{% endif %}\n',
    ],
    "dockerfile": [
        'FROM vllm/vllm-openai:v0.9.0 AS a\nENV A=1 B="x y"\nRUN <<EOF\nx\nEOF\nENTRYPOINT ["vllm", "serve"]\n'
        'CMD ["m", \\\n  # c\n  "--tp", "2"]\n'
    ],
    "units": ['[Service]\nEnvironment="A=b" C=d\n# c\nExecStart=/x/vllm serve m \\\n  --tp 2 $A ${B}\n'],
    "makefile": ["M ?= m\nP := 1\nrun:\n\t@vllm serve $(M) \\\n\t  --port $(P) $$X\n"],
    "hcl": ['x = <<-EOT\n  spec:\n    containers:\n    - command: [vllm, serve, "${var.m}"]\nEOT\n'],
    "launch_file": [
        'engine = "sglang"  # c\nengine-version = "0.5.9"\nhardware = { gpu = "h200", count = 8 }\n'
        '[model]\nprofile = "qwen3-32b"\n'
        "[flags]\ntp-size = 8\nmem-fraction-static = 0.9\ncuda-graph-bs = [1, 2,\n 4]\ntrust-remote-code = true\n"
        '[env]\nA = "x"\n[observed]\nfree-before-load = ["94.0 GiB", "93.9 GiB"]\n',
        'engine = "vllm"\n[[launch]]\nname = "a"\nflags.max-model-len = 0x10\nflags.x = """a\n\\\n b"""\n[[launch]]\n'
        "flags = { a-b = 1_000, \"c\" = 'd', e = -0.5e3 }\n",
    ],
    "python": [
        'import os\nM = "m"\ncmd = ["vllm", "serve", M, f"--x={M}", str(8), *a]\ncmd += ["--y"]\nos.system("vllm serve m")\n'
    ],
}
_MARKS = "\"'\\$`{}[]()<>|&;#:,-*!~%@=+\n\t\r \x00\x85\u2028é😀"
PIECES = [
    *_MARKS,
    "${",
    "$(",
    "))",
    "<<EOF\n",
    "EOF\n",
    "{{",
    "}}",
    "{%",
    "%}",
    "vllm serve ",
    "python -m sglang.launch_server ",
    "--",
    "- ",
    "|\n",
    ">-\n",
    "&a ",
    "*a ",
    "<<: ",
    "---\n",
    "if ",
    "then ",
    "fi\n",
    "case x in ",
    "esac",
    "\\\n",
    "\r\n",
    "bash -c ",
    "$@",
    "eval ",
    "docker run ",
    "${A[@]}",
    "A=(",
    "A+=",
    '"""',
    "command: ",
    "args:\n",
    "image: vllm/vllm-openai\n",
    "  ",
    "\n\t",
    "%{",
    "$$",
]


def nested(opening: str, closing: str = "") -> Callable[[random.Random], str]:
    def make(chance: random.Random) -> str:
        count = chance.choice([50, 500, 5000, 50000])
        return opening * count + "vllm serve m" + closing * count

    return make


def bomb(chance: random.Random) -> str:
    """Aliases of aliases: two to the power of many."""
    count = chance.choice([10, 30, 100])
    lines = ["a0: &a0 {image: vllm/vllm-openai, command: [--model, m]}"]
    lines += [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}]" for n in range(1, count)]
    return "\n".join(lines)


def doubling(chance: random.Random) -> str:
    """Variables of variables."""
    count = chance.choice([10, 40])
    lines = ["A0=x", "B0=(x)"]
    for n in range(1, count):
        lines += [f'A{n}="$A{n - 1} $A{n - 1}"', f'B{n}=("${{B{n - 1}[@]}}" "${{B{n - 1}[@]}}")']
    return "\n".join([*lines, f'vllm serve $A{count - 1} "${{B{count - 1}[@]}}"'])


def long_line(chance: random.Random) -> str:
    pieces = ["--x 1 ", "x", "'", '"', "$X ", "\\", "{{ ", "${", "(", "a: ", "- ", "[", "# ", "$(a "]
    return "vllm serve m " + chance.choice(pieces) * 150_000


MONSTERS = [
    bomb,
    doubling,
    long_line,
    nested("["),
    nested("{"),
    nested("- "),
    nested("("),
    nested("((", "))"),
    nested("$(", ")"),
    nested("${A:-", "}"),
    nested('bash -c "'),
    nested("if x; then\n", "fi\n"),
    nested("{{ if x }}", "{{ end }}"),
    nested("a:\n "),
    nested("x && "),
    nested("x | "),
    nested("<<A "),
    nested("`"),
    nested("case x in a) "),
    nested("f() { ", "}"),
    nested("\\\n"),
]


def mutate(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 12)):
        at = chance.randint(0, len(text))
        end = min(len(text), at + chance.choice([0, 0, 1, 2, 8, 40]))
        kind = chance.random()
        if kind < 0.6:
            text = text[:at] + chance.choice(PIECES) * chance.choice([1, 1, 1, 3]) + text[end:]
        elif kind < 0.8:
            text = text[:at] + text[end:]
        else:
            other = chance.randint(0, len(text))
            text = text[:other] + text[at:end] + text[other:]
    return text


class Slow(Exception):
    pass


def _late(_signal: int, _frame: FrameType | None) -> None:
    raise Slow("more than 5 seconds")


def check(reader: str, text: str) -> None:
    """Raises where something is wrong."""
    document = Document("f", text)
    reading = import_module(f"preflight.readers.{reader}").read(document)
    for site in reading.sites:
        check_site(site, text)
    for problem in reading.problems:
        start, end = problem.finding.at.span
        assert 0 <= start <= end <= len(text), "a problem lies outside"


def check_site(site: LaunchSite, text: str) -> None:
    for token in (*site.argv[:50], *(variable.token for variable in site.env[:20])):
        start, end = token.place.span
        assert 0 <= start <= end <= len(text), "a word lies outside"
        assert (token.value is None) == (token.state in ("unknown", "opaque")), "an unknown word has a value"
        edit = token.replace("new value")
        if edit is not None:
            apply_edits(text, [edit])
    site.editor.insert("--new", ["1"])
    if site.argv:
        site.editor.delete(0, 0)
        site.editor.delete(len(site.argv) - 1, len(site.argv) - 1)


def fuzz(reader: str, seconds: float, seed: int, into: Path) -> int:
    chance = random.Random(seed)
    failures = count = 0
    slowest = 0.0
    stop = time.monotonic() + seconds
    while time.monotonic() < stop:
        if chance.random() < 0.02:
            text = chance.choice(MONSTERS)(chance)
        else:
            text = mutate(chance.choice(SEEDS[reader]), chance)
        signal.setitimer(signal.ITIMER_PROF, 5)
        began = time.process_time()
        try:
            check(reader, text)
            took = time.process_time() - began
            if took > 1:
                raise Slow(f"{took:.1f} s")
            slowest = max(slowest, took)
        except Exception:
            failures += 1
            into.mkdir(parents=True, exist_ok=True)
            (into / f"{reader}-{failures}.txt").write_text(text, errors="surrogatepass")
            (into / f"{reader}-{failures}.trace").write_text(traceback.format_exc())
            print(
                reader, failures, traceback.format_exc().strip().splitlines()[-1][:200], f"({len(text)} characters)", flush=True
            )
            if failures >= 20:
                break
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        count += 1
    print(f"{reader}: {count} inputs, {failures} failures, slowest {slowest:.2f} s", flush=True)
    return failures


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("readers", nargs="*")
    arguments.add_argument("--seconds", type=float, default=600)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--into", type=Path, default=Path("fuzz-failures"))
    given = arguments.parse_args()
    signal.signal(signal.SIGPROF, _late)
    return min(1, sum(fuzz(reader, given.seconds, given.seed, given.into) for reader in given.readers or SEEDS))


if __name__ == "__main__":
    sys.exit(main())
