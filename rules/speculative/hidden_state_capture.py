"""Hidden states are captured without a draft.

## What it does
Finds `enable-return-aux-hidden-states` combinations that SGLang refuses.

## Why
With the flag, `speculative-algorithm` only names whose hidden states are captured (EAGLE3, DFLASH or DSPARK): nothing is
drafted. So a draft path contradicts it, and pipeline stages hide the layers. DFLASH and DSPARK have no layers of their
own choice, so `return-aux-hidden-state-layer-ids` is needed.

## Fix
Unsafe: either capture or draft.

## Source
sglang 0.5.23 srt/arg_groups/validation_hook.py.
"""

from preflight.engines.sglang.facts import algorithm
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("SPC018", "hidden-state-capture", "sglang", "early")

_FLAG = "enable-return-aux-hidden-states"


def _fault(s: State) -> str | None:
    layers = s.return_aux_hidden_state_layer_ids
    if not s.enable_return_aux_hidden_states:
        return None if layers is None else f"return-aux-hidden-state-layer-ids needs {_FLAG}"
    name = algorithm(s)
    if name not in ("EAGLE3", "DFLASH", "DSPARK"):
        return f"{_FLAG} needs speculative-algorithm EAGLE3, DFLASH or DSPARK, which names what is captured"
    if s.speculative_draft_model_path is not None:
        return f"{_FLAG} captures without a draft: leave speculative-draft-model-path out"
    if s.pp_size != 1:
        return f"{_FLAG} needs pp-size 1"
    if name != "EAGLE3" and not layers:
        return f"{_FLAG} with {name} needs return-aux-hidden-state-layer-ids"
    if layers is not None and (any(layer < 0 for layer in layers) or len(set(layers)) != len(layers)):
        return "return-aux-hidden-state-layer-ids must be different layers, counted from 0"
    return None


ROWS = (
    Row(
        "S29",
        REFUSES,
        when=lambda s: _fault(s) is not None,
        versions="0.5.23..",
        says=lambda s: f"{_fault(s)}.",
        at=_FLAG,
        fix=(Set(_FLAG, None),),
        source="srt/arg_groups/validation_hook.py",
        order=11,
        bad="--enable-return-aux-hidden-states @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--speculative-algorithm EAGLE3",
    ),
)
