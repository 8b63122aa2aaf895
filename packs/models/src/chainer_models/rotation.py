"""Positions as rotations: what files say about them in several ways."""

from __future__ import annotations

from typing import Any

from chainer_models.errors import ModelFileError
from chainer_models.options import Options

#: Kinds of scaling that ``F.rotary_tables`` knows.
_KINDS = ("default", "linear", "dynamic", "llama3", "yarn")


def rotary_options(config: Options, base: float = 10000.0) -> tuple[float, dict[str, Any] | None]:
    """Returns base and scaling of the rotations.

    Files of transformers 5 have one entry ``rope_parameters``; those before ``rope_theta`` and
    ``rope_scaling``.

    Args:
        config: Options of the model.
        base: Base if the file has none.

    Raises:
        ModelFileError: If a value is not understood.
    """
    part = config.part("rope_parameters") or config.part("rope_scaling")
    theta = config.number("rope_theta", default=base)
    if part is None:
        return theta, None
    kind = part.text("rope_type", "type", default="default")
    if kind not in _KINDS:
        known = ", ".join(map(repr, _KINDS))
        raise ModelFileError(f"'rope_type' of {part.source} must be one of {known}, got {kind!r}")
    theta = part.number("rope_theta", default=theta)
    if kind == "default":
        return theta, None
    values = {**part.as_dict(), "rope_type": kind}
    longest = config.integer("max_position_embeddings", default=2048)
    if values.get("original_max_position_embeddings") is None:
        values["original_max_position_embeddings"] = longest
    return theta, values
