"""Bytes per stored element of each weight format, scales included, as exact ratios.

Source: published format definitions; sglang-memory facts on bytes per parameter (FP8 block 1 + 4/16384, int4 group
scales 2/g, zero points 0.5/g, NVFP4 0.5 + 1/16, MXFP4 0.5 + 1/32); GGUF block layouts (bytes per block of elements).
"""

# format -> (bytes, elements): `bytes` bytes hold `elements` elements.
RATIOS: dict[str, tuple[int, int]] = {
    "fp32": (4, 1),
    "bf16": (2, 1),
    "fp16": (2, 1),
    "int64": (8, 1),
    "int32": (4, 1),
    "int16": (2, 1),
    "int8": (1, 1),
    "fp8-tensor": (1, 1),
    "fp8-block-128": (16388, 16384),
    "fp8-block-128-e8m0": (16385, 16384),
    "mxfp8": (33, 32),
    "int4-g32": (18, 32),
    "int4-g64": (34, 64),
    "int4-g128": (66, 128),
    "int4-channel": (1, 2),
    "int4-g32-zp": (37, 64),
    "int4-g64-zp": (69, 128),
    "int4-g128-zp": (133, 256),
    "int8-g32": (34, 32),
    "int8-g128": (130, 128),
    "int3-g128": (50, 128),
    "int2-g128": (34, 128),
    "w4afp8": (66, 128),
    "nvfp4": (9, 16),
    "mxfp4": (17, 32),
    "bnb-nf4": (36, 64),
    "bnb-nf4-double": (8384, 16384),
    "bnb-int8": (1, 1),
    "gguf-q4_0": (18, 32),
    "gguf-q4_1": (20, 32),
    "gguf-q5_0": (22, 32),
    "gguf-q5_1": (24, 32),
    "gguf-q8_0": (34, 32),
    "gguf-q8_1": (36, 32),
    "gguf-q2_k": (84, 256),
    "gguf-q3_k": (110, 256),
    "gguf-q4_k": (144, 256),
    "gguf-q5_k": (176, 256),
    "gguf-q6_k": (210, 256),
    "gguf-q8_k": (292, 256),
    "gguf-iq2_xxs": (66, 256),
    "gguf-iq2_xs": (74, 256),
    "gguf-iq3_xxs": (98, 256),
    "gguf-iq1_s": (50, 256),
    "gguf-iq4_nl": (18, 32),
    "gguf-iq3_s": (110, 256),
    "gguf-iq2_s": (82, 256),
    "gguf-iq4_xs": (136, 256),
    "gguf-iq1_m": (56, 256),
    "gguf-tq1_0": (54, 256),
    "gguf-tq2_0": (66, 256),
    "gguf-mxfp4": (17, 32),
    "bytes": (1, 1),  # exact bytes taken from a file's own header
}

# Formats whose scales lie along the input features, one fp32 per output row: row scales are 4/in_features.
ROW_SCALED = {"fp8-channel": 1, "int8-channel": 1}

DTYPE_BYTES = {"fp32": 4, "bf16": 2, "fp16": 2, "fp8_e4m3": 1, "fp8_e5m2": 1, "int8": 1}


def known(format: str) -> bool:
    """Whether bytes can be computed for this format."""
    return format in RATIOS or format in ROW_SCALED


def stored_bytes(elements: int, format: str, row: int | None = None) -> int:
    """Bytes of `elements` elements in `format`, rounded up; `row` is the number of input features."""
    if format in ROW_SCALED:
        payload = elements * ROW_SCALED[format]
        return payload + (4 * -(-elements // row) if row else 0)
    numerator, denominator = RATIOS[format]
    return -(-elements * numerator // denominator)
