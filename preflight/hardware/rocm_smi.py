"""Reading what rocm-smi prints: `--showproductname --showmeminfo vram`, as text or with `--json`.

Source: ROCm System Management Interface documentation, rocm.docs.amd.com.
"""

import json
import re
from typing import Any

from preflight.hardware.found import BadOutput, Found, SeenGpu

LINE = re.compile(r"^GPU\[(\d+)\]\s*:\s*([^:]+):\s*(.*?)\s*$", re.MULTILINE)
TOTAL, USED = "VRAM Total Memory (B)", "VRAM Total Used Memory (B)"
NAMES = ("Card Series", "Card series", "Card Model", "Card model", "Device Name")


def read_rocm_smi(text: str) -> Found:
    """The machine that rocm-smi shows. Raises BadOutput."""
    cards = json_cards(text) or text_cards(text)
    gpus = []
    for index, card in sorted(cards.items()):
        total, used = whole(card.get(TOTAL)), whole(card.get(USED))
        name = next((str(card[key]) for key in NAMES if card.get(key) and not str(card[key]).startswith("0x")), "AMD GPU")
        free = total - used if total is not None and used is not None else None
        gpus.append(SeenGpu(index, name, total, used, free))
    if not gpus:
        raise BadOutput("No GPU is in this text. Save the output of `rocm-smi --showproductname --showmeminfo vram`.")
    return Found(tuple(gpus), "amd", source="rocm-smi")


def json_cards(text: str) -> dict[int, dict[str, Any]]:
    """Cards of the JSON form; empty for other text."""
    start = text.find("{")
    if start < 0:
        return {}
    try:
        value = json.loads(text[start : text.rfind("}") + 1])
    except (ValueError, RecursionError):
        return {}
    if not isinstance(value, dict):
        return {}
    return {
        int(key[4:]): card
        for key, card in value.items()
        if key.startswith("card") and key[4:].isdecimal() and isinstance(card, dict)
    }


def text_cards(text: str) -> dict[int, dict[str, Any]]:
    """Cards of the text form."""
    cards: dict[int, dict[str, Any]] = {}
    for index, key, value in LINE.findall(text):
        cards.setdefault(int(index), {})[key.strip()] = value
    return cards


def whole(value: object) -> int | None:
    """A count of bytes."""
    text = str(value or "")
    return int(text) if text.isdecimal() else None
