"""Reference kernels of activation functions.

Operands that are constants are arrays without dimensions where NumPy computes: it is twice as fast
with
them as with Python numbers on small arrays.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy

from chainer.core.kernel import ReferenceKernel


@functools.cache
def _numpy_constant(value: float, dtype: Any) -> Any:
    return numpy.asarray(value, dtype)


def _constant(xp: Any, value: float, dtype: Any) -> Any:
    return _numpy_constant(value, dtype) if xp is numpy else value


def _in_single_precision(function: Callable[..., Any]) -> Callable[..., Any]:
    """Lets a method with array arguments first compute half precision in single precision."""

    @functools.wraps(function)
    def wrapper(self: Any, first: Any, *rest: Any) -> Any:
        if first.dtype.char != "e":
            return function(self, first, *rest)
        wide = [x.astype("f") if getattr(x, "dtype", None) == "e" else x for x in (first, *rest)]
        return function(self, *wide).astype("e")

    return wrapper


class ReLUKernel(ReferenceKernel):
    """Reference of ``relu``."""

    def forward(self, x: Any) -> Any:
        """Returns ``max(x, 0)``."""
        return self.xp.maximum(x, _constant(self.xp, 0, x.dtype))

    def backward(self, y: Any, gy: Any) -> Any:
        """Returns ``gy`` where ``y > 0``, 0 elsewhere."""
        return gy * (y > _constant(self.xp, 0, y.dtype))


class LeakyReLUKernel(ReferenceKernel):
    """Reference of ``leaky_relu``."""

    def forward(self, x: Any, slope: float) -> Any:
        """Returns ``x`` where ``x >= 0``, else ``slope * x``."""
        y = x * slope
        return self.xp.maximum(x, y) if slope <= 1 else self.xp.minimum(x, y)

    def backward(self, signed: Any, gy: Any, slope: float) -> Any:
        """Returns ``gy`` where ``signed >= 0``, else ``slope * gy``."""
        gx = gy * slope
        if slope != 1:
            gx += (gy - gx) * (signed >= 0)
        return gx


class SigmoidKernel(ReferenceKernel):
    """Reference of ``sigmoid``."""

    @_in_single_precision
    def forward(self, x: Any) -> Any:
        """Returns ``1 / (1 + exp(-x))``."""
        if self.xp is numpy:
            y = _exp_of_negative(x)
        else:
            y = self.xp.exp(-x)
        y += _constant(self.xp, 1, x.dtype)
        return self.xp.reciprocal(y)

    def backward(self, y: Any, gy: Any) -> Any:
        """Returns ``gy * y * (1 - y)``."""
        gx = _constant(self.xp, 1, y.dtype) - y
        gx *= y
        gx *= gy
        return gx


@numpy.errstate(over="ignore")
def _exp_of_negative(x: Any) -> Any:
    # Infinity is as good as any: its reciprocal is 0.
    return numpy.exp(-x)


class ELUKernel(ReferenceKernel):
    """Reference of ``elu``."""

    @_in_single_precision
    def forward(self, x: Any, alpha: float) -> Any:
        """Returns ``x`` where ``x >= 0``, else ``alpha * (exp(x) - 1)``."""
        xp = self.xp
        zero, one = _constant(xp, 0, x.dtype), _constant(xp, 1, x.dtype)
        half = _constant(xp, 0.5, x.dtype)
        # expm1(x) = (exp(x) + 1) * tanh(x / 2): as accurate, and much faster in NumPy.
        negative = xp.minimum(x, zero)
        y = xp.exp(negative)
        y += one
        negative *= half
        y *= xp.tanh(negative)
        if alpha != 1:
            y *= _constant(xp, alpha, x.dtype)
        y += xp.maximum(x, zero)
        return y

    def backward(self, x: Any, y: Any, gy: Any, alpha: float) -> Any:
        """Returns ``gy`` where ``x >= 0``, else ``gy * (y + alpha)``."""
        xp = self.xp
        zero = _constant(xp, 0, y.dtype)
        if alpha == 1:
            gx = xp.minimum(y, zero)
            gx += _constant(xp, 1, y.dtype)
        else:
            positive = (y if x is None else x) >= zero
            gx = y + _constant(xp, alpha, y.dtype)
            gx *= ~positive
            gx += positive
        gx *= gy
        return gx


class SoftmaxKernel(ReferenceKernel):
    """Reference of ``softmax``."""

    @_in_single_precision
    def forward(self, x: Any, axis: int) -> Any:
        """Returns the softmax along an axis."""
        y = x - x.max(axis=axis, keepdims=True)
        self.xp.exp(y, out=y)
        y /= y.sum(axis=axis, keepdims=True)
        return y

    @_in_single_precision
    def backward(self, y: Any, gy: Any, axis: int) -> Any:
        """Returns ``y * (gy - sum(gy * y))``."""
        gx = y * gy
        gx -= y * gx.sum(axis=axis, keepdims=True)
        return gx


class LogSoftmaxKernel(ReferenceKernel):
    """Reference of ``log_softmax``."""

    @_in_single_precision
    def forward(self, x: Any, axis: int) -> Any:
        """Returns the logarithm of the softmax along an axis."""
        xp = self.xp
        y = x - x.max(axis=axis, keepdims=True)
        y -= xp.log(xp.exp(y).sum(axis=axis, keepdims=True))
        return y

    @_in_single_precision
    def backward(self, y: Any, gy: Any, axis: int) -> Any:
        """Returns ``gy - exp(y) * sum(gy)``."""
        gx = self.xp.exp(y)
        gx *= gy.sum(axis=axis, keepdims=True)
        return gy - gx
