"""Sign."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions._documentation import gradientless_sections
from chainer.functions.math._gradientless import apply_without_gradient


@gradientless_sections()
def sign(x: VariableLike) -> Variable:
    """Elementwise sign: -1, 0 or 1.

    Example:
        >>> F.sign(np.array([-1.5, 1.5]))
        variable([-1.,  1.])
    """
    return apply_without_gradient("sign", x)
