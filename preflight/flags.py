"""What the rules on flags share: where a problem stands, how sure it is, and the remedies that the flag history knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from preflight.diagnostics import ERROR, SAFE, UNSAFE, WARNING, Finding, Fix
from preflight.engines.base import FlagProblem, Launch
from preflight.launch import flag_index
from preflight.text import Edit, Place, Span

STALE = {"--enable-flashinfer": "a switch of early releases"}
"""Flags of old releases that begin another flag's name in later ones."""
_OFFICIAL = ("lmsysorg/sglang", "docker.io/lmsysorg/sglang", "vllm/vllm-openai", "docker.io/vllm/vllm-openai")


def problems(launch: Launch, *kinds: str) -> Iterator[FlagProblem]:
    """The parser's problems of these kinds; none for a release whose flags are not known."""
    if launch.version.known:
        yield from (problem for problem in launch.problems if problem.kind in kinds)


def place(launch: Launch, problem: FlagProblem) -> Place:
    """From the first to the last token at fault; the launch's head where something is absent."""
    if problem.first < 0:
        return launch.head
    start, end = launch.site.argv[_flag_of(launch, problem)].place, launch.site.argv[problem.last].place
    if start.document is not end.document or end.span.end < start.span.start:
        return start
    return Place(start.document, Span(start.span.start, end.span.end))


def _flag_of(launch: Launch, problem: FlagProblem) -> int:
    """The token of the flag whose value is at fault."""
    if problem.kind not in ("wrong-type", "not-a-choice"):
        return problem.first
    return flag_index(launch.site.argv, problem.first)


def finding(launch: Launch, problem: FlagProblem, fact: str, remedy: str, fixes: tuple[Fix, ...] = ()) -> Finding:
    """A refusal of the parser: an error, unless another release that the project allows accepts it, or the image is not the
    engine's own and may know more flags."""
    severity, message = ERROR, f"{fact} {remedy}".strip()
    accepts = newest_that_accepts(launch, problem)
    if accepts is not None:
        works = "accepts it" if launch.version.given else "is the last that accepts it"
        severity, message = WARNING, f"{message} ({launch.engine.title} {accepts} {works}.)"
    elif not official(launch) or _conditional(launch, problem):
        severity = WARNING
    return Finding(
        message,
        place(launch, problem),
        severity=severity,
        stage="arguments" if severity is ERROR else None,
        fixes=fixes,
        data={"flag": problem.typed},
    )


def _conditional(launch: Launch, problem: FlagProblem) -> bool:
    return problem.first >= 0 and launch.site.argv[problem.first].conditional


def newest_that_accepts(launch: Launch, problem: FlagProblem) -> str | None:
    """The newest other release that may be meant and whose parser takes the token: any that the project allows, or a post
    release of the one that is given (`0.4.4` is said of 0.4.4.post2, too)."""
    for text in reversed(_may_be_meant(launch) if problem.ever else ()):
        parsed = launch.engine.parse(launch.site, text)
        refused = {other.first for other in parsed.problems if other.kind not in ("deprecated", "duplicate")}
        if problem.first not in refused:
            return text
    return None


def _may_be_meant(launch: Launch) -> Sequence[str]:
    given = launch.version.given
    if given is None:
        return launch.version.others
    return [text for text in launch.engine.releases() if text.startswith(f"{given}.post")]


def official(launch: Launch) -> bool:
    """Whether the launch runs the engine's own release, as far as can be seen: no image, or its publisher's."""
    image = launch.site.image
    return image is None or image.value.partition("@")[0].rpartition("/")[0] == "" or image.value.startswith(_OFFICIAL)


def known_version(launch: Launch) -> str:
    """`sglang 0.5.23`, and where the version is not given, that it is the newest."""
    return f"{launch.engine.title} {launch.version.text}"


def successor_text(problem: FlagProblem) -> str:
    """The remedy in words."""
    words = " ".join(problem.successor)
    if problem.successor_kind in ("renamed", "value", "mapped"):
        return f"Use {words}." if words else "Remove it."
    if problem.successor_kind == "default":
        return "Remove it: the engine does this by itself."
    if problem.successor_kind == "related":
        return f"{problem.note} Use {words}.".strip()
    return f"{problem.note} Remove it.".strip()


def successor_fixes(launch: Launch, problem: FlagProblem, applicability: str = SAFE) -> tuple[Fix, ...]:
    """The flag under its present name, with its value; or without it, where the engine does it by itself."""
    kind, words = problem.successor_kind, problem.successor
    if kind == "renamed" and len(words) == 1:
        return renamed(launch, problem, words[0], applicability)
    if kind == "mapped" and len(words) == 1 and problem.last < len(launch.site.argv) - 1:
        return _mapped(launch, problem, words[0])
    if kind in ("default", "gone"):
        return removed(launch, problem, f"Remove {problem.typed}", SAFE if kind == "default" else UNSAFE)
    if kind == "value" and len(words) == 2:
        return _replaced_switch(launch, problem, words)
    return ()


def renamed(launch: Launch, problem: FlagProblem, new: str, applicability: str) -> tuple[Fix, ...]:
    token = launch.site.argv[problem.first]
    _, equals, value = (token.value or "").partition("=")
    edit = token.replace(f"{new}{equals}{value}")
    return () if edit is None else (Fix(f"Rename {problem.typed} to {new}", (edit,), applicability),)


def _mapped(launch: Launch, problem: FlagProblem, new: str) -> tuple[Fix, ...]:
    flag, value = launch.site.argv[problem.first], launch.site.argv[problem.first + 1]
    meant = problem.successor_values.get(value.value or "")
    edits = (flag.replace(new), None if meant is None else value.replace(meant))
    if edits[0] is None or edits[1] is None:
        return ()
    return (Fix(f"Replace it by {new} {meant}", (edits[0], edits[1]), SAFE),)


def removed(launch: Launch, problem: FlagProblem, title: str, applicability: str) -> tuple[Fix, ...]:
    use = next((use for use in launch.uses if use.first == problem.first), None)
    last = problem.last if use is None else use.last
    edit = launch.site.editor.delete(problem.first, last)
    return () if edit is None else (Fix(title, (edit,), applicability),)


def _replaced_switch(launch: Launch, problem: FlagProblem, words: tuple[str, ...]) -> tuple[Fix, ...]:
    """A switch that became a value of another flag: two edits that stand apart, so the flag is rewritten where it is."""
    delete = launch.site.editor.delete(problem.first, problem.first)
    insert = launch.site.editor.insert(words[0], words[1:])
    if delete is None or insert is None or _touch(delete, insert):
        return ()
    return (Fix(f"Replace {problem.typed} by {' '.join(words)}", (delete, insert), SAFE),)


def _touch(one: Edit, other: Edit) -> bool:
    return one.path == other.path and one.span.start <= other.span.end and other.span.start <= one.span.end


def short(value: object, most: int = 60) -> str:
    """A value as it was typed, for a message."""
    text = repr(value)
    return text if len(text) <= most else f"{text[: most - 2]}…{text[-1]}"


def quoted(values: object, most: int = 8) -> str:
    """Some of many, for a message."""
    listed = [str(value) for value in values] if isinstance(values, list | tuple) else [str(values)]
    return ", ".join(listed[:most]) + (f" and {len(listed) - most} more" if len(listed) > most else "")
