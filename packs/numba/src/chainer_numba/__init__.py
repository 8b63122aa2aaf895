"""Fused kernels for NumPy arrays, compiled by Numba: the distribution ``chainer-numba``.

Nothing here has to be imported. The provider is chosen by name::

    chainer.config.kernels = ("numba",)
"""

__version__ = "1.0.0"
