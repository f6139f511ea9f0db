"""Comments for preflight count in every kind of file that has comments, not in launch files alone."""

from __future__ import annotations

import pytest

from preflight.lint import lint_document
from preflight.text import Document

SHELL = """\
#!/bin/bash
{above}
exec python -m sglang.launch_server \\
  --model-path Qwen/Qwen3-8B \\
  --tp-sze 8{behind}
"""
CONTINUED_OFF = """\
sglang serve --model-path Qwen/Qwen3-8B --tp-sze 8{behind}
"""
LIST = """\
services:
  {above_service}
  one:
    image: lmsysorg/sglang:v0.5.9
    {above}
    command:
      - --model-path
      - Qwen/Qwen3-8B
      {above_flag}
      - --tp-sze{behind}
      - "8"
"""
FOLDED = """\
services:
  one:
    image: lmsysorg/sglang:v0.5.9
    {above}
    command: >
      python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B
      --tp-sze 8
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: one}}
spec:
  containers:
  {above_service}
  - name: two
    image: lmsysorg/sglang:v0.5.9
    command: ["/bin/sh", "-c"]
    args:
    - |
      {above}
      python3 -m sglang.launch_server \\
        --model-path Qwen/Qwen3-8B \\
        --tp-sze 8{behind}
"""
DOCKERFILE = """\
FROM lmsysorg/sglang:v0.5.9
{above}
CMD ["python3", "-m", "sglang.launch_server", "--model-path", "Qwen/Qwen3-8B", \\
     "--tp-sze", "8"]
"""
PYTHON = """\
import subprocess
{above}
subprocess.run([
    "python", "-m", "sglang.launch_server", "--model-path", "Qwen/Qwen3-8B",
    "--tp-sze", "8",{behind}
])
"""
PLACES = ("above", "above_service", "above_flag", "behind")
IGNORE = "# preflight: ignore[FLG001] the image has its own"
FORMS = [
    (path, template, place)
    for path, template in (
        ("run.sh", SHELL),
        ("off.sh", CONTINUED_OFF),
        ("compose.yaml", LIST),
        ("folded.yaml", FOLDED),
        ("pod.yaml", POD),
        ("Dockerfile", DOCKERFILE),
        ("start.py", PYTHON),
    )
    for place in PLACES
    if "{" + place + "}" in template
]


def filled(template: str, **places: str) -> str:
    return template.format(**{place: places.get(place, "# nothing" if place != "behind" else "") for place in PLACES})


def codes(path: str, text: str) -> list[str]:
    return [found.rule.code for found in lint_document(Document(path, text)).diagnostics if found.rule.code[:3] in ("FLG", "CFG")]


@pytest.mark.parametrize(("path", "template", "place"), FORMS)
def test_a_suppression_hides_what_it_covers(path: str, template: str, place: str) -> None:
    assert codes(path, filled(template)) == ["FLG001"]
    comment = f"  {IGNORE}" if place == "behind" else IGNORE
    assert codes(path, filled(template, **{place: comment})) == []


@pytest.mark.parametrize(("path", "template", "place"), FORMS)
def test_a_suppression_that_hides_nothing_is_reported(path: str, template: str, place: str) -> None:
    comment = IGNORE.replace("FLG001", "FLG002")
    assert codes(path, filled(template, **{place: f"  {comment}" if place == "behind" else comment}))[-2:] in (
        ["CFG007", "FLG001"],
        ["FLG001", "CFG007"],
    )


def test_a_suppression_covers_one_launch_and_not_its_neighbour() -> None:
    one = filled(CONTINUED_OFF, behind=f"  {IGNORE}")
    assert codes("two.sh", one + filled(CONTINUED_OFF)) == ["FLG001"]
    assert codes("two.sh", f"{IGNORE}\n" + filled(CONTINUED_OFF) * 2) == ["FLG001"]


def test_a_whole_file_is_ignored() -> None:
    assert codes("two.sh", "# preflight: ignore-file[FLG001] old\n" + filled(CONTINUED_OFF) * 2) == []


def test_a_near_miss_is_reported_in_a_script() -> None:
    assert "CFG008" in codes("run.sh", filled(SHELL, above="#preflight:ignore FLG001"))


@pytest.mark.parametrize(("path", "template"), [("run.sh", SHELL), ("compose.yaml", LIST), ("Dockerfile", DOCKERFILE)])
def test_a_comment_gives_a_launch_its_context(path: str, template: str) -> None:
    comment = "# preflight: hardware=8x-h200 model=Qwen/Qwen3-8B version=0.5.10"
    (resolved,) = lint_document(Document(path, filled(template, above=comment))).launches
    assert resolved.launch.version.text == "0.5.10"
    assert resolved.budget.tokens is not None


def test_words_about_a_preflight_of_another_kind_say_nothing() -> None:
    text = "# Preflight: check the GPUs first\necho preflight; # preflight skipped when idle\n" + filled(CONTINUED_OFF)
    assert codes("run.sh", text) == ["FLG001"]


def test_a_string_of_python_is_no_comment() -> None:
    text = 'TEXT = """\n# preflight: ignore[B\n#preflight:ignore MEM001\n"""\n' + filled(PYTHON)
    assert codes("start.py", text) == ["FLG001"]
