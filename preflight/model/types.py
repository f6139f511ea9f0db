"""The facts about a model that memory arithmetic stands on. None always means unknown, never zero."""

from preflight.records import NamedTuple


class LayerGroup(NamedTuple):
    """Layers whose attention stores the same thing per token (or per request).

    `kind` is "gqa" (keys and values for every token), "sliding" (the same, within `window` tokens), "chunked"
    (within the current chunk of `window` tokens), "mla" (one compressed vector per token) or "linear" (a state of
    constant size per request).
    """

    kind: str
    layers: tuple[int, ...]  # indices of the layers, 0-based
    kv_heads: int | None = None
    head_dim: int | None = None
    v_head_dim: int | None = None
    window: int | None = None  # tokens
    kv_lora_rank: int | None = None  # elements
    qk_rope_head_dim: int | None = None  # elements
    index_head_dim: int | None = None  # elements per token of a sparse-attention indexer
    compress_ratio: int | None = None  # tokens per stored entry, where attention compresses the sequence
    linear: str | None = None  # mamba1 | mamba2 | gdn | kda | lightning | shortconv
    linear_k_heads: int | None = None  # for mamba2: state groups
    linear_v_heads: int | None = None  # for mamba2: heads
    linear_k_dim: int | None = None  # for mamba2: state size
    linear_v_dim: int | None = None  # for mamba2: head dim
    conv_kernel: int | None = None
    conv_dtype: str | None = None
    state_dtype: str | None = None  # as the checkpoint declares it
    shared_kv: bool = False  # these layers read another layer's keys and values and store none


class Component(NamedTuple):
    """Weights that are stored in one format and sharded by one rule.

    `elements` counts the parameters of the whole model; scales are part of the format's bytes per element.
    `shard` says how ranks divide it:
      replicated; heads, kv-heads, linear (attention ranks); columns (dense MLP); experts; shared-experts;
      embedding, head (vocabulary rows); vision, vision-replicated.
    `layers` lists the layers among which the elements are spread evenly; empty means outside the layers, where
    `stage` ("first", "last", "all") says which pipeline stages hold it.
    """

    name: str
    elements: int
    format: str
    shard: str
    layers: tuple[int, ...] = ()
    stage: str = "first"
    units: int | None = None  # what is divided: heads, experts or rows; None: divides evenly
    row: int | None = None  # input features of linear modules; None for what is no linear module
    inner: int | None = None  # intermediate size of experts, which some kernels pad on each rank
    outer: int | None = None  # hidden size of experts, likewise
    gated: bool = True  # experts with a gate projection beside the up projection
    engines: tuple[str, ...] = ()  # empty: every engine
    copy: bool = False  # made by the engine after loading; not part of the checkpoint
    tied: bool = False  # shares its storage with the embedding unless they lie on different stages
    part: str = "target"  # "mtp": prediction layers, loaded only to draft; "buffers": tables made while loading


class Vision(NamedTuple):
    """The vision tower as SGLang's configuration class reads it (it decides the automatic memory fraction)."""

    sglang_layers: int | None = None
    sglang_hidden: int | None = None
    layers: int | None = None  # as the checkpoint means it
    hidden: int | None = None


class Model(NamedTuple):
    """A model: geometry, attention by layer groups, and weights by components."""

    name: str
    architecture: str | None = None  # first entry of the checkpoint's `architectures`
    model_type: str | None = None
    context_length: int | None = None  # tokens, as SGLang derives it: positions times the factor of their scaling
    position_embeddings: int | None = None  # tokens, as the configuration states them
    layers: int | None = None
    hidden_size: int | None = None
    vocab_size: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    dtype: str | None = None  # bf16 | fp16 | fp32
    quantization: str | None = None  # quant_method of the checkpoint
    config_quantization: str | None = None  # quant_method as config.json has it: "" where only hf_quant_config.json says more
    kv_cache_dtype: str | None = None  # declared by the checkpoint, such as fp8_e4m3
    attention: tuple[LayerGroup, ...] | None = None
    components: tuple[Component, ...] | None = None
    vision: Vision | None = None
    experts: int | None = None  # routed experts
    experts_per_token: int | None = None
    moe_intermediate_size: int | None = None
    mtp_layers: int | None = None  # multi-token-prediction layers in the checkpoint
    missing: tuple[str, ...] = ()  # configuration fields that would have been needed
    source: tuple[tuple[str, str], ...] = ()  # (figure group, where the figures come from)

    @property
    def is_mla(self) -> bool | None:
        """Whether keys and values are stored as one compressed vector; None where attention is unknown."""
        if self.attention is None:
            return None
        return any(group.kind == "mla" for group in self.attention)


class Parallel(NamedTuple):
    """How one engine instance spreads a model over its ranks (one rank per GPU).

    `tp` counts all ranks of one pipeline stage; with DP attention they form `attn_dp` groups. `dp` is the number of
    replicas, except in vLLM, whose experts are spread over `tp * dp` ranks.
    """

    tp: int = 1
    pp: int = 1
    dp: int = 1
    attn_dp: int = 1
    ep: int = 1
    moe_dense_tp: int | None = None  # ranks that share a dense MLP under DP attention; None: all of `tp`
    attn_cp: int = 1
    moe_dp: int = 1
    dp_lm_head: bool = False  # the head is divided among attention ranks only
    shared_experts_replicated: bool = False  # as under expert all-to-all
    vision_replicated: bool = False  # the encoder runs data-parallel
    redundant_experts: int = 0
    layer_partition: tuple[int, ...] = ()  # layers per pipeline stage where the launch states them
    layer_split: str | None = None  # how stages share the remainder: tail | last | middle; None: as the engine does now

    @property
    def attn_tp(self) -> int:
        """Ranks among which attention heads are divided."""
        return max(1, self.tp // (self.attn_dp * self.attn_cp))
