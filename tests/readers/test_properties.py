"""What holds for every text and every launch."""

import random
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preflight.launch import LaunchSite
from preflight.text import apply_edits
from tests.fuzz.readers import MONSTERS, SEEDS, check, mutate
from tests.readers.launches import sites, words

SAMPLES = [(reader, text) for reader, texts in SEEDS.items() for text in texts]


@settings(max_examples=300)
@given(st.sampled_from(SAMPLES), st.integers(0, 1 << 32))
def test_no_text_crashes_a_reader(sample: tuple[str, str], seed: int) -> None:
    reader, text = sample
    check(reader, mutate(text, random.Random(seed)))


@pytest.mark.parametrize("monster", MONSTERS)
def test_no_monster_crashes_a_reader(monster) -> None:  # type: ignore[no-untyped-def]
    class Small(random.Random):
        def choice(self, options):  # type: ignore[no-untyped-def]
            return options[1]

    text = monster(Small())[:60_000]
    for reader in SEEDS:
        check(reader, text)


@pytest.mark.parametrize(("reader", "text"), [sample for sample in SAMPLES if sample[0] != "launch_file"])
def test_a_literal_word_is_what_its_place_spells(reader: str, text: str) -> None:
    found = sites(reader, text)
    assert found
    for site in found:
        for token in site.argv:
            raw = text[token.place.span.start : token.place.span.end]
            assert raw
            if token.value is not None and token.definition is None and token.value.isalnum():
                assert token.value in raw


def edited(site: LaunchSite, text: str) -> list[tuple[str, list[str]]]:
    """Texts after an edit of one launch, each with the words that are meant."""
    plain = [token.text for token in site.argv]
    found = []
    for number, token in enumerate(site.argv):
        edit = token.replace("new")
        if edit is not None:
            found.append((apply_edits(text, [edit]), [*plain[:number], "new", *plain[number + 1 :]]))
        edit = site.editor.delete(number, number)
        if edit is not None:
            found.append((apply_edits(text, [edit]), [*plain[:number], *plain[number + 1 :]]))
    return found


def bare(argv: list[str]) -> list[str]:
    """Words without the braces of what is not known: an opaque word is spelled as it stands."""
    return [word.translate({ord("{"): None, ord("}"): None}) for word in argv]


@pytest.mark.parametrize(("reader", "text"), SAMPLES)
def test_an_edit_leaves_the_words_that_were_meant(reader: str, text: str) -> None:
    before = [words(site) for site in sites(reader, text)]
    for number, site in enumerate(sites(reader, text)):
        for changed, meant in edited(site, text):
            after = [words(other) for other in sites(reader, changed)]
            expected = [*before[:number], meant, *before[number + 1 :]]
            assert [bare(found) for found in after] == [bare(found) for found in expected], changed


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash on this machine")
def test_edited_scripts_are_still_scripts() -> None:
    text = SEEDS["shell"][0]
    changed = [new for site in sites("shell", text) for new, _meant in edited(site, text)]
    for site in sites("shell", text):
        edit = site.editor.insert("--new", ['{"a": "b c"}'])
        if edit is not None:
            changed.append(apply_edits(text, [edit]))
    assert len(changed) > 10
    for new in changed:
        done = subprocess.run(["bash", "-n"], input=new, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
