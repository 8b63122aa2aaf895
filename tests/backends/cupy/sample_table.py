"""The table of calls of kernels that tests make; ``samples*.py`` fill it.

Each sample is a function ``(kernel, a, dtype, *values) -> results`` that calls the methods of a
kernel; ``a`` makes an array of the backend from a NumPy array. It is called with the reference and
with the kernel under test, with the same random numbers.
"""

from __future__ import annotations

import numpy as np

SAMPLES = {}
#: Operations whose kernels are not compared here: random ones, and those that call libraries of
#: CUDA or of CuPy, which the conformance suite runs on a GPU.
WITHOUT_SAMPLES = {
    *("as_strided", "cholesky", "dropout", "inverse"),
    *("erfcx", "erfinv", "erfcinv", "ndtr", "log_ndtr", "ndtri"),
    *("lgamma", "digamma", "polygamma", "zeta"),
}


def sample(operation, *parameters, dtypes="efd"):
    def decorate(function):
        for i, values in enumerate(parameters or [()]):
            name = f"{operation}-{function.__name__}-{i}"
            SAMPLES[name] = (operation, function, values, dtypes if i == 0 else "f")
        return function

    return decorate


def rand(*shape):
    return np.random.standard_normal(shape)


def spread(*shape):
    """Distinct numbers, so that maxima are unique."""
    size = int(np.prod(shape))
    return (np.random.permutation(size).reshape(shape) - size // 2) / 16
