"""`--config FILE.yaml`: how the engine turns the file's keys into words of the command line.

    use = find_config(words, table)                    # where the file is named, and what is wrong with that
    inserted, problems = config_words(items, table)    # the file's keys as words
    merged = merge(words, use.at, inserted)            # parse(merged, table, from_config=len(inserted))

Source: sglang `srt/server_args_config_parser.py` (0.5.4 on; `srt/utils/` from 0.5.19), `prepare_server_args`.
"""

from collections.abc import Sequence

from preflight.catalog.argparse_model import Word
from preflight.catalog.features import CONFIG, CONFIG_BY_SPELLING, CONFIG_CHECKED, CONFIG_JSON
from preflight.catalog.load import FlagTable
from preflight.catalog.values import UNKNOWN
from preflight.records import NamedTuple

TWICE, NO_PATH, IGNORED, SUFFIX = "config-twice", "config-without-path", "config-ignored", "config-suffix"
REFUSED_KEY, KEY_NOT_TEXT = "refused-key", "key-not-text"


class ConfigUse(NamedTuple):
    """`at`: the index of the `--config` that is followed; None: no file is read. `problems`: kind and index of the
    word.

    All refuse the launch but IGNORED: written with `=` or abbreviated, it is taken for a plain option, and the file
    unread.
    """

    at: int | None
    problems: tuple[tuple[str, int], ...]


class ConfigWord(NamedTuple):
    """A word made from the file: `key` is the index of the item it comes from, `part` that of a list's element."""

    value: str | None
    key: int
    part: int | None = None


class ConfigProblem(NamedTuple):
    """A key that stops the launch before the command line is parsed."""

    kind: str
    key: int


def find_config(words: Sequence[Word], table: FlagTable) -> ConfigUse:
    if CONFIG not in table.features:
        return ConfigUse(None, ())
    literal = [index for index, word in enumerate(words) if word.value == "--config"]
    problems = [(IGNORED, index) for index, word in enumerate(words) if _names_config(word, table)]
    if len(literal) > 1:
        return ConfigUse(None, ((TWICE, literal[1]), *problems))
    if not literal:
        return ConfigUse(None, tuple(problems))
    at = literal[0]
    if at == len(words) - 1:
        return ConfigUse(None, ((NO_PATH, at), *problems))
    path = words[at + 1].value
    if path is not None and not path.lower().endswith((".yaml", ".yml")):
        problems.append((SUFFIX, at + 1))
    return ConfigUse(at, tuple(problems))


def _names_config(word: Word, table: FlagTable) -> bool:
    """Whether the word means `--config` without saying so literally."""
    text = word.value or ""
    if not text.startswith("--c") or text == "--config":
        return False
    flag = table.match(text.partition("=")[0]).flag
    return flag is not None and flag.dest == "config"


def config_words(items: Sequence[tuple[object, object]], table: FlagTable) -> tuple[list[ConfigWord], list[ConfigProblem]]:
    """The words that the file's items become, in its order. Values are those of YAML 1.1, UNKNOWN where not known."""
    refused, switches = _rules(table)
    words: list[ConfigWord] = []
    problems: list[ConfigProblem] = []
    for index, (key, value) in enumerate(items):
        if not isinstance(key, str):
            problems.append(ConfigProblem(KEY_NOT_TEXT, index))
        elif key.replace("-", "_") in refused:
            problems.append(ConfigProblem(REFUSED_KEY, index))
        else:
            words += _item(index, key, value, switches, table)
    return words, problems


def _rules(table: FlagTable) -> tuple[set[str], set[str] | None]:
    """Keys that are refused, and those of switches (None: any true is a bare flag); dashes are underscores in both."""
    if CONFIG_CHECKED not in table.features:
        return set(), None
    flags = [flag for flag in table.flags() if flag.dest != "config"]
    if CONFIG_BY_SPELLING not in table.features:
        custom = {flag.dest for flag in flags if flag.action not in ("store", "store_true")}
        return custom, {flag.dest for flag in flags if flag.action == "store_true"}
    taken: set[str] = set()
    others: set[str] = set()
    switches: set[str] = set()
    for flag in flags:
        keys = {flag.dest, *(spelling[2:].replace("-", "_") for spelling in flag.spellings if spelling.startswith("--"))}
        if flag.action == "store_true":
            switches |= keys
        (taken if flag.action in ("store", "store_true") or flag.nargs is None else others).update(keys)
    return others - taken, switches


def _item(index: int, key: str, value: object, switches: set[str] | None, table: FlagTable) -> list[ConfigWord]:
    flag = ConfigWord(f"--{key}", index)
    if isinstance(value, bool):
        if switches is None or key.replace("-", "_") in switches:
            return [flag] if value else []
        return [flag, ConfigWord(str(value).lower(), index)]
    if isinstance(value, list):
        return [flag, *(ConfigWord(_text(part), index, place) for place, part in enumerate(value))] if value else []
    if isinstance(value, dict) and CONFIG_JSON in table.features:
        return [flag, ConfigWord(_json(value), index)]
    return [flag, ConfigWord(_text(value), index)]


def _text(value: object) -> str | None:
    return None if _has_unknown(value) else str(value)


def _json(value: object) -> str | None:
    import json

    try:
        return None if _has_unknown(value) else json.dumps(value)
    except (TypeError, ValueError):  # a date, say: the engine stops here, and what it would have been is not known
        return None


def _has_unknown(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_unknown, value.values()))
    if isinstance(value, list):
        return any(map(_has_unknown, value))
    return value is UNKNOWN


def merge(words: Sequence[Word], at: int, inserted: Sequence[Word]) -> list[Word]:
    """The command line with the file's words in front, and `--config PATH` at `at` taken out."""
    return [*inserted, *words[:at], *words[at + 2 :]]
