"""The Gaussian error linear unit."""

from __future__ import annotations

from math import pi, sqrt

from chainer.core.arrays.kernel import Operation, Recording


class GELU(Operation):
    """Gaussian error linear unit: ``x`` times the standard normal distribution function of ``x``.

    ``select(x, approximate=...)``: ``x`` of any shape, floating point. With ``approximate`` the
    distribution function is ``(1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))) / 2``.

    Methods:
        ``forward(x, approximate, save) -> (y, saved)``: ``y`` of the shape and dtype of ``x``.
        ``save`` says whether ``backward`` may follow. ``saved`` is opaque to the caller; it may be
        None.

        ``backward(x, saved, gy, approximate) -> gx``: ``gy`` times the derivative.

    Attributes:
        coefficients: The distribution function is ``logistic(x * p(min(x * x, end)))``: the
            coefficients of ``p`` from the constant upwards.
        approximate_coefficients: The same of the approximation, for any ``x * x``.
        end: The largest ``x * x`` that ``coefficients`` are for.
    """

    name = "gelu"
    reference = "chainer.backends.numpy.kernels.gelus:GELUKernel"
    # Large arrays are computed in blocks that stay in the cache.
    recording = Recording.SMALL_STEPS
    # A weighted least-squares fit on Chebyshev points. In float32 the error of the probability is
    # below 1.5e-7, and relative to it, for x > -4, below 3e-6.
    coefficients = (
        1.5957704782485962,
        0.0726647600531578,
        -6.574649160029367e-05,
        -0.00010889869008678943,
        7.0316073106369e-06,
        -5.533993885364907e-08,
        -2.2243840547275795e-08,
        1.791174653043015e-09,
        -7.236436450064332e-11,
        1.7057352709112794e-12,
        -2.233902861683342e-14,
        1.2607683079230315e-16,
    )
    end = 5.5**2
    # The tanh of half the argument is twice the logistic function of the argument, less 1.
    approximate_coefficients = (2 * sqrt(2 / pi), 0.044715 * 2 * sqrt(2 / pi))


gelu = GELU()
