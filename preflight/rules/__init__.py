"""The rules: the top-level folder `rules/` in a checkout, beside this file in a wheel. Import them through the registry only."""

import os as _os

_root = _os.path.dirname(_os.path.dirname(_os.path.dirname(_os.path.abspath(__file__))))
if _os.path.isfile(_os.path.join(_root, "pyproject.toml")):
    __path__.append(_os.path.join(_root, "rules"))  # a checkout or an editable install
