"""Collecting the weight components of one model, each with the format its modules are stored in."""

from collections.abc import Sequence

from preflight.model.importing.quantization import Quantization
from preflight.model.types import Component


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
        expert: bool = False,
        engines: tuple[str, ...] = (),
        part: str = "target",
    ) -> None:
        """`count` linear modules of one shape in each of these layers.

        `module` is their path below a layer, such as "self_attn.o_proj", by which the format is looked up.
        """
        by_format: dict[str, list[int]] = {}
        for layer in layers:
            format = self.quantization.format_of(f"layers.{layer}.{module}", expert) or self.dtype
            by_format.setdefault(format, []).append(layer)
        for format, held in by_format.items():
            elements = out_features * in_features * count * len(held)
            if elements:
                self.components.append(
                    Component(
                        name,
                        elements,
                        format,
                        shard,
                        tuple(held),
                        units=units,
                        row=in_features,
                        engines=engines,
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
        if elements:
            self.components.append(
                Component(
                    name,
                    elements,
                    format or self.dtype,
                    shard,
                    tuple(layers),
                    stage,
                    units,
                    None,
                    engines,
                    copy,
                    tied,
                    part,
                )
            )

    def vocabulary(self, rows: int, hidden: int, tied: bool) -> None:
        """The embedding table and the head."""
        self.plain("embedding", rows * hidden, "embedding", units=rows)
        format = self.quantization.format_of("lm_head") if self.quantization.head else None
        self.plain("lm_head", rows * hidden, "head", stage="last", units=rows, tied=tied, format=format)
