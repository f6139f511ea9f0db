"""What comments say to preflight: `# preflight: ignore[MEM001] reason`, `# preflight: ignore-file[…]`,
`# preflight: hardware=8x-h200 model=Qwen/Qwen3-8B version=0.5.9`.

Readers find the comments and know what stands below one; this module knows what they say. Files without the word `preflight`
cost one search.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from preflight.diagnostics import SAFE, WARNING, Diagnostic, Finding, Fix, Problem, Rule
from preflight.launch import LaunchSite, Suppression
from preflight.records import NamedTuple
from preflight.text import Document, Edit, Located, Place, Span

UNUSED, MALFORMED, UNKNOWN_CODE = "CFG007", "CFG008", "CFG009"

CONTEXT_KEYS = ("hardware", "model", "version")

# Compiled when a comment is read, which most files do not need: `re` keeps them.
_DIRECTIVE = r"# preflight: (?P<word>ignore|ignore-file)\[(?P<codes>[^\[\]\r\n]*)\](?=\s|\Z)"
_CONTEXT = r"#\s*preflight:(?P<pairs>(?:\s+[A-Za-z][\w-]*=[^\s=]\S*)+)\s*\Z"
_PAIR = r"([A-Za-z][\w-]*)=(\S+)"
_NEAR_MISS = (
    r"(?i)#\s*preflight\s*[:=-]?\s*(?:ignore|ignored|noqa|nolint|disable|suppress|skip)"
    r"(?:[-_ ]?(?:next[-_ ]?)?(?:file|line))?(?:\s*$|\s*[\[(:=]|\s+[A-Z]{3}\d{3})"
)
_CODE = r"[^\s,]+"
_HASH = r"(?m)(?:^|(?<=\s))#[^\r\n]*"


class Context(NamedTuple):
    """What a comment says of the launches below it."""

    key: str
    value: Located[str]


class Comments(NamedTuple):
    suppressions: tuple[Suppression, ...] = ()
    problems: tuple[Problem, ...] = ()
    context: tuple[Context, ...] = ()


NOTHING = Comments()

Extent = Callable[[int, bool], Place | None]
"""The whole thing (a table, a list, a command) at an offset: with `below`, which starts there, as the first code below a
comment that stands alone; else which ends there, before a comment on its last line. None: the line is all there is."""


def _line_is_all(offset: int, below: bool) -> Place | None:
    return None


def hash_comments(document: Document) -> list[Span]:
    """Where comments that start with `#` may be, for kinds whose parser does not keep them; only those which name preflight."""
    if "preflight" not in document.text.lower():
        return []
    return [Span(*match.span()) for match in re.finditer(_HASH, document.text) if "preflight" in match[0].lower()]


def read_comments(document: Document, comments: Iterable[Span] | None = None, extent: Extent = _line_is_all) -> Comments:
    """What the comments at `comments` say; without them, what all that looks like a `#` comment says."""
    if "preflight" not in document.text and "preflight" not in document.text.lower():
        return NOTHING
    suppressions: list[Suppression] = []
    problems: list[Problem] = []
    context: list[Context] = []
    for span in hash_comments(document) if comments is None else comments:
        text = document.text[span.start : span.end]
        matches = list(re.finditer(_DIRECTIVE, text))
        suppressions += [_suppression(document, span, match, extent) for match in matches]
        missed = re.search(_NEAR_MISS, re.sub(_DIRECTIVE, lambda match: " " * len(match[0]), text))
        pairs = None if matches or missed else re.search(_CONTEXT, text)
        if pairs is not None:
            for pair in re.compile(_PAIR).finditer(text, pairs.start("pairs")):
                start = span.start + pair.start()
                _context(document, start, pair[1], pair[2], context, problems)
            continue
        if missed is not None:
            place = document.place(span.start + missed.start(), span.end)
            problems.append(_near_miss(place, document.text[place.span.start : place.span.end]))
    return Comments(tuple(suppressions), tuple(problems), tuple(context))


def _suppression(document: Document, comment: Span, match: re.Match[str], extent: Extent) -> Suppression:
    start = comment.start + match.start("codes")
    codes = tuple(
        Located(code[0], document.place(start + code.start(), start + code.end())) for code in re.finditer(_CODE, match["codes"])
    )
    at = document.place(comment.start + match.start(), comment.start + match.end())
    return Suppression(codes, None if match["word"] == "ignore-file" else _covers(document, comment, extent), at)


def _covers(document: Document, comment: Span, extent: Extent) -> Place:
    """The line of the comment; where it stands alone, what begins below it, with further comments between."""
    text, lines = document.text, document.lines
    line = lines.position(comment.start)[0]
    alone = not text[lines.line_start(line) : comment.start].strip()
    if not alone:
        start = lines.line_start(line)
        code_end = start + len(text[start : comment.start].rstrip())
        return extent(code_end, False) or _line(document, line)
    while line < lines.line_count:
        line += 1
        code = _line(document, line)
        written = text[code.span.start : code.span.end]
        if not written.lstrip().startswith("#"):
            first = code.span.start + len(written) - len(written.lstrip())
            return extent(first, True) or code
    return _line(document, line)


def _line(document: Document, line: int) -> Place:
    lines = document.lines
    end = lines.line_start(line + 1) if line < lines.line_count else len(document.text)
    return document.place(lines.line_start(line), end)


def _near_miss(place: Place, written: str) -> Problem:
    codes = re.findall(r"\b[A-Z]{3}\d{3}\b", written)
    whole_file = "file" in written.lower()
    meant = f"# preflight: ignore{'-file' if whole_file else ''}[{', '.join(codes) or 'CODE'}]"
    written = written.strip()
    shown = written if len(written) <= 60 else written[:57] + "…"
    message = f"preflight does not read {shown!r}. Write {meant!r}, with the reason behind it."
    return Problem(MALFORMED, Finding(message, place, WARNING))


def _context(document: Document, start: int, key: str, value: str, context: list[Context], problems: list[Problem]) -> None:
    if key in CONTEXT_KEYS:
        value_start = start + len(key) + 1
        context.append(Context(key, Located(value, document.place(value_start, value_start + len(value)))))
        return
    message = f"{key} is not known in a comment for preflight. Use {', '.join(CONTEXT_KEYS[:-1])} or {CONTEXT_KEYS[-1]}."
    problems.append(Problem(MALFORMED, Finding(message, document.place(start, start + len(key) + 1 + len(value)), WARNING)))


def with_context(site: LaunchSite, context: Sequence[Context]) -> LaunchSite:
    """The site with what comments say of it: one that is alone in its file speaks of all launches, of several the last one
    above the launch. A comment wins over what a reader inferred, and gives way to keys of a launch file."""
    own = site.kind == "toml"
    for key in CONTEXT_KEYS:
        said = [one.value for one in context if one.key == key]
        if len(said) > 1:
            said = [one for one in said if one.place.span.start < site.head.span.start][-1:]
        if not said:
            continue
        value = said[0]
        if key == "version":
            if not (own and site.version is not None):
                site = site._replace(version=value)
            continue
        table: Mapping[str, Located[object]] = site.hardware if key == "hardware" else site.model
        if "profile" in table and own:
            continue
        merged = {**table, "profile": Located[object](value.value, value.place)}
        site = site._replace(hardware=merged) if key == "hardware" else site._replace(model=merged)
    return site


def covered(suppression: Suppression, code: str, at: Place, known: Mapping[str, str]) -> bool:
    """Whether `suppression` names `code` and covers `at`. `known` maps code, name and alias to the code."""
    covers = suppression.covers
    if suppression.at.path != at.path:
        return False
    if covers is not None and not covers.span.start <= at.span.start < max(covers.span.end, covers.span.start + 1):
        return False
    return any(_means(one.value, code, known) for one in suppression.codes)


def _means(written: str, code: str, known: Mapping[str, str]) -> bool:
    return known.get(written) == code or (len(written) >= 3 and written.isalnum() and code.startswith(written))


def names_of(rules: Iterable[Rule]) -> dict[str, str]:
    """Every code, name and alias, to its code."""
    return {name: rule.code for rule in rules for name in (rule.code, rule.name, *rule.aliases)}


def suppress(
    diagnostics: Iterable[Diagnostic], suppressions: Sequence[Suppression], known: Mapping[str, str], ran: Collection[str]
) -> tuple[list[Diagnostic], list[Problem]]:
    """What is left of `diagnostics`, and what is wrong with the suppressions: a code that no rule has, a code that hid
    nothing though its rule, by its code in `ran`, was run."""
    if not suppressions:
        return list(diagnostics), []
    used: set[tuple[int, int]] = set()
    kept: list[Diagnostic] = []
    for diagnostic in diagnostics:
        hidden = False
        for index, suppression in enumerate(suppressions):
            if not covered(suppression, diagnostic.rule.code, diagnostic.at, known):
                continue
            hidden = True
            for number, code in enumerate(suppression.codes):
                if _means(code.value, diagnostic.rule.code, known):
                    used.add((index, number))
        if not hidden:
            kept.append(diagnostic)
    problems: list[Problem] = []
    for index, suppression in enumerate(suppressions):
        if not suppression.codes:
            message = "This suppression names no code, so it hides nothing. Name the codes: # preflight: ignore[MEM001]."
            problems.append(Problem(MALFORMED, Finding(message, suppression.at, WARNING)))
        for number, code in enumerate(suppression.codes):
            if (index, number) not in used:
                problems += _useless(suppression, code, known, ran)
    return kept, problems


def _useless(suppression: Suppression, code: Located[str], known: Mapping[str, str], ran: Collection[str]) -> Iterable[Problem]:
    meant = {one for one in known.values() if _means(code.value, one, known)}
    if not meant:
        from preflight.readers.values import nearest

        close = nearest(code.value, known)
        remedy = f"Use {close}." if close else "preflight rule lists all codes."
        yield Problem(UNKNOWN_CODE, Finding(f"{code.value} is no code of preflight. {remedy}", code.place, WARNING))
    elif meant.intersection(ran):
        message = f"Nothing is hidden by ignoring {code.value} here. Remove it."
        fixes = (Fix(f"Remove {code.value}", (_without(suppression, code),), SAFE),)
        yield Problem(UNUSED, Finding(message, code.place, WARNING, fixes=fixes))


def _without(suppression: Suppression, code: Located[str]) -> Edit:
    """Take the code out; with the last code the directive and its reason, and a line that held nothing else."""
    document = code.place.document
    text, span = document.text, code.place.span
    if len(suppression.codes) > 1:
        first = code == suppression.codes[0]
        start, end = span
        if first:
            end = suppression.codes[1].place.span.start
        else:
            start = suppression.codes[suppression.codes.index(code) - 1].place.span.end
        return Edit(document.path, Span(start, end), "")
    lines = document.lines
    line = _line(document, lines.position(suppression.at.span.start)[0]).span
    written = text[line.start : line.end]
    start = suppression.at.span.start
    end = line.start + len(written.rstrip("\r\n"))
    following = text.find("# preflight:", suppression.at.span.end, end)
    if following >= 0:
        return Edit(document.path, Span(start, following), "")
    before = text[line.start : start]
    if not before.strip():
        return Edit(document.path, line, "")
    return Edit(document.path, Span(line.start + len(before.rstrip()), end), "")
