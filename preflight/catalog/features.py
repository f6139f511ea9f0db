"""What a release's command line does besides its options, told from its source.

Source: sglang `cli/serve.py`, `srt/server_args_config_parser.py` (later `srt/utils/server_args_config_parser.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the names are asked for on the lint path, which never reads a wheel
    from preflight.catalog.source import Source

SERVE = "serve"
"""`sglang serve` exists."""
SERVE_POSITIONAL = "serve-positional"
"""It takes the model as its first word."""
SERVE_MODEL_TYPE = "serve-model-type"
"""It takes `--model-type`, which the server does not."""
CONFIG = "config"
"""`--config FILE.yaml` is merged into the command line."""
CONFIG_CHECKED = "config-checked"
"""Keys of options with a custom action are refused, by dest."""
CONFIG_BY_SPELLING = "config-by-spelling"
"""The same by any spelling, and options that take one value are let through."""
CONFIG_JSON = "config-json"
"""A mapping as value becomes JSON; before, the text of a Python dict."""


def read_features(source: Source) -> list[str]:
    serve = source.text("sglang/cli/serve.py")
    merger = source.text("sglang/srt/server_args_config_parser.py") or source.text(
        "sglang/srt/utils/server_args_config_parser.py"
    )
    signs = {
        SERVE: serve is not None,
        SERVE_POSITIONAL: "_normalize_positional_model_path" in (serve or ""),
        SERVE_MODEL_TYPE: "--model-type" in (serve or ""),
        CONFIG: merger is not None,
        CONFIG_CHECKED: "unsupported_actions" in (merger or ""),
        CONFIG_BY_SPELLING: "_config_keys" in (merger or ""),
        CONFIG_JSON: "json.dumps" in (merger or ""),
    }
    return [name for name, present in signs.items() if present]
