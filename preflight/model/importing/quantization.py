"""Which stored format each module of a quantised checkpoint has, as its quantization configuration says.

Sources: Hugging Face transformers quantization_config of each method; NVIDIA ModelOpt hf_quant_config.json;
SGLang 0.5.23 srt/layers/quantization, vLLM 0.33.0 model_executor/layers/quantization.
"""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from preflight.model.importing.fields import Fields

# Checkpoints name the same module under different roots; a pattern may use any of them.
ROOTS = ("", "model.", "language_model.", "model.language_model.", "language_model.model.")


class Rule(NamedTuple):
    """Modules to which one format applies."""

    patterns: tuple[str, ...]  # empty: every linear module
    format: str


class Quantization(NamedTuple):
    """A checkpoint's quantization: the formats by module, and what stays as it is."""

    method: str | None = None
    rules: tuple[Rule, ...] = ()
    skip: tuple[str, ...] = ()
    experts_only: bool = False
    head: bool = False  # the vocabulary head is a linear module like others
    kv_cache_dtype: str | None = None
    unknown: str | None = None  # what could not be understood; bytes are then unknown

    def format_of(self, module: str, expert: bool = False) -> str | None:
        """The format key of a linear module, or None where it keeps the model's own element type.

        `module` is spelled from the decoder's root, such as "layers.3.self_attn.o_proj".
        """
        if not self.rules or (self.experts_only and not expert):
            return None
        names = tuple(root + module for root in ROOTS)
        if any(matches(pattern, name) for pattern in self.skip for name in names):
            return None
        for rule in self.rules:
            if not rule.patterns or any(matches(pattern, name) for pattern in rule.patterns for name in names):
                return rule.format
        return None


def matches(pattern: str, module: str) -> bool:
    """Whether a pattern of a quantization configuration names a module, or a parent of it.

    "re:…" is a regular expression from the start of the name; a wildcard pattern spans the whole name or a parent;
    anything else is a run of whole path segments.
    """
    if pattern.startswith("re:"):
        expression = compiled(pattern[3:])
        return expression is not None and expression.match(module) is not None
    if "*" in pattern or "?" in pattern:
        return fnmatchcase(module, pattern) or fnmatchcase(module, pattern + ".*")
    return f".{pattern}." in f".{module}."


def compiled(expression: str) -> re.Pattern[str] | None:
    """A compiled pattern; None for one that is broken or too long to be honest."""
    if len(expression) > 4000:
        return None
    try:
        return re.compile(expression)
    except re.error:
        return None


def read_quantization(config: Mapping[str, Any], sidecar: Mapping[str, Any] | None = None) -> Quantization:
    """The quantization of a checkpoint, from config.json and (ModelOpt) hf_quant_config.json."""
    if sidecar is not None:
        return modelopt(Fields(sidecar).table("quantization"))
    for owner in (config, Fields(config).table("text_config").config):
        for key in ("quantization_config", "compression_config"):
            table = owner.get(key)
            if isinstance(table, Mapping) and table:
                return from_table(Fields(table))
    return Quantization()


def from_table(table: Fields) -> Quantization:
    """Dispatch on `quant_method`."""
    method = (table.text("quant_method") or "").lower()
    if not method and table.text("quant_algo"):
        method = "modelopt"
    if method == "compressed-tensors":
        return compressed_tensors(table)
    if method.startswith("modelopt") or method == "nvfp4":
        return modelopt(table)
    if method == "fp8":
        return fp8(table)
    if method == "fbgemm_fp8":
        return simple(method, "fp8-channel", table)
    if method in ("awq", "awq_marlin", "gptq", "gptq_marlin", "auto-round", "auto_round", "intel/auto-round"):
        return integer_groups(method, table)
    if method in ("mxfp4", "gpt_oss_mxfp4"):
        return simple("mxfp4", "mxfp4", table)._replace(experts_only=True)
    if method == "bitsandbytes":
        return bitsandbytes(table)
    if method == "w8a8_int8":
        return simple(method, "int8-channel", table)
    return Quantization(method=method or None, unknown=f"quant_method {method}" if method else None)


def skipped(table: Fields) -> tuple[str, ...]:
    """Module patterns that stay unquantised, under all names in use."""
    names = (
        "modules_to_not_convert",
        "ignored_layers",
        "ignore",
        "exclude_modules",
        "llm_int8_skip_modules",
        "exclude",
    )
    return tuple(pattern for name in names for pattern in table.texts(name))


def simple(method: str, format: str, table: Fields) -> Quantization:
    """One format for all linear modules but the skipped ones."""
    return Quantization(method, (Rule((), format),), skipped(table))


def fp8(table: Fields) -> Quantization:
    """Per-tensor or 128×128 block scales; DeepSeek-V4 keeps its experts in 4 bits inside an FP8 configuration."""
    block = table.integers("weight_block_size")
    e8m0 = table.text("scale_fmt") == "ue8m0"
    if block is None:
        return simple("fp8", "fp8-tensor", table)
    if block == (128, 128):
        return simple("fp8", "fp8-block-128-e8m0" if e8m0 else "fp8-block-128", table)
    if block == (1, 32):
        return simple("mxfp8", "mxfp8", table)
    return Quantization("fp8", unknown=f"weight_block_size {list(block)}")


