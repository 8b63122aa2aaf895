"""Randomized leaky rectified linear unit."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.activations import rrelu as rrelu_operation
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import REMOVED_TRAIN, removed_arguments
from chainer.functions.rules import PiecewiseLinearFunction


class RReLU(PiecewiseLinearFunction):
    """Randomized leaky rectified linear unit.

    Args:
        lower: Lower bound of the slopes.
        upper: Upper bound of the slopes.
        r: Slopes to use while training; drawn if None.

    Attributes:
        r: The slopes that were used.
    """

    retained_inputs = (0,)

    def __init__(
        self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, r: Array | None = None
    ) -> None:
        if not 0.0 <= lower < 1.0:
            raise ValueError(f"l (lower) must be in the range [0, 1), got {lower}")
        if not 0.0 <= upper < 1.0:
            raise ValueError(f"u (upper) must be in the range [0, 1), got {upper}")
        if lower >= upper:
            raise ValueError(f"l (lower) must be less than u (upper), got {lower} and {upper}")
        self.lower = lower
        self.upper = upper
        self.r = r

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")
        if self.r is not None:
            type_check.expect(in_types[0].dtype == self.r.dtype, in_types[0].shape == self.r.shape)

    def forward(self, inputs: Arrays) -> Arrays:
        x = inputs[0]
        xp = self.xp
        # While testing, the slope is the mean of the distribution.
        if not config.train:
            self.r = xp.full(x.shape, (self.lower + self.upper) / 2, dtype=x.dtype)
        elif self.r is None:
            self.r = xp.random.uniform(self.lower, self.upper, x.shape)
            self.r = xp.asarray(self.r).astype(x.dtype, copy=False)
        self._kernel = rrelu_operation.select(x, self.r)
        return (self._kernel.forward(x, self.r),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        (x,) = self.retained_input_arrays
        return (self._kernel.backward(x, self.r, grad_outputs[0]),)


@removed_arguments(train=REMOVED_TRAIN)
def rrelu(
    x: VariableLike,
    l: float = 1.0 / 8,  # noqa: E741 - the name of the argument since release 5
    u: float = 1.0 / 3,
    *,
    r: Array | None = None,
    return_r: bool = False,
) -> Variable | tuple[Variable, Any]:
    """Randomized Leaky Rectified Linear Unit function.

    While training, :math:`f(x) = x` where :math:`x \\ge 0` and :math:`a x` elsewhere, with
    :math:`a` drawn uniformly from :math:`[l, u)` for each element. Otherwise :math:`a = (l + u) /
        2`.

    See: https://arxiv.org/abs/1505.00853

    Args:
        x (:class:`~chainer.Variable` or array): Input of any shape, floating point.
        l (float): Lower bound of the slopes, in :math:`[0, 1)`.
        u (float): Upper bound of the slopes, in :math:`[0, 1)`, greater than ``l``.
        r (array): Slopes of the shape and dtype of ``x``, instead of random ones; used while
            training only.
        return_r (bool): If True, the slopes are returned, too.

    Returns:
        ~chainer.Variable or tuple: The output, or the tuple of it and the array of slopes.

    Raises:
        InvalidType: If ``x`` is not of floating point numbers, or ``r`` does not fit.
        ValueError: If the bounds do not fit, or for the removed argument ``train``.

    Example:
        >>> x = np.array([-1, 2], np.float32)
        >>> F.rrelu(x, r=np.array([0.25, 0.25], np.float32))
        variable([-0.25,  2.  ])
    """
    node = RReLU(l, u, r)
    y = node.apply((x,))[0]
    return (y, node.r) if return_r else y
