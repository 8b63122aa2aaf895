"""Poolings: the slices of the reference kernels, each call one program of XLA.

Maxima of slices are faster on the CPU than ``lax.reduce_window`` with its gradient. As single
operations, they would be some sixty programs to compile for each shape.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import jax
from chainer.backends.numpy.kernels import poolings as reference

if TYPE_CHECKING:
    from chainer.typing import Array, Shape

    from chainer_jax.backend import JaxBackend


@cache
def _compiled(kernel: type, backend: JaxBackend, method: str, settings: tuple[Any, ...]) -> Any:
    """Returns a method of a reference kernel as a function of arrays of JAX."""
    wrap = backend.array_class
    call = getattr(kernel(backend), method)

    def function(*natives: Array) -> Any:
        return call(*map(wrap, natives), *settings).native

    return jax.jit(function)


class _Maxima(reference.MaxPoolingNDKernel):
    """The reference kernel with one result."""

    def maxima(self, *args: Array) -> Any:
        return self.forward(*args)[0]


class _PoolingKernel:
    """A kernel whose methods are programs of XLA, made from a reference kernel.

    Args:
        backend: The backend.
    """

    _reference: type

    def __init__(self, backend: JaxBackend) -> None:
        self._backend = backend

    def _call(self, method: str, arrays: tuple[Any, ...], *settings: Any) -> Any:
        function = _compiled(self._reference, self._backend, method, settings)
        return self._backend.array_class(function(*[x.native for x in arrays]))


class MaxPoolingNDKernel(_PoolingKernel):
    """Kernel of ``max_pooling_nd``."""

    _reference = _Maxima

    def forward(self, x: Array, out_size: Shape, geometry: Any) -> Any:
        """See :class:`~chainer.backends.operations.poolings.MaxPoolingND`."""
        return self._call("maxima", (x,), tuple(out_size), geometry), None

    def backward(self, x: Array, y: Array, gy: Array, residual: None, geometry: Any) -> Any:
        """See :class:`~chainer.backends.operations.poolings.MaxPoolingND`."""
        return self._call("backward", (x, y, gy), None, geometry)


class AveragePoolingNDKernel(_PoolingKernel):
    """Kernel of ``average_pooling_nd``."""

    _reference = reference.AveragePoolingNDKernel

    def forward(self, x: Array, out_size: Shape, geometry: Any, pad_value: Any) -> Any:
        """See :class:`~chainer.backends.operations.poolings.AveragePoolingND`."""
        return self._call("forward", (x,), tuple(out_size), geometry, pad_value)

    def backward(self, gy: Array, in_size: Shape, geometry: Any, pad_value: Any) -> Any:
        """See :class:`~chainer.backends.operations.poolings.AveragePoolingND`."""
        return self._call("backward", (gy,), tuple(in_size), geometry, pad_value)
