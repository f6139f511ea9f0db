"""Make up launches to put to an engine's own argument code: the same seed, version and count give the same launches.

    PYTHONPATH=. python -m tests.conformance.generate --version 0.5.9 --seed 1 --count 900 > requests.jsonl

A request is one JSON object a line: `id`, `row` (the rule aimed at, with its side; "mix", "soup"), `argv`, `env`, `gpu`
(name, MiB as nvidia-smi reports, compute capability, count) and `model` (short name). scenarios.txt holds launches on
either side of each rule, settings.txt what mixtures are made of, recorded/flags the version's own parser. No verdict is
made here.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.conformance.flags import Flag, load_flags

HERE = Path(__file__).parent

# The rules that users hit most.
# fmt: off
STARRED = (
    "P1", "P2", "P3", "P6", "P9", "P10", "P11", "M1", "M3", "M8", "M9", "G1", "G2", "A6", "A7", "A8", "A9", "A11", "S2", "S3",
    "S4", "S5", "S7", "S10", "Q1", "E1", "E2", "E3", "E18", "R2", "R3", "R7", "L2", "L3", "H1", "D1", "D7", "C1", "C3", "I1",
)
# fmt: on

# name, MiB, compute capability
CARDS: dict[str, tuple[str, int, tuple[int, int]]] = {
    "h100": ("NVIDIA H100 80GB HBM3", 81559, (9, 0)),
    "h200": ("NVIDIA H200", 143771, (9, 0)),
    "h20": ("NVIDIA H20", 97871, (9, 0)),
    "a100": ("NVIDIA A100-SXM4-80GB", 81920, (8, 0)),
    "a100-40": ("NVIDIA A100-SXM4-40GB", 40960, (8, 0)),
    "l40s": ("NVIDIA L40S", 46068, (8, 9)),
    "4090": ("NVIDIA GeForce RTX 4090", 24564, (8, 9)),
    "t4": ("Tesla T4", 15360, (7, 5)),
    "b200": ("NVIDIA B200", 183359, (10, 0)),
    "b300": ("NVIDIA B300 SXM6 AC", 275040, (10, 3)),
    "pro6000": ("NVIDIA RTX PRO 6000 Blackwell Server Edition", 97887, (12, 0)),
    "5090": ("NVIDIA GeForce RTX 5090", 32607, (12, 0)),
}
ARCHES = {
    "": "h100 h100 h100 h200 h200 a100 l40s b200 pro6000",
    "any": "h100 h100 h200 h20 a100 a100-40 l40s 4090 t4 b200 b200 b300 pro6000 5090",
    "small": "a100-40 l40s 4090 t4 5090",
    "turing": "t4",
    "ampere": "a100 a100-40",
    "hopper": "h100 h200 h20",
    "pre": "h100 h200 a100 l40s",
    "sm100": "b200 b200 b300",
    "sm120": "pro6000 5090",
    "blackwell": "b200 b200 b300 pro6000",
    "modern": "h100 h200 b200 b200 b300 pro6000",
}
POOLS = {
    "dense": "llama-3.1-8b|qwen3-8b|qwen3-32b|llama-3.3-70b|qwen3-0.6b",
    "moe": "qwen3-30b-a3b|mixtral-8x7b|qwen3-235b-a22b|glm-4.5-air|qwen3-235b-a22b-fp8",
    "ds": "deepseek-v3",
    "mla": "deepseek-v3|kimi-k2.5",
    "nvfp4": "deepseek-v3.1-nvfp4 --quantization modelopt_fp4",
    "oss": "gpt-oss-20b|gpt-oss-120b",
    "vl": "qwen2.5-vl-7b|qwen3-vl-8b",
    "hyb": "qwen3-next-80b-a3b",
    "any": "llama-3.1-8b|llama-3.1-8b|qwen3-8b|qwen3-32b|llama-3.3-70b|qwen3-30b-a3b|mixtral-8x7b|deepseek-v3 --tp-size 8|"
    "gpt-oss-20b|gpt-oss-120b|qwen2.5-vl-7b|gemma-3-27b|glm-4.5-air|qwen3-next-80b-a3b|qwen3-235b-a22b-fp8|qwen3-32b-awq",
    "every": "<any>|deepseek-v3.1-nvfp4|deepseek-v3.2|deepseek-v4-flash|gemma-4-26b-a4b|kimi-k2.5|kimi-k2.5-nvfp4|"
    "llama-4-scout|minimax-m2.5|nemotron-3-nano|qwen3-235b-a22b|qwen3-235b-a22b-nvfp4|qwen3-32b-gptq|qwen3-vl-8b|qwen3.5-27b|qwen3-0.6b",
    "addr": "10.0.0.1:5000|node-0:20000|192.168.1.10:50000",
    "e3": "--speculative-algorithm EAGLE3 --speculative-draft-model-path draft-eagle3-llama-3.1-8b",
    "eagle": "--speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4|"
    "--speculative-num-steps 5 --speculative-eagle-topk 8 --speculative-num-draft-tokens 64|"
    "--speculative-num-steps 1 --speculative-eagle-topk 1 --speculative-num-draft-tokens 2|"
    "--speculative-num-steps 4 --speculative-eagle-topk 4 --speculative-num-draft-tokens 8",
    "lora": "--enable-lora --max-lora-rank 16 --lora-target-modules q_proj",
}
# The newest name first; a version takes one of those it has.
RENAMED = {
    "--cuda-graph-max-bs-decode": "--cuda-graph-max-bs",
    "--cuda-graph-bs-decode": "--cuda-graph-bs",
    "--cuda-graph-max-bs-prefill": "--piecewise-cuda-graph-max-tokens",
    "--mamba-radix-cache-strategy": "--mamba-scheduler-strategy",
    "--dsa-prefill-backend": "--nsa-prefill-backend",
    "--dsa-decode-backend": "--nsa-decode-backend",
}
# Beside the point of any rule: put around scenarios so that no two launches look alike.
NEUTRAL = (
    "--host 0.0.0.0",
    "--port <30000|8000|8080>",
    "--trust-remote-code",
    "--enable-metrics",
    "--log-level <info|warning>",
    "--watchdog-timeout <300|600>",
    "--served-model-name <m|my-model>",
    "--max-running-requests <32|64|200>",
    "--mem-fraction-static <0.7|0.8|0.85>",
    "--random-seed 7",
    "--download-dir /data",
    "--stream-interval 2",
    "--decode-log-interval 20",
    "--api-key k",
)
# Not part of a plain launch on CUDA cards, or read files and plugins.
NO_SOUP = re.compile(
    "config|path|url|device|dir|folder|file|hook|cert|plugin|ray|addr|port|endpoint|mindspore|token-oracle|model|tokenizer$|daemon|socket"
)


class Scenario(NamedTuple):
    row: str  # "P1"
    side: str  # "!" trigger, "=" twin, "?" usage error
    text: str


class Version(NamedTuple):
    flags: dict[str, Flag]  # by spelling

    def has(self, name: str, values: list[str]) -> bool:
        """Whether the parser takes this flag with these values, as far as its choices say."""
        flag = self.flags.get(name)
        return flag is not None and (not flag.choices or all(value in flag.choices for value in values))


def lines_of(name: str) -> list[str]:
    return [line for line in (HERE / name).read_text().splitlines() if line and not line.startswith("#")]


def split(text: str) -> Iterator[str]:
    """One line for each word of a <…> whose words are flags, so that none of them depends on luck."""
    for match in re.finditer(r"<([^<>]*)>", text):
        words = match[1].split("|")
        if any(word.startswith("--") for word in words):
            for word in words:
                yield from split(text[: match.start()] + ("" if word == "-" else word) + text[match.end() :])
            return
    yield text


def scenarios() -> list[Scenario]:
    found = []
    for line in lines_of("scenarios.txt"):
        row, side, text = re.fullmatch(r"([A-Z]+\d+)([!=?]) (.+)", line).groups()  # type: ignore[union-attr]
        found += [Scenario(row, side, each) for each in split(text)]
    return found


def expand(text: str, rng: random.Random) -> str:
    """Replace each <…>, innermost first, by one of its words or of its pool's."""
    while match := re.search(r"<([^<>]*)>", text):
        words = match[1].split("|")
        word = rng.choice(words)
        if word in POOLS:
            word = expand(rng.choice(POOLS[word].split("|")), rng)
        elif word == "-" and len(words) > 1:
            word = ""
        text = text[: match.start()] + word + text[match.end() :]
    return text


