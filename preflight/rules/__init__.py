"""The rules: the top-level folder `rules/` in a checkout, beside this file in a wheel. Import them through the registry only."""

from pathlib import Path as _Path

_root = _Path(__file__).resolve().parents[2]
if (_root / "pyproject.toml").is_file():
    __path__.append(str(_root / "rules"))  # a checkout or an editable install
