"""Soft capping, a smooth clip (Bello et al., 2016, https://arxiv.org/abs/1611.09940)."""

from __future__ import annotations

from typing import Any

import chainer
from chainer.functions.rules import UnaryFunction
from chainer.typing import Arrays, VariableLike
from chainer.utils import type_check


class Softcap(UnaryFunction):
    """``cap * tanh(x / cap)``.

    Args:
        cap: Bound of the outputs, positive.
    """

    # The attributes the type check below depends on: none. So it runs once for each dtype and shape.
    type_check_key = ()
    # Nothing is kept for the gradient but what is named here. Outputs cost no memory: the functions
    # that follow keep them anyway.
    retained_outputs = (0,)

    def __init__(self, cap: float) -> None:
        super().__init__()
        self.cap = cap

    def check_type_forward(self, in_types: Any) -> None:
        """Refuses inputs that are not of floating point."""
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")

    def forward(self, inputs: Arrays) -> Arrays:
        """Computes on raw arrays; ``self.xp`` is the array module they belong to."""
        (x,) = inputs
        return (self.cap * self.xp.tanh(x / self.cap),)

    def gradient(self, ops: Any, y: Any, gy: Any) -> Any:
        """Returns the gradient, from arrays or from Variables: it has a gradient, too.

        ``ops`` has the functions of ``chainer.functions`` for both.
        """
        return gy * (1 - (y / self.cap) ** 2)


def softcap(x: VariableLike, cap: float = 30.0) -> chainer.Variable:
    """Bounds values smoothly: ``cap * tanh(x / cap)``.

    Near zero it is the identity; no output is beyond ``-cap`` and ``cap``.

    Args:
        x (Variable or array): Input of any shape, of floating point.
        cap: Bound of the outputs, positive.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        ValueError: If ``cap`` is not positive.
    """
    if not cap > 0:
        raise ValueError(f"cap must be positive, got {cap!r}")
    return Softcap(cap).apply((x,))[0]
