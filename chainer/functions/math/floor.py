"""Rounding down."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions._documentation import gradientless_sections
from chainer.functions.math._gradientless import apply_without_gradient


@gradientless_sections()
def floor(x: VariableLike) -> Variable:
    """Elementwise floor: the largest integer that is not larger.

    Example:
        >>> F.floor(np.array([-1.5, 1.5]))
        variable([-2.,  1.])
    """
    return apply_without_gradient("floor", x)
