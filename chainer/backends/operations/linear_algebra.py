"""Linear algebra."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation


class Inverse(Operation):
    """Inverse of each matrix of a stack.

    ``select(a)``: ``a`` of shape ``(..., n, n)``, float32 or float64.

    Methods:
        ``forward(a) -> y``: inverses, of the shape and dtype of ``a``. Raises ValueError if a
        matrix is singular. A kernel that would have to wait for a device may check this in debug
        mode only (``chainer.config.debug``); otherwise the inverse of such a matrix has elements
        that are not finite.
    """

    name = "inverse"
    methods = ("forward",)
    reference = "chainer.backends.numpy.kernels.linear_algebra:InverseKernel"


class Cholesky(Operation):
    """Cholesky factor of a matrix.

    ``select(a)``: ``a`` of shape ``(n, n)`` or ``(B, n, n)``, floating point. Only the lower
    triangle of each matrix is read.

    Methods:
        ``forward(a) -> y``: lower triangular with ``y @ y.T == a``, of the shape and dtype of
        ``a``. Raises numpy.linalg.LinAlgError if the matrix is not positive definite. A device that
        would have to wait for the answer may do so in debug mode only (``chainer.config.debug``);
        otherwise what it returns then is not defined. 16-bit types are computed in float32.
    """

    name = "cholesky"
    methods = ("forward",)
    reference = "chainer.backends.numpy.kernels.linear_algebra:CholeskyKernel"


cholesky = Cholesky()
inverse = Inverse()
