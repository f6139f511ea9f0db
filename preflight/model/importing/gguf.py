"""GGUF headers: geometry from the metadata, exact bytes from the tensor table. Tensor data is never read.

Source: the format's description, github.com/ggml-org/ggml docs/gguf.md.
"""

import os
import struct
from typing import Any, BinaryIO

from preflight.model.formats import RATIOS
from preflight.model.importing.config import model_from_config
from preflight.model.importing.errors import BadModel
from preflight.model.importing.safetensors import Tensor
from preflight.model.importing.tensors import components_from_tensors
from preflight.model.types import Model

# ggml type numbers -> format keys.
TYPES = {
    0: "fp32", 1: "fp16", 2: "gguf-q4_0", 3: "gguf-q4_1", 6: "gguf-q5_0", 7: "gguf-q5_1", 8: "gguf-q8_0",
    9: "gguf-q8_1", 10: "gguf-q2_k", 11: "gguf-q3_k", 12: "gguf-q4_k", 13: "gguf-q5_k", 14: "gguf-q6_k",
    15: "gguf-q8_k", 16: "gguf-iq2_xxs", 17: "gguf-iq2_xs", 18: "gguf-iq3_xxs", 19: "gguf-iq1_s", 20: "gguf-iq4_nl",
    21: "gguf-iq3_s", 22: "gguf-iq2_s", 23: "gguf-iq4_xs", 24: "int8", 25: "int16", 26: "int32", 27: "int64",
    29: "gguf-iq1_m", 30: "bf16", 34: "gguf-tq1_0", 35: "gguf-tq2_0", 39: "gguf-mxfp4",
}  # fmt: skip
SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
STRING, ARRAY = 8, 9
MAX_COUNT = 10_000_000
KEPT_ARRAY = 4096  # longer arrays (vocabularies) are counted, not kept


class Header:
    """Reading a GGUF header from its start; every length is checked against what is left of the file."""

    def __init__(self, file: BinaryIO, size: int, name: str) -> None:
        self.file, self.size, self.name = file, size, name

    def take(self, count: int) -> bytes:
        """The next bytes. Raises BadModel where the file ends before."""
        if count > self.size - self.file.tell():
            raise BadModel(f"{self.name} states {count} bytes where the file ends. Download it again.")
        data = self.file.read(count)
        if len(data) < count:
            raise BadModel(f"{self.name} ends inside its header. Download it again.")
        return data

    def scalar(self, layout: str) -> Any:
        """One number."""
        return struct.unpack(layout, self.take(struct.calcsize(layout)))[0]

    def count(self, what: str) -> int:
        """A number of things that can be in a file. Raises BadModel."""
        value: int = self.scalar("<Q")
        if value > MAX_COUNT:
            raise BadModel(f"{self.name} states {value} {what}. Download it again.")
        return value

    def text(self) -> str:
        """A string."""
        return self.take(self.scalar("<Q")).decode("utf-8", "replace")

    def value(self, kind: int, depth: int = 0) -> Any:
        """One metadata value; long arrays become their length."""
        if kind == STRING:
            return self.text()
        if kind == ARRAY:
            if depth > 4:
                raise BadModel(f"{self.name} nests arrays too deeply. Download it again.")
            inner, count = self.scalar("<I"), self.count("array entries")
            if inner in SCALARS:
                width = struct.calcsize(SCALARS[inner])
                data = self.take(width * count)
                return list(struct.unpack(f"<{count}{SCALARS[inner][1]}", data)) if count <= KEPT_ARRAY else Length(count)
            if count > KEPT_ARRAY:
                return self.skipped(inner, count, depth)
            return [self.value(inner, depth + 1) for _ in range(count)]
        if kind not in SCALARS:
            raise BadModel(f"{self.name} has a metadata value of unknown type {kind}. Download it again.")
        return self.scalar(SCALARS[kind])

    def skipped(self, kind: int, count: int, depth: int) -> "Length":
        """Passes over a long array."""
        for _ in range(count):
            self.value(kind, depth + 1)
        return Length(count)


class Length(int):
    """The length of an array whose entries were passed over."""


