"""Zoneout."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.config.configuration import config
from chainer.core.typing import Array, Arrays, Indexes, VariableLike
from chainer.core.utils.argument import REMOVED_TRAIN, removed_arguments
from chainer.functions.array.cast import in_dtype
from chainer.functions.rules import ExpressionFunction, Ops, Value, Values, expect_two_equal_floats


class Zoneout(ExpressionFunction):
    """Random choice between the elements of two inputs.

    Args:
        zoneout_ratio (float): Probability of an element of the first input.

    Attributes:
        flag_x: Mask of the elements of the second input that were chosen; None before the call.
    """

    argument_names = ("h", "x")

    type_check_key = ()
    check_type_forward = expect_two_equal_floats

    def __init__(self, zoneout_ratio: float) -> None:
        if not 0.0 <= zoneout_ratio <= 1.0:
            raise ValueError(f"zoneout ratio must be in the range [0, 1], got {zoneout_ratio}")
        self.zoneout_ratio = zoneout_ratio
        self.flag_x: Any = None

    @property
    def flag_h(self) -> Array:
        """Mask of the elements of the first input that were chosen; None before the call."""
        return None if self.flag_x is None else ~self.flag_x

    def forward(self, inputs: Arrays) -> Arrays:
        h, x = inputs
        if self.flag_x is None:
            xp = self.xp
            self.flag_x = xp.asarray(xp.random.rand(*x.shape) >= self.zoneout_ratio)
        return (self.xp.where(self.flag_x, x, h),)

    def gradients(self, ops: Ops, targets: Indexes, gy: Value) -> Values:
        # Each element of the output is one of the two inputs.
        return tuple([gy * (self.flag_x if i else ~self.flag_x) for i in targets])


@removed_arguments(train=REMOVED_TRAIN)
def zoneout(h: VariableLike, x: VariableLike, ratio: float = 0.5) -> Variable:
    """Drops elements of input variable and sets to previous variable randomly.

    It replaces each element of ``x`` by the one in ``h`` with probability ``ratio``. In testing
    mode (``chainer.config.train`` is False) it does nothing and just returns ``x``.

    Args:
        h (~chainer.Variable or array): Previous variable, in the shape of ``x``.
        x (~chainer.Variable or array): Input variable, floating point.
        ratio (float): Zoneout ratio, ``0.0 <= ratio <= 1.0``.

    Returns:
        ~chainer.Variable: Output variable, in the dtype to which NumPy promotes ``h`` and ``x``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If ``ratio`` is out of range, or for the removed argument ``train``.

    See the paper: `Zoneout: Regularizing RNNs by Randomly Preserving Hidden Activations
    <https://arxiv.org/abs/1606.01305>`_.

    Example:
        >>> h, x = np.zeros(1000, np.float32), np.ones(1000, np.float32)
        >>> bool(0.6 < F.zoneout(h, x, ratio=0.3).array.mean() < 0.8)
        True
    """
    if config.train:
        h, x = as_variable(h), as_variable(x)
        if h.dtype != x.dtype and h.dtype.kind == x.dtype.kind == "f":
            dtype = numpy.result_type(h.dtype, x.dtype)
            h, x = in_dtype(h, dtype), in_dtype(x, dtype)
        return Zoneout(ratio).apply((h, x))[0]
    return as_variable(x)
