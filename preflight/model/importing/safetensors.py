"""Headers of safetensors files: names, element types, shapes. Tensor data is never read.

Source: the format's own description (github.com/huggingface/safetensors, README, "Format").
"""

import json
import os
import struct
from collections.abc import Iterator
from itertools import pairwise

from preflight.model.importing.errors import BadModel
from preflight.records import NamedTuple

LIMIT = 100_000_000  # bytes; the format's own limit for a header
BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
    "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "I64": 64, "U64": 64, "F64": 64,
    "C64": 64, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
}  # fmt: skip


class Tensor(NamedTuple):
    """One tensor of a checkpoint."""

    name: str
    dtype: str  # as the file spells it, such as BF16
    elements: int
    bytes: int


def is_pointer(path: str) -> bool:
    """Whether a file is a Git LFS pointer in place of the real one."""
    with open(path, "rb") as file:
        return file.read(20).startswith(b"version https://git-")


def read_header(path: str) -> tuple[Tensor, ...]:
    """The tensors of one file. Raises BadModel."""
    name = os.path.basename(path)
    try:
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            start = file.read(8)
            if len(start) < 8:
                raise BadModel(f"{name} ends before its header. Download it again.")
            (length,) = struct.unpack("<Q", start)
            if length > LIMIT or length > size - 8:
                raise BadModel(f"{name} states a header of {length} bytes in a file of {size}. Download it again.")
            text = file.read(length)
    except OSError as error:
        raise BadModel(f"{path} cannot be read ({error.strerror or error}). Check the path and its permissions.") from None
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        what = "is nested too deeply" if isinstance(error, RecursionError) else "is not JSON"
        raise BadModel(f"The header of {name} {what}. Download the file again.") from None
    if not isinstance(header, dict):
        raise BadModel(f"The header of {name} is not a table of tensors. Download the file again.")
    return tuple(tensors(name, header))


def tensors(file: str, header: dict[str, object]) -> Iterator[Tensor]:
    """The header's entries, checked against each other. Raises BadModel."""
    spans: list[tuple[int, int, str]] = []
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        tensor, begin, end = checked(file, name, entry)
        spans.append((begin, end, name))
        yield tensor
    spans.sort()
    for (_, end, before), (begin, _, name) in pairwise(spans):
        if begin < end:
            raise BadModel(f"{file}: the data of {name} overlaps that of {before}. Download the file again.")


def checked(file: str, name: str, entry: object) -> tuple[Tensor, int, int]:
    """One entry and its place in the file. Raises BadModel."""
    fields = entry if isinstance(entry, dict) else {}
    dtype, shape, offsets = fields.get("dtype"), extents(fields.get("shape")), extents(fields.get("data_offsets"))
    if isinstance(dtype, str) and shape is not None and offsets is not None and len(offsets) == 2:
        elements = 1
        for extent in shape:
            elements *= extent
        begin, end = offsets
        bits = BITS.get(dtype)
        if begin <= end and (bits is None or (elements * bits + 7) // 8 == end - begin):
            return Tensor(name, dtype, elements, end - begin), begin, end
    raise BadModel(f"{file}: the entry of tensor {name[:80]} contradicts itself. Download the file again.")


def extents(value: object) -> list[int] | None:
    """A list of whole numbers that can be sizes; None for anything else."""
    if not isinstance(value, list) or len(value) > 16:
        return None
    return value if all(type(part) is int and 0 <= part < 1 << 62 for part in value) else None