def groups(argv: list[str]) -> list[list[str]]:
    """Split into flags with their values (a negative number is a value)."""
    found: list[list[str]] = []
    for token in argv:
        if token.startswith("--") or not found:
            found.append([token])
        else:
            found[-1].append(token)
    return found


def fit(argv: list[str], version: Version, rng: random.Random) -> list[list[str]] | None:
    """Spell each flag as the version does; None when it lacks one, or one's value."""
    fitted = []
    for name, *values in groups(argv):
        names = [name for name in (name, RENAMED.get(name, name)) if version.has(name, values)]
        if not names:
            return None
        fitted.append([rng.choice(names), *values])
    return fitted


def respell(parts: list[list[str]], version: Version, rng: random.Random) -> list[str]:
    """Use other spellings that mean the same now and then: aliases, unique prefixes, `--flag=value`."""
    argv = []
    for name, *values in parts:
        flag = version.flags[name]
        dice = rng.random()
        if dice < 0.08:
            name = rng.choice(flag.spellings)
        elif dice < 0.13 and len(name) > 8:
            prefix = name[: rng.randint(6, len(name) - 1)]
            name = prefix if [n for n in version.flags if n.startswith(prefix)] == [name] else name
        if len(values) == 1 and flag.nargs is None and rng.random() < 0.1:
            argv.append(f"{name}={values[0]}")
        else:
            argv += [name, *values]
    return argv


def described(arch: str, rng: random.Random) -> dict[str, Any]:
    name, mib, cc = CARDS[rng.choice(ARCHES[arch].split())]
    return {"name": name, "mib": mib, "cc": list(cc), "count": rng.choice([8, 8, 8, 4])}


