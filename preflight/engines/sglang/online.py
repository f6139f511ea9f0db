"""A checkpoint as the launch loads it: `--quantization` on plain weights quantises them, `--dtype` widens them, parts are left
out.

0.5.9 and 0.5.23 srt/layers/quantization/__init__.py and fp8.py (linear modules and experts; embedding, head, norms and routers
stay).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from preflight.engines.steps import State, Unknown
from preflight.model.weights import ONLINE, quantised_online

if TYPE_CHECKING:
    from preflight.model.types import Component, Model

_PLAIN = ("bf16", "fp16", "fp32")
_ONLINE = {
    "modelopt_fp8": "fp8-tensor",
    "modelopt_fp4": "nvfp4",
    "nvfp4_online": "nvfp4",
    "quark_mxfp4": "mxfp4",
    "bitsandbytes": "bnb-nf4",
}
_KEEPS = (None, "unquant", "compressed-tensors")
_REPACKING, _FP32_SCALES = ("marlin", "flashinfer_mxfp4"), "expert scales"
"""Runners that repack four-bit experts with their scales, where the FP8 path keeps the scales widened besides."""
_WIDE = ("float32", "float")


_HARMLESS = frozenset(
    {"rope_scaling", "rope_theta", "rope_parameters", "max_position_embeddings", "architectures", "eos_token_id"}
)


def overridden(s: State) -> bool:
    """Whether `--json-model-override-args` may change the geometry that the profile gives."""
    given = s.json_model_override_args
    if given in (None, "", "{}"):
        return False
    try:
        table = json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError):
        return True
    return not isinstance(table, dict) or not set(table) <= _HARMLESS


def as_loaded(s: State, model: Model) -> Model:
    """The model with its weights in the formats that the launch gives them. Raises Unknown for a scheme not known here."""
    if model.components is None:
        return model
    if s.encoder_only:
        raise Unknown("which weights an encoder-only server loads")
    if s.language_only or s.language_model_only:
        kept = tuple(part for part in model.components if not part.shard.startswith("vision"))
        model = model._replace(components=kept)
    if _runner(s) in _REPACKING:
        model = model._replace(components=tuple(part for part in model.components or () if part.name != _FP32_SCALES))
    return _in_format(s, model, model.components or ())


def _runner(s: State) -> object:
    try:
        return s.moe_runner_backend
    except Unknown:
        return None


def _in_format(s: State, model: Model, components: tuple[Component, ...]) -> Model:
    if s.torchao_config:
        raise Unknown("bytes of weights that torchao quantises")
    scheme = s.quantization if s.given("quantization") else None
    plain = model.quantization is None and all(part.format in _PLAIN for part in components)
    if plain and scheme not in _KEEPS:
        if scheme in ONLINE:
            return quantised_online(model, str(scheme))
        format = _ONLINE.get(str(scheme))
        if format is None:
            raise Unknown(f"bytes of weights that {scheme} quantises while loading")
        return model._replace(components=tuple(_quantised(part, format) for part in components))
    if s.dtype in _WIDE:
        return model._replace(components=tuple(_widened(part) for part in components))
    return model


def _quantised(part: Component, format: str) -> Component:
    """Only linear modules have a row of input features."""
    return part._replace(format=format) if part.row is not None and not part.copy else part


def _widened(part: Component) -> Component:
    return part._replace(format="fp32") if part.format in ("bf16", "fp16") else part
