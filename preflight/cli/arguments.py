"""The arguments of `preflight lint`."""

from __future__ import annotations

import argparse

WIDTH = 100


class _Formatter(argparse.HelpFormatter):
    """argparse makes one for every argument; asking for the terminal's width each time loads shutil, and archives with it."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=WIDTH)


FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab")


def parser() -> argparse.ArgumentParser:
    """Codes, names and prefixes of codes are taken by --select, --extend-select and --ignore, separated by commas."""
    arguments = argparse.ArgumentParser(
        prog="preflight lint",
        description="Check the files that launch LLM servers. Exit code: 0 clean, 1 findings, 2 could not run.",
        allow_abbrev=False,
        formatter_class=_Formatter,
    )
    add = arguments.add_argument
    add("paths", nargs="*", default=["."], metavar="PATH", help="files and folders; - reads standard input (default: .)")
    add("--format", choices=FORMATS, default=None, help="what the report is written as (default: text)")
    add("--fix", action="store_true", help="apply safe fixes")
    add("--unsafe-fixes", action="store_true", help="with --fix or --diff: apply fixes that are a judgement, too")
    add("--diff", action="store_true", help="print what the fixes would change and write nothing")
    add("--select", action="append", default=[], metavar="CODES", help="only these rules: codes, prefixes or names")
    add("--extend-select", action="append", default=[], metavar="CODES", help="these rules as well")
    add("--ignore", action="append", default=[], metavar="CODES", help="not these rules")
    add("--fail-on", choices=("error", "warning", "never"), default=None, help="what makes the exit code 1 (default: error)")
    add("--config", metavar="FILE", help="the settings file, instead of the nearest preflight.toml or pyproject.toml")
    add("--no-config", action="store_true", help="read no settings")
    add("--show-settings", action="store_true", help="print the settings that hold for each file, with their origin")
    add("--exclude", action="append", default=[], metavar="GLOB", help="leave out files below folders that match")
    add("--force-exclude", action="store_true", help="leave out excluded files even when they are named")
    add("--output-file", metavar="FILE", help="write the report here instead of standard output")
    add("--statistics", action="store_true", help="how often each rule was found")
    add("--notes", action="store_true", help="print notes, too")
    add("--color", choices=("auto", "always", "never"), default="auto", help="colour (default: auto)")
    add("--stdin-filename", metavar="FILE", help="what standard input is taken for")
    add("--jobs", type=int, default=0, metavar="N", help="processes for many files (default: one per processor)")
    return arguments
