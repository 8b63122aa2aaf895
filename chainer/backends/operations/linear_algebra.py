"""Linear algebra."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation


class Inverse(Operation):
    """Inverse of each matrix of a stack.

    ``select(a)``: ``a`` of shape ``(..., n, n)``, float32 or float64.

    Methods:
        ``forward(a) -> y``: inverses, of the shape and dtype of ``a``. Raises ValueError if a
        matrix is singular. A device that would have to wait for the answer may do so in debug mode
        only (``chainer.config.debug``); otherwise the inverse of such a matrix has elements that
        are not finite.
    """

    name = "inverse"
    methods = ("forward",)
    reference = "chainer.backends.numpy.kernels.linear_algebra:InverseKernel"


inverse = Inverse()
