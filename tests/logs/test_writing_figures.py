"""Figures go into every form that a launch file may have, and nothing else changes."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomli

from tests.command import run_cli
from tests.logs.writing import BASE, RANK, sglang

HEAD = 'engine = "sglang"\nengine-version = "0.5.9"  # pinned\nmodel = { profile = "kimi-k2.5-int4" }\n'
FLAGS = "[flags]\ntp-size = 8\nmem-fraction-static = 0.88\n"
FORMS = {
    "no table": HEAD + FLAGS,
    "no last line end": (HEAD + FLAGS).rstrip("\n"),
    "a table": HEAD + FLAGS + '\n[observed]  # measured\nweights = "70 GiB" # old\n\n[expect]\nkv-tokens = 1\n',
    "an empty table": HEAD + FLAGS + "\n[observed]\n",
    "inline": HEAD + 'observed = { weights = "70 GiB" }  # old\n' + FLAGS,
    "empty inline": HEAD + "observed = {}\n" + FLAGS,
    "dotted": HEAD + 'observed.weights = "70 GiB"\n' + FLAGS,
    "one of several": HEAD + "[[launch]]\nname = 'a'\n[launch.flags]\ntp-size = 8\nmem-fraction-static = 0.88\n[[launch]]\n"
    "flags = { tp-size = 4 }\n",
    "a list of ranks": HEAD + FLAGS + '[observed]\nfree-before-load = [\n  "93 GiB", # rank 0\n  "94 GiB",\n]\n',
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_figures_are_written_and_nothing_else_changes(tmp_path: Path, form: str, newline: str) -> None:
    log, launch = tmp_path / "boot.log", tmp_path / "a.launch.toml"
    log.write_text("\n".join(["sglang==0.5.9", *sglang("0.5.9", [RANK] * 8, BASE)]), encoding="utf-8")
    before = FORMS[form].replace("\n", newline)
    launch.write_bytes(before.encode())
    run = run_cli("calibrate", str(log), "--write", str(launch))
    assert run.code == 0, run.stderr
    text = launch.read_bytes().decode()
    data, old = tomli.loads(text), tomli.loads(before)
    owner = data["launch"][0] if "launch" in data else data
    old_owner = old["launch"][0] if "launch" in old else old
    seen = owner.pop("observed")
    old_owner.pop("observed", None)
    assert data == old
    assert (seen["free-before-load"], seen["free-after-load"], seen["weights"]) == ("94.00 GiB", "21.70 GiB", "72.30 GiB")
    assert (seen["kv-tokens"], seen["engine-version"]) == (159171, "0.5.9")
    for comment in ("# pinned", "# measured", "# old"):
        assert (comment in before) == (comment in text)
    assert ("\r\n" in text) == (newline == "\r\n")
    assert "\n" not in text.replace("\r\n", "") or newline == "\n"
    assert run_cli("calibrate", str(log), "--write", str(launch)).code == 0
    assert launch.read_bytes().decode() == text
