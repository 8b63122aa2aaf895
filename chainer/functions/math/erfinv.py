"""Inverse of the error function."""

from __future__ import annotations

import math

from chainer.backends.operations import special
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions.math._special import InverseFunction
from chainer.functions.rules import Ops, Value


class ErfInv(InverseFunction):
    """Inverse of the error function."""

    operation = special.erfinv

    def derivative(self, ops: Ops, y: Value) -> Value:
        return ops.exp(y * y) * (math.sqrt(math.pi) / 2)


def erfinv(x: VariableLike) -> Variable:
    """Elementwise inverse of the error function :func:`erf`.

    On the CPU it needs SciPy (``pip install "chainer[scipy]"``).

    Args:
        x (:class:`~chainer.Variable` or array): Input of any shape, floating point, in [-1, 1].

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``. Infinite at -1 and 1, not a
        number outside.

    Raises:
        InvalidType: If the dtype does not fit.
        ImportError: If ``x`` is in host memory and SciPy is not installed.

    Source: `Digital Library of Mathematical Functions, 7.17 <https://dlmf.nist.gov/7.17>`_.

    Example:
        >>> F.erfinv(np.array([-1, 0, 0.5])).array.round(6)
        array([    -inf, 0.      , 0.476936])
    """
    return ErfInv().apply((x,))[0]
