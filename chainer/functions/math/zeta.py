"""Hurwitz zeta function."""

from __future__ import annotations

from chainer.backends.operations.special import zeta as operation
from chainer.core.autograd.variable import Variable
from chainer.core.typing import ArrayLike, Arrays, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.functions.rules import Ops, UnaryFunction, Value
from chainer.functions.rules.batching import beside_constant


class Zeta(UnaryFunction):
    """Hurwitz zeta function.

    Args:
        x (float or array): Exponent, a constant.
    """

    type_check_key = ()
    retained_inputs = (0,)

    def __init__(self, x: ArrayLike) -> None:
        self._x = x

    @property
    def label(self) -> str:
        return "zeta"

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.argname(in_types, ("q",))
        type_check.expect(in_types[0].dtype.kind == "f")

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        return self.apply((beside_constant(inputs[0], self._x),))

    def forward(self, inputs: Arrays) -> Arrays:
        return (operation.select(*inputs).forward(self._x, *inputs),)

    def gradient(self, ops: Ops, *values: Value) -> Value:
        q, gy = values
        gq = -(ops.zeta(self._x + 1, q) * self._x * gy)
        # An array x may have a larger shape than q, and another dtype.
        return ops.cast(ops.sum_to(gq, q.shape), q.dtype)


def zeta(x: ArrayLike | VariableLike, q: VariableLike) -> Variable:
    r"""Elementwise Hurwitz zeta function :math:`\sum_{k=0}^\infty (k + q)^{-x}`.

    It is differentiable with respect to ``q``; ``x`` is a constant. On the CPU it needs SciPy
    (``pip install "chainer[scipy]"``).

    Args:
        x (float, :class:`~chainer.Variable` or array): Exponent, greater than 1. A Variable counts
            as a constant.
        q (:class:`~chainer.Variable` or array): Input, floating point. The shapes of ``x`` and
            ``q`` are broadcast.

    Returns:
        ~chainer.Variable: Output of the dtype of ``q``. Infinite where ``q`` is 0 or a negative
        integer, or ``x`` is 1; not a number where ``x`` is less than 1.

    Raises:
        InvalidType: If the dtype of ``q`` does not fit.
        ImportError: If ``q`` is in host memory and SciPy is not installed.

    Source: `Digital Library of Mathematical Functions, 25.11 <https://dlmf.nist.gov/25.11>`_.

    Example:
        >>> F.zeta(2, np.array([0.5, 1, 2])).array.round(6)
        array([4.934802, 1.644934, 0.644934])
    """
    return Zeta(x.array if isinstance(x, Variable) else x).apply((q,))[0]
