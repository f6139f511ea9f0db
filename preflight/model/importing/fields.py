"""Reading figures out of a configuration whose families spell them differently."""

from collections.abc import Mapping
from typing import Any

DTYPES = {
    "bfloat16": "bf16",
    "bf16": "bf16",
    "float16": "fp16",
    "half": "fp16",
    "fp16": "fp16",
    "float32": "fp32",
    "float": "fp32",
    "fp32": "fp32",
}


class Missing(Exception):
    """A figure that the arithmetic needs and the configuration does not give."""

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field


class Fields:
    """One configuration table, read by any of the names in use for a figure."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = config

    def integer(self, *names: str) -> int | None:
        """The first of these fields that holds a non-negative whole number; None if none does."""
        for name in names:
            value = self.config.get(name)
            if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 48:
                return value
        return None

    def need(self, *names: str) -> int:
        """As `integer`, for a figure that arithmetic cannot do without. Raises Missing under the first name."""
        value = self.integer(*names)
        if not value:  # no size is zero
            raise Missing(names[0])
        return value

    def factor(self, name: str) -> float | None:
        """A finite positive number of sensible size; None for anything else."""
        value = self.config.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e6:
            return float(value)
        return None

    def text(self, *names: str) -> str | None:
        """The first of these fields that holds text."""
        for name in names:
            value = self.config.get(name)
            if isinstance(value, str):
                return value
        return None

    def flag(self, name: str, default: bool = False) -> bool:
        """A switch; anything that is not a boolean counts as absent."""
        value = self.config.get(name)
        return value if isinstance(value, bool) else default

    def table(self, name: str) -> "Fields":
        """A nested table, empty where absent."""
        value = self.config.get(name)
        return Fields(value if isinstance(value, Mapping) else {})

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts, empty where absent; other entries are passed over."""
        value = self.config.get(name)
        return tuple(entry for entry in value if isinstance(entry, str)) if isinstance(value, list | tuple) else ()

    def integers(self, name: str) -> tuple[int, ...] | None:
        """A list of whole numbers; None where absent or mixed."""
        value = self.config.get(name)
        if not isinstance(value, list | tuple) or not all(isinstance(entry, int) for entry in value):
            return None
        return tuple(int(entry) for entry in value)

    def dtype(self) -> str | None:
        """The element type of unquantised weights."""
        return DTYPES.get((self.text("torch_dtype", "dtype") or "").removeprefix("torch."))
