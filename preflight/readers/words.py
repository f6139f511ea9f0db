"""How a command line is recognised as the launch of a server."""

from __future__ import annotations

import re
from collections.abc import Sequence

from preflight.launch import OPAQUE, Token
from preflight.readers.editing import Argument
from preflight.readers.shellvars import names_flags
from preflight.records import NamedTuple

ANCHOR = re.compile(r"sglang|vllm", re.I)

_MODULES = {
    "sglang.launch_server": "sglang",
    "vllm.entrypoints.openai.api_server": "vllm",
    "vllm.entrypoints.api_server": "vllm",
    "dynamo.sglang": "sglang",
    "dynamo.vllm": "vllm",
}
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ash", "ksh"})
_NO_LAUNCH = re.compile(
    r"(?:echo|printf|pkill|[pefr]?grep|rg|ps|kill|killall|cat|sed|awk|which|command|type|man|curl|wget|git|tail|head|less|alias"
    r"|unset|test|\[|trap|hash|whereis|read|apt|apt-get|pip[\d.]*|export)\Z"
)
_SAYS = re.compile(
    r"(?:log|print|echo|info|warn|err|msg|say|note|debug|die|usage|success|fail|title|header|step|banner)[\w-]*\Z", re.I
)
_ASKS = frozenset({"--help", "-h", "--version", "--help=all"})
_TAKES_SCRIPT = frozenset(
    {"ssh", "tmux", "screen", "su", "runuser", "pdsh", "clush", "watch", "script", "sshpass", "wsl", "sbatch"}
)
_PYTHON_VARIABLE = re.compile(r"py", re.I)
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*\Z")
_DOCKER = frozenset({"docker", "podman", "nerdctl"})
_DOCKER_SWITCHES = re.compile(
    r"--(?:rm|init|privileged|read-only|detach|interactive|tty|publish-all|no-healthcheck|oom-kill-disable|sig-proxy|quiet"
    r"|disable-content-trust|replace|tls-verify|no-hosts|help)\Z"
)
_SHORT_SWITCHES = frozenset("ditPq")


class Found(NamedTuple):
    """`head`: index of the first word of the server's own command; its arguments start at `first`."""

    engine: str
    entry: str
    head: int
    first: int


class DockerRun(NamedTuple):
    """`docker run`: the options by name, the index of the image, and of an `--entrypoint`."""

    image: int
    options: tuple[tuple[str, Token, int], ...]
    entrypoint: int | None


def base_name(token: Token) -> str:
    """The last path component of a word, as far as it is known."""
    return token.text.rstrip("/").rpartition("/")[2]


def silent(arguments: Sequence[Argument]) -> bool:
    """Whether the command only speaks of launches (`echo`, `pkill -f`, `pip install`)."""
    for argument in arguments:
        name = base_name(argument.token)
        if name in ("sudo", "time", "-E", "-n"):
            continue
        return _NO_LAUNCH.match(name) is not None or _SAYS.match(name) is not None
    return True


def find_launch(arguments: Sequence[Argument]) -> Found | None:
    """The server that these words start."""
    values = [argument.token.value for argument in arguments]
    for index, value in enumerate(values):
        following = values[index + 1] if index + 1 < len(values) else None
        found = None
        if value == "-m" and following is not None:
            found = _module(arguments, values, index, following)
        elif following == "serve" and arguments[index].token.state != OPAQUE:
            name = base_name(arguments[index].token)
            if name in ("vllm", "sglang"):
                found = Found(name, f"{name} serve", index, index + 2)
        if found is not None:
            return None if any(word in _ASKS for word in values[found.first :]) else found
    return None


def _module(arguments: Sequence[Argument], values: Sequence[str | None], index: int, module: str) -> Found | None:
    head = index
    while head > 0 and head > index - 4:
        head -= 1
        word = arguments[head].token
        if _PYTHON.search(base_name(word)) or (word.value is None and _PYTHON_VARIABLE.search(word.text)):
            break
        if word.value is None or not word.value.startswith("-"):
            head = index
            break
    if module == "vllm.entrypoints.cli.main" and index + 2 < len(values) and values[index + 2] == "serve":
        return Found("vllm", "vllm serve", head, index + 3)
    engine = _MODULES.get(module)
    if engine is not None:
        return Found(engine, module, head, index + 2)
    for name in ("dynamo.sglang", "dynamo.vllm"):
        if module.startswith(name + "."):
            return Found(_MODULES[name], name, head, index + 2)
    return None


def nested_shell(arguments: Sequence[Argument]) -> int | None:
    """The index of the script in `bash -c SCRIPT [NAME ARGUMENTS…]`."""
    for index, argument in enumerate(arguments):
        if base_name(argument.token) not in _SHELLS:
            continue
        for offset in range(index + 1, min(index + 8, len(arguments) - 1)):
            text = arguments[offset].token.text
            if re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", text):
                dashes = arguments[offset + 1].token.value == "--" and offset + 2 < len(arguments)
                return offset + 2 if dashes else offset + 1
            if not text.startswith(("-", "+")) and arguments[offset - 1].token.text not in ("-o", "-O", "+o"):
                break
    return None


def script_words(arguments: Sequence[Argument]) -> list[int]:
    """Indices of words that a command (`ssh`, `tmux`, …) hands to a shell."""
    if not arguments:
        return []
    names = [base_name(argument.token) for argument in arguments[:3]]
    if names[0] == "eval" or not _TAKES_SCRIPT.isdisjoint(names):
        return [index for index, argument in enumerate(arguments) if index and re.search(r"\s", argument.token.text)]
    return []


def docker_run(arguments: Sequence[Argument]) -> DockerRun | None:
    """The parts of `docker run [OPTIONS] IMAGE [COMMAND]`."""
    for index, argument in enumerate(arguments[:-1]):
        if base_name(argument.token) in _DOCKER:
            following = index + 1
            while following < len(arguments) - 1 and arguments[following].token.text in ("container", "--context", "-H"):
                following += 1
            if arguments[following].token.value in ("run", "create"):
                return _docker_options(arguments, following + 1)
            return None
    return None


def _docker_options(arguments: Sequence[Argument], at: int) -> DockerRun | None:
    options: list[tuple[str, Token, int]] = []
    entrypoint = None
    while at < len(arguments):
        token = arguments[at].token
        text = token.text
        if token.state == OPAQUE:
            if names_flags(text.strip("\"'${}[]@*")):
                at += 1
                continue
            return DockerRun(at, tuple(options), entrypoint)
        if not text.startswith("-"):
            return DockerRun(at, tuple(options), entrypoint)
        name, equals, _value = text.partition("=")
        if text.startswith("--"):
            if equals:
                options.append((name, token, len(name) + 1))
                entrypoint = at if name == "--entrypoint" else entrypoint
            elif _DOCKER_SWITCHES.match(name) is None and at + 1 < len(arguments):
                at += 1
                options.append((name, arguments[at].token, 0))
                entrypoint = at if name == "--entrypoint" else entrypoint
        elif len(text) == 2 and text[1] not in _SHORT_SWITCHES and at + 1 < len(arguments):
            at += 1
            options.append((text, arguments[at].token, 0))
        elif len(text) > 2 and text[1] not in _SHORT_SWITCHES:
            options.append((text[:2], token, 2))
        elif len(text) > 2 and text[-1] not in _SHORT_SWITCHES and at + 1 < len(arguments):  # -ite A=1
            at += 1
            options.append(("-" + text[-1], arguments[at].token, 0))
        at += 1
    return None
