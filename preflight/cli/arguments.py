"""The arguments of `preflight lint`."""

from __future__ import annotations

from collections.abc import Sequence

from preflight.records import NamedTuple
from preflight.report.formats import FORMATS

WIDTH = 100


class Arguments(NamedTuple):
    """What was asked for. `select`, `extend_select` and `ignore` hold codes, names and prefixes, separated by commas."""

    paths: Sequence[str] = (".",)
    format: str | None = None
    fix: bool = False
    unsafe_fixes: bool = False
    diff: bool = False
    select: Sequence[str] = ()
    extend_select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    fail_on: str | None = None
    config: str | None = None
    no_config: bool = False
    show_settings: bool = False
    exclude: Sequence[str] = ()
    force_exclude: bool = False
    output_file: str | None = None
    statistics: bool = False
    notes: bool = False
    color: str = "auto"
    stdin_filename: str | None = None
    jobs: int = 0


def parsed(words: Sequence[str]) -> Arguments:
    """Raises SystemExit, as argparse does, for what is not understood and after --help."""
    if words and not any(word.startswith("-") for word in words):  # paths alone, as a hook names them
        return Arguments(words)
    return _with_options(words)


def _with_options(words: Sequence[str]) -> Arguments:
    import argparse  # with the translations that it loads, a tenth of a small lint

    class Formatter(argparse.HelpFormatter):
        """argparse makes one for every argument; asking for the terminal's width each time loads shutil, and archives with it."""

        def __init__(self, prog: str) -> None:
            super().__init__(prog, width=WIDTH)

    arguments = argparse.ArgumentParser(
        prog="preflight lint",
        description="Check the files that launch LLM servers. Exit code: 0 clean, 1 findings, 2 could not run.",
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
        formatter_class=Formatter,
    )
    add = arguments.add_argument
    add("paths", nargs="*", metavar="PATH", help="files and folders; - reads standard input (default: .)")
    add("--format", choices=FORMATS, help="what the report is written as (default: text)")
    add("--fix", action="store_true", help="apply safe fixes")
    add("--unsafe-fixes", action="store_true", help="with --fix or --diff: apply fixes that are a judgement, too")
    add("--diff", action="store_true", help="print what the fixes would change and write nothing")
    add("--select", action="append", metavar="CODES", help="only these rules: codes, prefixes or names")
    add("--extend-select", action="append", metavar="CODES", help="these rules as well")
    add("--ignore", action="append", metavar="CODES", help="not these rules")
    add("--fail-on", choices=("error", "warning", "never"), help="what makes the exit code 1 (default: error)")
    add("--config", metavar="FILE", help="the settings file, instead of the nearest preflight.toml or pyproject.toml")
    add("--no-config", action="store_true", help="read no settings")
    add("--show-settings", action="store_true", help="print the settings that hold for each file, with their origin")
    add("--exclude", action="append", metavar="GLOB", help="leave out files below folders that match")
    add("--force-exclude", action="store_true", help="leave out excluded files even when they are named")
    add("--output-file", metavar="FILE", help="write the report here instead of standard output")
    add("--statistics", action="store_true", help="how often each rule was found")
    add("--notes", action="store_true", help="print notes, too, and fix what they are about")
    add("--color", choices=("auto", "always", "never"), help="colour (default: auto)")
    add("--stdin-filename", metavar="FILE", help="what standard input is taken for")
    add("--jobs", type=int, metavar="N", help="processes for many files (default: one per processor)")
    return Arguments(**vars(arguments.parse_args(words)))