def model_from_gguf(path: str) -> Model:
    """The model of one GGUF file. Raises BadModel."""
    name = os.path.basename(path)
    try:
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            metadata, tensors = read(Header(file, size, name))
    except OSError as error:
        raise BadModel(f"{path} cannot be read ({error.strerror or error}). Check the path and its permissions.") from None
    config = config_of(metadata)
    model = model_from_config(config, os.path.splitext(name)[0], origin="GGUF metadata")
    if model.layers is None:
        raise BadModel(f"{name} has no {metadata.get('general.architecture')}.block_count. It is no language model.")
    components = components_from_tensors(tensors, model._replace(quantization="gguf"))
    source = (("geometry", "GGUF metadata"), ("weights", "GGUF tensor table"))
    return model._replace(components=components, quantization="gguf", source=source, missing=())


def read(header: Header) -> tuple[dict[str, Any], list[Tensor]]:
    """Metadata and tensor table."""
    if header.take(4) != b"GGUF":
        raise BadModel(f"{header.name} does not start as a GGUF file. Check the path.")
    version = header.scalar("<I")
    if version not in (2, 3):
        raise BadModel(f"{header.name} has GGUF version {version}; 2 and 3 are known. Convert the file.")
    tensor_count, entry_count = header.count("tensors"), header.count("metadata entries")
    metadata: dict[str, Any] = {}
    for _ in range(entry_count):
        key = header.text()
        metadata[key] = header.value(header.scalar("<I"))
    tensors = [tensor(header) for _ in range(tensor_count)]
    return metadata, tensors


def tensor(header: Header) -> Tensor:
    """One entry of the tensor table. Raises BadModel."""
    name, dimensions = header.text(), header.scalar("<I")
    if dimensions > 8:
        raise BadModel(f"{header.name}: tensor {name[:80]} has {dimensions} dimensions. Download the file again.")
    elements = 1
    for _ in range(dimensions):
        elements *= header.scalar("<Q")
    kind = header.scalar("<I")
    header.scalar("<Q")
    if kind not in TYPES or elements >= 1 << 62:
        raise BadModel(f"{header.name}: tensor {name[:80]} has an unknown type or size ({kind}). Update preflight.")
    numerator, denominator = RATIOS[TYPES[kind]]
    return Tensor(name, TYPES[kind], elements, -(-elements * numerator // denominator))


FIELDS = {
    "num_hidden_layers": "block_count",
    "hidden_size": "embedding_length",
    "intermediate_size": "feed_forward_length",
    "num_attention_heads": "attention.head_count",
    "num_key_value_heads": "attention.head_count_kv",
    "head_dim": "attention.key_length",
    "v_head_dim": "attention.value_length",
    "max_position_embeddings": "context_length",
    "vocab_size": "vocab_size",
    "num_experts": "expert_count",
    "num_experts_per_tok": "expert_used_count",
    "moe_intermediate_size": "expert_feed_forward_length",
    "n_shared_experts": "expert_shared_count",
    "first_k_dense_replace": "leading_dense_block_count",
    "sliding_window": "attention.sliding_window",
    "kv_lora_rank": "attention.kv_lora_rank",
    "q_lora_rank": "attention.q_lora_rank",
    "qk_rope_head_dim": "rope.dimension_count",
}  # fmt: skip


def config_of(metadata: dict[str, Any]) -> dict[str, Any]:
    """The figures of a configuration, from the keys of the file's architecture."""
    architecture = str(metadata.get("general.architecture", ""))
    config: dict[str, Any] = {"model_type": architecture, "torch_dtype": "float16"}
    for field, key in FIELDS.items():
        value = metadata.get(f"{architecture}.{key}")
        if isinstance(value, list) and value and len(set(value)) == 1:
            value = value[0]
        if isinstance(value, int) and not isinstance(value, bool):
            config[field] = int(value)
    tokens = metadata.get("tokenizer.ggml.tokens")
    if "vocab_size" not in config and tokens is not None:
        config["vocab_size"] = int(tokens) if isinstance(tokens, Length) else len(tokens)
    mla = "kv_lora_rank" in config
    if mla:
        rope = config.get("qk_rope_head_dim", 64)
        config["qk_nope_head_dim"] = metadata.get(f"{architecture}.attention.key_length_mla", config.get("head_dim", 192)) - rope
        config["v_head_dim"] = metadata.get(f"{architecture}.attention.value_length_mla", config.get("v_head_dim", 128))
        config.pop("head_dim", None)
    else:
        config.pop("qk_rope_head_dim", None)
    return config
