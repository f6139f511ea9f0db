"""Which stored format each module of a quantised checkpoint has, as its quantization configuration says.

Sources: Hugging Face transformers quantization_config of each method; NVIDIA ModelOpt hf_quant_config.json;
SGLang 0.5.23 srt/layers/quantization, vLLM 0.33.0 model_executor/layers/quantization.
"""

import re
from collections.abc import Mapping, Sequence
from fnmatch import translate
from typing import Any

from preflight.model.importing.fields import Fields
from preflight.records import NamedTuple

# Checkpoints name the same module under different roots; a pattern may use any of them.
ROOTS = ("", "model.", "language_model.", "model.language_model.", "language_model.model.", "backbone.")


class Rule(NamedTuple):
    """Modules to which one format applies."""

    patterns: "Patterns | None"  # None: every linear module
    format: str


class Quantization(NamedTuple):
    """A checkpoint's quantization: the formats by module, and what stays as it is."""

    method: str | None = None
    rules: tuple[Rule, ...] = ()
    skip: "Patterns | None" = None
    experts_only: bool = False
    experts_format: str | None = None  # where routed experts differ from other modules
    head: bool = False  # the vocabulary head is a linear module like others
    text_only: bool = False  # stated for the language model alone
    kv_cache_dtype: str | None = None
    unknown: str | None = None  # what could not be understood; bytes are then unknown

    def format_of(self, module: str, expert: bool = False) -> str | None:
        """The format key of a linear module, or None where it keeps the model's own element type.

        `module` is spelled from the decoder's root, such as "layers.3.self_attn.o_proj".
        """
        if not self.rules or (self.experts_only and not expert):
            return None
        if self.skips(module):
            return None
        for rule in self.rules:
            if rule.patterns is None or rule.patterns.name(module):
                return self.experts_format if expert and self.experts_format else rule.format
        return None

    def skips(self, module: str) -> bool:
        """Whether the configuration leaves this module as it is."""
        return self.skip is not None and self.skip.name(module)