def request(row: str, text: str, version: Version, rng: random.Random, strict: bool) -> dict[str, Any] | None:
    """One launch from a line; with `strict` None when the version lacks what it uses."""
    tokens = shlex.split(expand(text, rng))
    env = dict(token.split("=", 1) for token in tokens if re.match(r"[A-Z][A-Z0-9_]+=", token))
    arch = next((token[1:] for token in tokens if token.startswith("@")), "")
    words = [token for token in tokens if not token.startswith("@") and not re.match(r"[A-Z][A-Z0-9_]+=", token)]
    model = None if words[0].startswith("--") else words[0]
    argv = words if model is None else ["--model-path", *words]
    if strict:
        parts = fit(argv, version, rng)
        if parts is None:
            return None
        taken = {version.flags[name].dest for name, *_ in parts}
        if not re.match(r"mix|soup|[MGU]\d", row):  # memory and graph defaults look at nearly everything
            for line in rng.sample(NEUTRAL, rng.choice([0, 0, 0, 1, 2])):
                extra = fit(shlex.split(expand(line, rng)), version, rng)
                if extra and version.flags[extra[0][0]].dest not in taken:
                    parts.insert(rng.randint(1, len(parts)), extra[0])
        argv = respell(parts, version, rng)
    return {"row": row, "argv": argv, "env": env, "gpu": described(arch, rng), "model": model}


def dealt(lines: list[Scenario], rng: random.Random) -> Iterator[Scenario]:
    """Starred rules first, then the others, a line of each side at a time; then whatever is left, again and again."""
    while True:
        deck = rng.sample(lines, len(lines))
        seen: set[tuple[str, str]] = set()
        first: list[Scenario] = []
        rest: list[Scenario] = []
        for line in deck:
            key = (line.row, line.side)
            (rest if key in seen else first).append(line)
            seen.add(key)
        yield from sorted(first, key=lambda line: line.row not in STARRED)
        yield from sorted(rest, key=lambda line: line.row not in STARRED)


def mixture(habits: list[str], rng: random.Random) -> str:
    size = rng.choice(["", "", "--tp-size 2", "--tp-size 4", "--tp-size 8", "--tp-size 8"])
    model = rng.choice(["<any>", "<any>", "<every>", "<dense>", "<moe>", "<ds> --tp-size 8", "<vl|hyb|oss>"])
    return " ".join([model, size, *rng.sample(habits, rng.randint(1, 6)), "@any"])


def soup(version: Version, rng: random.Random) -> str:
    """A few flags of the version's own list, each with a value that its type allows."""
    names = sorted(name for name in version.flags if not NO_SOUP.search(name) and name == version.flags[name].spellings[0])
    words = [rng.choice(["<any>", "<dense>", "<moe>", "<every>"]), rng.choice(["", "--tp-size 2", "--tp-size 8"]), "@any"]
    for name in rng.sample(names, rng.randint(2, 5)):
        flag = version.flags[name]
        if flag.choices:
            words += [name, rng.choice(flag.choices)]
        elif flag.switch:
            words.append(name)
        elif flag.type == "int" and flag.nargs is None:
            words += [name, str(rng.choice([0, 1, 2, 4, 8, 64, 1024]))]
        elif flag.type == "float" and flag.nargs is None:
            words += [name, str(rng.choice([0.1, 0.5, 0.9, 1.0, 2.0]))]
    return " ".join(words)


def launches(version: Version, count: int, rng: random.Random) -> Iterator[dict[str, Any]]:
    """`count` launches, no two alike: two thirds on rules, the rest mixtures, soups and a few usage errors."""
    lines = [line for line in scenarios() if count >= 400 or not re.match(r"[A-Z][A-Z0-9_]+=", line.text)]  # dear: an import each
    aimed = dealt([line for line in lines if line.side != "?"], rng)
    wrong = dealt([line for line in lines if line.side == "?"], rng)
    habits = lines_of("settings.txt")
    seen = set()
    made = tries = 0
    while made < count and tries < 40 * count:
        tries += 1
        share = made % 20
        if share < 13:
            line = next(aimed)
            found = request(line.row + line.side, line.text, version, rng, strict=True)
        elif share < 18:
            found = request("mix", mixture(habits, rng), version, rng, strict=True)
        elif share < 19:
            found = request("soup", soup(version, rng), version, rng, strict=True)
        else:
            line = next(wrong)
            found = request(line.row + line.side, line.text, version, rng, strict=False)
        key = found and json.dumps([found["argv"], found["env"], found["gpu"]])
        if found and key not in seen:
            seen.add(key)
            made += 1
            yield {"id": made, **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--version", required=True, help="a covered version of SGLang, such as 0.5.9")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, required=True)
    options = parser.parse_args()
    rng = random.Random(f"{options.version} {options.seed}")
    version = Version({name: flag for flag in load_flags(options.version) for name in flag.spellings})
    for launch in launches(version, options.count, rng):
        print(json.dumps(launch))


if __name__ == "__main__":
    main()
