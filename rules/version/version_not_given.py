"""What is found hangs on a version that the file does not name.

## What it does
Says once per file that no version is given, where a finding depends on it.

## Why
Flags come and go with releases. Without a version the newest known one judges, a flag that another release takes is a warning
instead of an error, and memory is a warning at most.

## Example
`python -m sglang.launch_server --cuda-graph-max-bs 8` works up to 0.5.19 and fails since.

## Fix
None: write `# preflight: version=0.5.9`, an image tag with the version, or `engine-version` in preflight.toml.

## Source
schemas/flags/sglang.json.
"""

from collections.abc import Iterator

from preflight.diagnostics import NOTE, Finding, Rule
from preflight.lint import Project
from preflight.rule import rule

META = Rule("VER003", "version-not-given", NOTE)
_WITHOUT_RELEASES = ("CFG", "UNT")


@rule(META)
def check(project: Project) -> Iterator[Finding]:
    for launch, _budget, found in project.launches:
        depends = any(one.severity > NOTE and not one.rule.code.startswith(_WITHOUT_RELEASES) for one in found)
        if depends and launch.version.given is None and launch.version.known:
            yield Finding(
                f"No version of {launch.engine.title} is given, so {launch.version.text}, the newest that is allowed and known, "
                "judges this file. Name it: `# preflight: version=…`, or engine-version in preflight.toml.",
                launch.head,
                data={"judged_as": launch.version.text},
            )
            return