class Patterns:
    """Module patterns of a quantization configuration, ready for many look-ups.

    "re:…" is a regular expression from the start of the name; a wildcard pattern spans the whole name or a parent;
    anything else is a run of whole path segments.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self.runs = {pattern for pattern in patterns if not pattern.startswith("re:") and not wild(pattern)}
        globs = [translate(pattern)[:-2] + r"(\..*)?\Z" for pattern in patterns if wild(pattern)]
        self.expressions = [compiled(pattern[3:]) for pattern in patterns if pattern.startswith("re:")]
        if globs:
            self.expressions.append(re.compile("|".join(globs), re.DOTALL))

    def name(self, module: str) -> bool:
        """Whether any pattern names the module, or a parent of it, under any of the roots in use."""
        for root in ROOTS:
            name = root + module
            if any(expression is not None and expression.match(name) for expression in self.expressions):
                return True
            segments = name.split(".")
            for start in range(len(segments)):
                for end in range(start + 1, len(segments) + 1):
                    if ".".join(segments[start:end]) in self.runs:
                        return True
        return False


def wild(pattern: str) -> bool:
    """Whether a pattern has wildcards."""
    return not pattern.startswith("re:") and ("*" in pattern or "?" in pattern)


def compiled(expression: str) -> re.Pattern[str] | None:
    """A compiled pattern; None for one that is broken, or built to take for ever."""
    if len(expression) > 4000 or REPEATED_REPEAT.search(expression):
        return None
    try:
        return re.compile(expression)
    except re.error:
        return None


REPEATED_REPEAT = re.compile(r"[+*}]\)[+*{]")  # such as (a+)+, whose matching time may grow without bound


def read_quantization(config: Mapping[str, Any], sidecar: Mapping[str, Any] | None = None) -> Quantization:
    """The quantization of a checkpoint, from config.json and (ModelOpt) hf_quant_config.json."""
    own = Fields(config).table("quantization_config")
    if sidecar is not None and own.text("quant_method") != "fp8":
        return modelopt(Fields(sidecar).table("quantization"))
    for owner in (config, Fields(config).table("text_config").config):
        for key in ("quantization_config", "compression_config"):
            table = owner.get(key)
            if isinstance(table, Mapping) and table:
                found = from_table(Fields(table))._replace(text_only=owner is not config)
                if found.experts_format is None and Fields(owner).text("expert_dtype") == "fp4":
                    return found._replace(experts_format="mxfp4")
                return found
    return Quantization()


def declared_method(config: Mapping[str, Any]) -> str:
    """The quant_method of config.json as written, which engines go by before they look further; "" without one."""
    for owner in (config, Fields(config).table("text_config").config):
        for key in ("quantization_config", "compression_config"):
            table = owner.get(key)
            if isinstance(table, Mapping) and table:
                return (Fields(table).text("quant_method") or "").lower()
    return ""


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
    if method == "quark":
        return quark(table)
    if method == "w8a8_int8":
        return simple(method, "int8-channel", table)
    return Quantization(method=method or None, unknown=f"quant_method {method}" if method else None)


SKIPPED = ("modules_to_not_convert", "ignored_layers", "ignore", "exclude_modules", "llm_int8_skip_modules", "exclude")


def skip_names(table: Fields, names: Sequence[str] = SKIPPED) -> list[str]:
    """Module patterns that stay unquantised, under all names in use."""
    return [pattern for name in names for pattern in table.texts(name)]


def skipped(table: Fields, names: Sequence[str] = SKIPPED) -> Patterns | None:
    """The same, ready for look-ups; None without any."""
    patterns = skip_names(table, names)
    return Patterns(patterns) if patterns else None


def simple(method: str, format: str, table: Fields) -> Quantization:
    """One format for all linear modules but the skipped ones."""
    return Quantization(method, (Rule(None, format),), skipped(table))


def fp8(table: Fields) -> Quantization:
    """Per-tensor or 128×128 block scales; `moe_quant_algo` marks checkpoints whose experts were quantised further."""
    block = table.integers("weight_block_size")
    format = "fp8-tensor"
    if block == (128, 128):
        format = "fp8-block-128-e8m0" if table.text("scale_fmt") == "ue8m0" else "fp8-block-128"
    elif block == (1, 32):
        format = "mxfp8"
    elif block is not None:
        return Quantization("fp8", unknown=f"weight_block_size {list(block)}")
    skip = skipped(table, ("modules_to_not_convert", "ignored_layers"))
    experts = ALGORITHMS.get((table.text("moe_quant_algo", "routed_experts_quant_method") or "").upper())
    return Quantization("fp8", (Rule(None, format),), skip, experts_format=experts)


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
        what = "unstated bits" if bits is None else f"{bits} bits in groups of {group}"
        return Quantization(method, unknown=f"{method} with {what}")
    dynamic = table.table("dynamic").config
    if any(not str(key).startswith("-:") for key in dynamic):
        return Quantization(method, unknown=f"{method} with bits that differ by module")
    kept = [f"re:{key[2:]}" for key in dynamic]  # GPTQ's spelling of modules left as they are
    skip = Patterns([*skip_names(table), *kept])
    return Quantization(method, (Rule(None, format),), skip, head=table.flag("lm_head"))


def bitsandbytes(table: Fields) -> Quantization:
    """NF4 blocks of 64 with fp32 (or twice quantised) maxima, or INT8."""
    if table.flag("load_in_4bit") or table.flag("_load_in_4bit"):
        double = table.flag("bnb_4bit_use_double_quant")
        return simple("bitsandbytes", "bnb-nf4-double" if double else "bnb-nf4", table)
    return simple("bitsandbytes", "bnb-int8", table)


def quark(table: Fields) -> Quantization:
    """AMD Quark: one scheme for all linear modules but the excluded ones."""
    if table.table("layer_quant_config").config:
        return Quantization("quark", unknown="quark with schemes that differ by module")
    weight = table.table("global_quant_config").table("weight")
    scheme = (weight.text("qscheme") or "").replace("Scheme.", "")
    format = {
        ("fp4", "per_group"): "mxfp4",
        ("fp8_e4m3", "per_tensor"): "fp8-tensor",
        ("fp8_e4m3", "per_channel"): "fp8-channel",
        ("int8", "per_tensor"): "int8",
        ("int8", "per_channel"): "int8-channel",
    }.get((weight.text("dtype") or "", scheme))
    if format is None or (format == "mxfp4" and weight.integer("group_size") not in (None, 32)):
        return Quantization("quark", unknown="a quark weight scheme")
    return simple("quark", format, table)._replace(head=True)


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
        targets = fields.texts("targets")
        rules.append(Rule(None if "Linear" in targets else Patterns(targets), format))
    if not rules and unknown is None:
        unknown = "compressed-tensors without config_groups"
    rules.sort(key=lambda rule: rule.patterns is None)
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
        rules = tuple(Rule(Patterns(modules), format) for format, modules in by_format.items())
        return Quantization("modelopt", rules, skipped(table), head=True, kv_cache_dtype=kv_cache)
    if algorithm not in ALGORITHMS:
        return Quantization("modelopt", kv_cache_dtype=kv_cache, unknown=f"quant_algo {algorithm or 'missing'}")
    method = "modelopt_fp4" if "NVFP4" in algorithm else "modelopt"
    return Quantization(method, (Rule(None, ALGORITHMS[algorithm]),), skipped(table), head=True, kv_cache_dtype=kv_cache)


def kv_scheme(scheme: Fields) -> str | None:
    """The KV cache element type that a checkpoint declares."""
    return "fp8_e4m3" if scheme.integer("num_bits") == 8 and scheme.text("type") == "float" else None
