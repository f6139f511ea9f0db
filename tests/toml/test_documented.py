"""Every code that a reader, the settings or the suppressions report is documented, and the examples of it are true."""

import re
from importlib import import_module

import pytest

from preflight.diagnostics import Rule
from preflight.readers.launch_file import read
from preflight.text import Document
from tests.toml.test_launch_file import problems

READERS = ("CFG001", "CFG002", "CFG003", "CFG004", "CFG008", "CFG010", "CFG011", "UNT005", "UNT006", "UNT007")
MODULES = {
    "CFG001": "config.syntax_error",
    "CFG002": "config.unknown_key",
    "CFG003": "config.wrong_type",
    "CFG004": "config.duplicate_key",
    "CFG008": "config.malformed_suppression",
    "CFG010": "config.bad_value",
    "CFG011": "config.no_engine",
    "UNT005": "units.bare_number",
    "UNT006": "units.impossible_quantity",
    "UNT007": "units.unknown_unit",
}


@pytest.mark.parametrize("code", READERS)
def test_examples_show_what_the_reader_reports(code: str) -> None:
    module = import_module(f"preflight.rules.{MODULES[code]}")
    assert isinstance(module.META, Rule)
    assert module.META.code == code
    examples = dict(re.findall(r"```toml (bad|good)\n(.*?)```", module.__doc__ or "", re.S))
    assert [one for one, _ in problems(examples["bad"])] == [code]
    good = read(Document("launch.toml", examples["good"]))
    assert good.problems == ()
    assert len(good.sites) == 1
