"""`preflight init`: a launch file to start from."""

from __future__ import annotations

_TEMPLATE = """\
# What preflight knows of this launch. `preflight lint launch.toml` checks it, `preflight explain launch.toml` shows where the
# memory goes.
engine = "{engine}"
engine-version = "{version}"

[hardware]
profile = "8x-h200"              # `preflight profile list` shows the names

[model]
profile = "Qwen/Qwen3-32B"       # a catalogue name, a hub id, or the path of a model's own files

[flags]                          # as on the command line, without dashes
{flags}

[expect]                         # what the launch is for
context-length = 32_768
concurrent-requests = 8

# [observed]                     # figures of a boot log make the answer exact
# free-before-load = "138.2 GiB"
# free-after-load = "129.6 GiB"
"""


def launch_template(engine: str) -> str:
    if engine == "sglang":
        return _TEMPLATE.format(engine=engine, version="0.5.23", flags="tp-size = 8")
    return _TEMPLATE.format(engine=engine, version="0.33.0", flags="tensor-parallel-size = 8")
