"""Collecting the weight components of one model, each with the format its modules are stored in."""

from collections.abc import Sequence

from preflight.model.importing.quantization import Quantization
from preflight.model.types import Component
from preflight.records import NamedTuple

TOWERS = ("visual", "vision_tower", "vision_model", "vision_encoder")  # roots of vision towers in checkpoints


class ExpertShape(NamedTuple):
    """Extents of one routed expert, which kernels may round up."""

    inner: int
    outer: int
    gated: bool


class Parts:
    """The components gathered so far, and how modules of this checkpoint are stored."""

    def __init__(self, quantization: Quantization, dtype: str) -> None:
        self.quantization = quantization
        self.dtype = dtype
        self.components: list[Component] = []

    def linear(
        self,
        name: str,
        module: str,
        out_features: int,
        in_features: int,
        shard: str,
        layers: Sequence[int],
        count: int = 1,
        units: int | None = None,
        expert: ExpertShape | None = None,
        part: str = "target",
        copy: bool = False,
    ) -> None:
        """`count` linear modules of one shape in each of these layers.

        `module` is their path below a layer, such as "self_attn.o_proj", by which the format is looked up.
        """
        by_format: dict[str, list[int]] = {}
        for index, layer in enumerate(layers):
            format = self.quantization.format_of(f"layers.{layer}.{module}", expert is not None) or self.dtype
            if part == "mtp" and self.quantization.skips(f"mtp.layers.{index}.{module}"):
                format = self.dtype  # some checkpoints name these layers apart
            by_format.setdefault(format, []).append(layer)
        for format, held in by_format.items():
            elements = out_features * in_features * count * len(held)
            if elements:
                target = part != "mtp"
                self.components.append(
                    Component(
                        name,
                        elements,
                        format,
                        shard,
                        layers=tuple(held) if target else (),
                        stage="first" if target else "last",
                        units=units,
                        row=in_features,
                        inner=expert.inner if expert else None,
                        outer=expert.outer if expert else None,
                        gated=expert.gated if expert else True,
                        copy=copy,
                        part=part,
                    )
                )

    def plain(
        self,
        name: str,
        elements: int,
        shard: str = "replicated",
        layers: Sequence[int] = (),
        stage: str = "first",
        format: str | None = None,
        units: int | None = None,
        engines: tuple[str, ...] = (),
        copy: bool = False,
        tied: bool = False,
        part: str = "target",
    ) -> None:
        """Elements that quantization never touches; `elements` counts the whole model."""
        if not elements:
            return
        target = part != "mtp"
        self.components.append(
            Component(
                name,
                elements,
                format or self.dtype,
                shard,
                layers=tuple(layers) if target else (),
                stage=stage if target else "last",
                units=units,
                engines=engines,
                copy=copy,
                tied=tied,
                part=part,
            )
        )

    def tower(self, name: str, module: str, elements: int, shard: str, engines: tuple[str, ...] = ()) -> None:
        """Linear modules of a vision tower; `module` is their path below it, such as "blocks.0.mlp.fc1"."""
        found = [self.quantization.format_of(f"{root}.{module}") for root in TOWERS]
        format = None if None in found or self.quantization.text_only else found[0]
        self.plain(name, elements, shard, format=format, engines=engines)

    def vocabulary(self, rows: int, hidden: int, tied: bool, embedding: str = "embedding", head: str = "head") -> None:
        """The embedding table and the head, each with its sharding rule."""
        self.plain("embedding", rows * hidden, embedding, units=rows)
        format = self.quantization.format_of("lm_head") if self.quantization.head and not tied else None
        self.plain("lm_head", rows * hidden, head, stage="last", units=rows, tied=tied, format=format)
