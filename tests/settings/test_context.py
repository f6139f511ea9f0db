"""What the settings say reaches the launches that they are about."""

from pathlib import Path

import pytest

from preflight.engines.resolve import Context
from preflight.lint import examine
from preflight.settings import SettingsLookup
from preflight.text import Document


def codes(path: str, text: str) -> list[str]:
    settings = SettingsLookup().for_path(path)
    assert settings is not None
    said = settings.for_file(path)
    result = examine(Document(path, text), Context(said.tables, said.engine_version))
    return sorted({diagnostic.rule.code for diagnostic in result.others})


def test_a_profile_path_is_relative_to_the_file_that_gives_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "deploy").mkdir()
    (tmp_path / "machine.toml").write_text('name = "m"\ngpu = "h200"\ncount = 8\n[source]\nall = "us"\n')
    (tmp_path / "preflight.toml").write_text('hardware.profile = "./machine.toml"\n')
    monkeypatch.chdir(tmp_path)
    assert codes("deploy/launch.toml", 'engine = "sglang"\nengine-version = "0.5.9"') == []
    assert codes("deploy/launch.toml", 'engine = "sglang"\nengine-version = "0.5.9"\nhardware.profile = "./machine.toml"') == [
        "CFG005"
    ]
