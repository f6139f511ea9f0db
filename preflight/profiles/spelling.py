"""How names are folded before they are looked up."""


def model_key(name: str) -> str:
    """Model names and hub ids are looked up case-blind."""
    return name.strip().strip("/").lower()


def hardware_key(name: str) -> str:
    """GPU names also without regard to separators: "NVIDIA H100 80GB HBM3" and "NVIDIA-H100-80GB-HBM3" are one."""
    text = name.strip().lower().replace("×", "x")
    head, colon, count = text.rpartition(":")
    if colon and count.strip().isdecimal():
        text = f"{head} x{count.strip()}"
    folded = "".join(character if character.isalnum() or character == "." else "-" for character in text)
    return "-".join(part for part in folded.split("-") if part)


def counted(key: str) -> tuple[str, int | None]:
    """(GPU, count) of a folded name such as "8x-h200", "8xh200", "8-x-h200" or "h200-x8" (also from "h200:8")."""
    digits = len(key) - len(key.lstrip("0123456789"))
    rest = key[digits:].removeprefix("-")
    if digits and rest.startswith("x") and len(rest) > 1:
        return rest[1:].removeprefix("-"), int(key[:digits])
    head, dash, tail = key.rpartition("-")
    if dash and tail.startswith("x") and tail[1:].isdecimal():
        return head.removesuffix("-"), int(tail[1:])
    return key, None
