"""Readers: bytes to launch sites. `reader_for` names the module that reads a file; its `read(document)` does it."""


def reader_for(path: str, head: str) -> str | None:
    """The module for a file of this path and beginning; None for a kind that holds no launches."""
    if path.endswith(".toml"):
        return "preflight.readers.launch_file"
    return None
