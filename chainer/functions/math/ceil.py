"""Rounding up."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions._documentation import gradientless_sections
from chainer.functions.math._gradientless import apply_without_gradient


@gradientless_sections()
def ceil(x: VariableLike) -> Variable:
    """Elementwise ceil: the smallest integer that is not smaller.

    Example:
        >>> F.ceil(np.array([-1.5, 1.5]))
        variable([-1.,  2.])
    """
    return apply_without_gradient("ceil", x)
