"""Polygamma function."""

from __future__ import annotations

import numpy

from chainer.backends.operations.special import polygamma as operation
from chainer.core.arrays.backend import backend_of
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.typing import Arrays, Indexes, VariableLike
from chainer.core.utils import type_check
from chainer.functions.rules import ExpressionFunction, Ops, Value, Values, array_of
from chainer.functions.rules.batching import BroadcastsInputs


class PolyGamma(BroadcastsInputs, ExpressionFunction):
    """Derivatives of the digamma function; the inputs are the order and the point."""

    type_check_key = ()
    retained_inputs = (0, 1)

    @property
    def label(self) -> str:
        return "polygamma"

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.argname(in_types, ("n", "x"))
        n_type, x_type = in_types
        type_check.expect(n_type.dtype.kind == "i", x_type.dtype.kind == "f")
        type_check.expect_broadcast_shapes(n_type.shape, x_type.shape)

    def forward(self, inputs: Arrays) -> Arrays:
        return (operation.select(*inputs).forward(*inputs),)

    def gradients(self, ops: Ops, targets: Indexes, *values: Value) -> Values:
        n, x, gy = values
        # There is no gradient with respect to the order, which is a constant of this expression.
        order = array_of(n)
        gx = ops.sum_to(ops.polygamma(order + 1, x) * gy, x.shape) if 1 in targets else None
        return tuple([gx if i == 1 else None for i in targets])


def polygamma(n: int | VariableLike, x: VariableLike) -> Variable:
    """Elementwise polygamma function: the ``n``-th derivative of :func:`digamma` at ``x``.

    It is differentiable with respect to ``x``. On the CPU it needs SciPy (``pip install
    "chainer[scipy]"``).

    Args:
        n (int, :class:`~chainer.Variable` or array): Order of the derivative, integers of a signed
            dtype.
        x (:class:`~chainer.Variable` or array): Input, floating point. The shapes of ``n`` and
            ``x`` are broadcast.

    Returns:
        ~chainer.Variable: Output of the dtype of ``x``. Not a number for negative ``n``.

    Raises:
        InvalidType: If dtypes do not fit, or shapes cannot be broadcast.
        ImportError: If ``x`` is in host memory and SciPy is not installed.

    Source: `Digital Library of Mathematical Functions, 5.15 <https://dlmf.nist.gov/5.15>`_.

    Example:
        >>> F.polygamma(1, np.array([0.5, 1, 2])).array.round(6)
        array([4.934802, 1.644934, 0.644934])
    """
    if isinstance(n, (int, numpy.integer)):
        x = as_variable(x)
        # The order becomes an input of the graph, on the device of x.
        with x.device:
            n = backend_of(x.array).asarray(int(n), "int64")
    return PolyGamma().apply((n, x))[0]