def integer_groups(method: str, table: Fields) -> Quantization:
    """AWQ, GPTQ and AutoRound: packed integers with a scale and a zero point per group."""
    bits, group = table.integer("bits", "w_bit"), table.config.get("group_size", table.config.get("q_group_size"))
    format = {(4, 32): "int4-g32-zp", (4, 64): "int4-g64-zp", (4, 128): "int4-g128-zp", (8, 32): "int8-g32"}.get(
        (bits or 0, group if isinstance(group, int) else 0)
    )
    if bits == 8 and group in (128, -1):
        format = "int8-g128"
    if bits == 4 and group == -1:
        format = "int4-channel"
    if format is None:
        return Quantization(method, unknown=f"{method} with {bits} bits in groups of {group}")
    return simple(method, format, table)._replace(head=table.flag("lm_head"))


def bitsandbytes(table: Fields) -> Quantization:
    """NF4 blocks of 64 with fp32 (or twice quantised) maxima, or INT8."""
    if table.flag("load_in_4bit") or table.flag("_load_in_4bit"):
        double = table.flag("bnb_4bit_use_double_quant")
        return simple("bitsandbytes", "bnb-nf4-double" if double else "bnb-nf4", table)
    return simple("bitsandbytes", "bnb-int8", table)


def compressed_tensors(table: Fields) -> Quantization:
    """Groups of targets, each with its own weight scheme."""
    groups = table.config.get("config_groups")
    rules: list[Rule] = []
    unknown = None
    for group in groups.values() if isinstance(groups, Mapping) else ():
        fields = Fields(group if isinstance(group, Mapping) else {})
        format = scheme_format(fields.table("weights"), fields.text("format") or table.text("format") or "")
        if format is None:
            unknown = "a compressed-tensors weight scheme"
            continue
        targets = tuple(target for target in fields.texts("targets") if target != "Linear")
        rules.append(Rule(targets if "Linear" not in fields.texts("targets") else (), format))
    rules.sort(key=lambda rule: not rule.patterns)
    kv_cache = kv_scheme(table.table("kv_cache_scheme"))
    return Quantization("compressed-tensors", tuple(rules), skipped(table), head=True, kv_cache_dtype=kv_cache, unknown=unknown)


def scheme_format(weights: Fields, stored: str) -> str | None:
    """The format key of one compressed-tensors weight scheme."""
    bits, kind = weights.integer("num_bits"), weights.text("type")
    group, strategy = weights.integer("group_size"), weights.text("strategy")
    if kind == "float" and bits == 4:
        return "mxfp4" if "mxfp4" in stored or group == 32 else "nvfp4"
    if kind == "float" and bits == 8:
        if strategy == "block":
            return "fp8-block-128" if weights.integers("block_structure") in (None, (128, 128)) else None
        if group == 32:
            return "mxfp8"
        return "fp8-channel" if strategy == "channel" else "fp8-tensor"
    zero = "" if weights.flag("symmetric", default=True) else "-zp"
    if kind == "int" and bits == 4:
        if strategy == "channel" or group == -1:
            return "int4-channel"
        return {32: "int4-g32", 64: "int4-g64", 128: "int4-g128"}.get(group or 0, "") + zero if group in (32, 64, 128) else None
    if kind == "int" and bits == 8:
        return {32: "int8-g32", 128: "int8-g128"}.get(group) if strategy == "group" and group else "int8-channel"
    return None


ALGORITHMS = {
    "FP8": "fp8-tensor",
    "FP8_PER_CHANNEL_PER_TOKEN": "fp8-channel",
    "FP8_PB_WO": "fp8-block-128",
    "NVFP4": "nvfp4",
    "W4A16_NVFP4": "nvfp4",
    "W4A8_NVFP4_FP8": "nvfp4",
    "NVFP4_AWQ": "nvfp4",
    "MXFP4": "mxfp4",
    "W4A8_MXFP4_FP8": "mxfp4",
    "MXFP8": "mxfp8",
    "W4A16_AWQ": "int4-g128",
    "W4A8_AWQ": "int4-g128",
    "W8A8_SQ_PER_CHANNEL": "int8-channel",
}


def modelopt(table: Fields) -> Quantization:
    """NVIDIA ModelOpt: one algorithm with exclusions, or a list of modules with an algorithm each."""
    algorithm = (table.text("quant_algo") or "").upper()
    kv_cache = "fp8_e4m3" if table.text("kv_cache_quant_algo") == "FP8" else kv_scheme(table.table("kv_cache_scheme"))
    listed = table.config.get("quantized_layers")
    if algorithm == "MIXED_PRECISION" and isinstance(listed, Mapping):
        by_format: dict[str, list[str]] = {}
        for module, entry in listed.items():
            format = ALGORITHMS.get((Fields(entry).text("quant_algo") or "").upper()) if isinstance(entry, Mapping) else None
            if format is None:
                return Quantization("modelopt", kv_cache_dtype=kv_cache, unknown="a mixed-precision algorithm")
            by_format.setdefault(format, []).append(str(module))
        rules = tuple(Rule(tuple(modules), format) for format, modules in by_format.items())
        return Quantization("modelopt", rules, skipped(table), head=True, kv_cache_dtype=kv_cache)
    if algorithm not in ALGORITHMS:
        return Quantization("modelopt", kv_cache_dtype=kv_cache, unknown=f"quant_algo {algorithm or 'missing'}")
    method = "modelopt_fp4" if "NVFP4" in algorithm else "modelopt"
    return Quantization(method, (Rule((), ALGORITHMS[algorithm]),), skipped(table), head=True, kv_cache_dtype=kv_cache)


def kv_scheme(scheme: Fields) -> str | None:
    """The KV cache element type that a checkpoint declares."""
    return "fp8_e4m3" if scheme.integer("num_bits") == 8 and scheme.text("type") == "float" else None
