"""The image's tag moves from release to release.

## What it does
Looks for an engine image without a tag, or with one that is given to a new image now and then (`latest`, `dev`, `nightly`), and
without a digest.

## Why
The flags that the launch is written for change under it: a restart pulls another release, which may refuse them. A version in
the tag, or a digest, holds still; and with a version this linter knows what to judge by.

## Example
`image: lmsysorg/sglang:latest`

## Fix
None: which release runs today is not written here.

## Source
The tags of lmsysorg/sglang and vllm/vllm-openai on Docker Hub.
"""

from collections.abc import Iterator

from preflight.diagnostics import NOTE, Finding, Rule
from preflight.engines.base import Launch
from preflight.rule import rule

META = Rule("VER050", "mutable-image-tag", NOTE)


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    image = launch.site.image
    if image is None or launch.site.version is not None:
        return
    from preflight.readers.images import moves  # a launch file has no image, and no need of its reader

    if moves(image.value):
        yield Finding(
            f"{image.value} is another image after every release of {launch.engine.title}, and the flags that it takes change "
            "with it. Use a tag with a version.",
            image.place,
            data={"image": image.value},
        )
