"""Findings made by hand, and the report that holds them."""

from __future__ import annotations

from preflight.diagnostics import DISPLAY, ERROR, NOTE, SAFE, UNSAFE, WARNING, Diagnostic, Fix, Related, Rule
from preflight.report.model import Report
from preflight.text import Document, Edit, Place, Span

LAUNCH = Document(
    "deploy/launch.toml",
    'engine = "sglang"\n'
    'engine-version = "0.5.9"\n'
    "\n"
    "[flags]\n"
    "tp-size = 8\n"
    "mem-fraction-static = 0.55\n"
    "max-modellen = 8192\n"
    "\n"
    "[env]\n"
    'SGLANG_X = "1"\n',
)

REST = Rule("MEM001", "nonnegative-rest-memory", ERROR, "kv-sizing")
UNKNOWN = Rule("FLG001", "unknown-flag", ERROR, "arguments")
BELOW = Rule("CAP002", "pool-below-context", WARNING)
VARIABLE = Rule("ENV001", "unknown-environment-variable", WARNING)
VERSION = Rule("VER009", "version-newer-than-catalogue", NOTE)


def at(document: Document, text: str) -> Place:
    """Where `text` first stands in `document`."""
    start = document.text.index(text)
    return Place(document, Span(start, start + len(text)))


def edit(document: Document, old: str, new: str) -> Edit:
    return Edit(document.path, at(document, old).span, new)


NO_REST = Diagnostic(
    REST,
    ERROR,
    "kv-sizing",
    "mem-fraction-static 0.55 leaves -20.6 GiB for the KV cache: weights take 72.3 GiB of 94.0 GiB. Raise it to at least 0.77.",
    at(LAUNCH, "mem-fraction-static = 0.55"),
    related=(Related(at(LAUNCH, "tp-size = 8"), "the weights are split over 8 GPUs"),),
    fixes=(Fix("Raise mem-fraction-static to 0.845", (edit(LAUNCH, "0.55", "0.845"),), UNSAFE),),
    data={"rest_gib": -20.603, "minimum": 0.7692},
)
MISSPELT = Diagnostic(
    UNKNOWN,
    ERROR,
    "arguments",
    "--max-modellen is not a flag of sglang 0.5.9. Use --context-length.",
    at(LAUNCH, "max-modellen = 8192"),
    fixes=(
        Fix("Rename max-modellen to context-length", (edit(LAUNCH, "max-modellen", "context-length"),), SAFE),
        Fix("Ask the author", (), DISPLAY),
    ),
)
UNREAD = Diagnostic(
    VARIABLE,
    WARNING,
    "serving",
    "sglang 0.5.9 does not read SGLANG_X. Remove it.",
    at(LAUNCH, "SGLANG_X"),
)
NEWER = Diagnostic(
    VERSION,
    NOTE,
    None,
    "Version 0.5.9 is the first of the catalogue.",
    at(LAUNCH, '"0.5.9"'),
)
REPORT = Report((NEWER, NO_REST, MISSPELT, UNREAD), files=1, launches=1)
CLEAN = Report((), files=2, launches=3)

# Everything that a hostile file or file name can hold.
HOSTILE_FILE = Document("a b:\x1b[31m\n.toml", "\tx = 'é漢字'\x1b[2J # end\r\n")
HOSTILE = Diagnostic(
    BELOW,
    WARNING,
    None,
    "'\x1b[2J\r\nforged.toml:1:1: error MEM001 x: y' is 50% of \u202ewhat, here.",
    at(HOSTILE_FILE, "'é漢字'\x1b[2J"),
)
MANY_LINES = Diagnostic(BELOW, WARNING, None, "Two lines.", at(LAUNCH, "tp-size = 8\nmem-fraction-static = 0.55"))
END_OF_FILE = Diagnostic(BELOW, WARNING, None, "The end.", Place(LAUNCH, Span(len(LAUNCH.text), len(LAUNCH.text))))
NO_TEXT = Diagnostic(BELOW, WARNING, None, "No such file.", Place(Document("gone-\udcff.toml", ""), Span(0, 0)))
ODD = Report((HOSTILE, MANY_LINES, END_OF_FILE, NO_TEXT), files=3, launches=0)
