"""Reference kernels of activation functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy

from chainer.backends.numpy.selection import choose, keep
from chainer.core.arrays.extended_dtypes import HALVES, is_half
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array, ArrayModule, DTypeLike


# NumPy converts a Python number to an array at each operation, which takes as long as the operation
# on a small array. Other namespaces pass numbers to their kernels by value.
@functools.cache
def _numpy_constant(value: float, dtype: DTypeLike) -> Array:
    return numpy.asarray(value, dtype)


def _constant(xp: ArrayModule, value: float, dtype: DTypeLike) -> Array:
    return _numpy_constant(value, dtype) if xp is numpy else value


def _in_float32(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: a method computes arrays of 16-bit types in float32.

    Args:
        function: Method whose first argument is an array. Other arguments that are arrays of the
            same dtype are converted as well.
    """

    @functools.wraps(function)
    def wrapper(self: ReferenceKernel, first: Array, *rest: Any) -> Array:
        dtype = first.dtype
        if dtype.char not in HALVES:
            return function(self, first, *rest)
        wide = [x.astype("f") if getattr(x, "dtype", None) == dtype else x for x in (first, *rest)]
        return function(self, *wide).astype(dtype)

    return wrapper


class ReLUKernel(ReferenceKernel):
    """Reference of ``relu``."""

    def forward(self, x: Array) -> Array:
        """Returns ``max(x, 0)``."""
        return self.xp.maximum(x, _constant(self.xp, 0, x.dtype))

    def backward(self, y: Array, gy: Array) -> Array:
        """Returns ``gy`` where ``y > 0``, 0 elsewhere."""
        return gy * (y > _constant(self.xp, 0, y.dtype))


class LeakyReLUKernel(ReferenceKernel):
    """Reference of ``leaky_relu``."""

    @_in_float32
    def forward(self, x: Array, slope: float) -> Array:
        """Returns ``x`` where ``x >= 0``, else ``slope * x``."""
        y = x * slope
        # Of x and slope * x one is always right; a selection by a mask takes three times as long.
        larger_or_smaller = self.xp.maximum if slope <= 1 else self.xp.minimum
        return larger_or_smaller(x, y, out=y) if y.ndim else larger_or_smaller(x, y)

    @_in_float32
    def backward(self, signed: Array, gy: Array, slope: float) -> Array:
        """Returns ``gy`` where ``signed > 0``, else ``slope * gy``."""
        slopes = (signed > 0).astype(gy.dtype)
        # Slopes are 0 or 1 here, so that a maximum in place replaces 0 by the slope.
        if 0 <= slope <= 1 and gy.ndim:
            self.xp.maximum(slopes, slope, out=slopes)
        else:
            slopes = self.xp.where(slopes, 1, slope).astype(gy.dtype, copy=False)
        slopes *= gy
        return slopes


class SigmoidKernel(ReferenceKernel):
    """Reference of ``sigmoid``."""

    @_in_float32
    def forward(self, x: Array) -> Array:
        """Returns ``1 / (1 + exp(-x))``."""
        if self.xp is numpy:
            y = _exp_of_negative(x)
        else:
            y = self.xp.exp(-x)
        y += _constant(self.xp, 1, x.dtype)
        return self.xp.reciprocal(y)

    def backward(self, y: Array, gy: Array) -> Array:
        """Returns ``gy * y * (1 - y)``."""
        gx = _constant(self.xp, 1, y.dtype) - y
        gx *= y
        gx *= gy
        return gx


@numpy.errstate(over="ignore")
def _exp_of_negative(x: Array) -> Array:
    # An overflow gives infinity, whose reciprocal is the right result, 0.
    return numpy.exp(-x)


class ELUKernel(ReferenceKernel):
    """Reference of ``elu``."""

    @_in_float32
    def forward(self, x: Array, alpha: float) -> Array:
        """Returns ``x`` where ``x >= 0``, else ``alpha * (exp(x) - 1)``."""
        xp = self.xp
        zero, one = _constant(xp, 0, x.dtype), _constant(xp, 1, x.dtype)
        half = _constant(xp, 0.5, x.dtype)
        # expm1(x) = (exp(x) + 1) * tanh(x / 2) is as accurate, and much faster in NumPy.
        negative = xp.minimum(x, zero)
        y = xp.exp(negative)
        y += one
        negative *= half
        y *= xp.tanh(negative)
        if alpha != 1:
            y *= _constant(xp, alpha, x.dtype)
        y += xp.maximum(x, zero)
        return y

    def backward(self, x: Array, y: Array, gy: Array, alpha: float) -> Array:
        """Returns ``gy`` where ``x > 0``, else ``gy * (y + alpha)``."""
        xp = self.xp
        zero = _constant(xp, 0, y.dtype)
        if alpha == 1:
            gx = xp.minimum(y, zero)
            gx += _constant(xp, 1, y.dtype)
        else:
            positive = (y if x is None else x) > zero
            one = _constant(xp, 1, y.dtype)
            gx = xp.where(positive, one, y + _constant(xp, alpha, y.dtype))
        gx *= gy
        return gx


class SoftmaxKernel(ReferenceKernel):
    """Reference of ``softmax``."""

    @_in_float32
    def forward(self, x: Array, axis: int) -> Array:
        """Returns the softmax along an axis."""
        if not x.size:  # an empty array has no maximum
            return x.copy()
        # Shifted by the maximum, no exponential overflows. All steps work in the memory of y.
        y = x - x.max(axis=axis, keepdims=True)
        self.xp.exp(y, out=y)
        y /= y.sum(axis=axis, keepdims=True)
        return y

    @_in_float32
    def backward(self, y: Array, gy: Array, axis: int) -> Array:
        """Returns ``y * (gy - sum(gy * y))``."""
        gx = y * gy
        self.xp.subtract(gy, gx.sum(axis=axis, keepdims=True), out=gx)
        gx *= y
        return gx


class LogSoftmaxKernel(ReferenceKernel):
    """Reference of ``log_softmax``."""

    @_in_float32
    def forward(self, x: Array, axis: int) -> Array:
        """Returns the logarithm of the softmax along an axis."""
        if not x.size:
            return x.copy()
        xp = self.xp
        y = x - x.max(axis=axis, keepdims=True)
        y -= xp.log(xp.exp(y).sum(axis=axis, keepdims=True))
        return y

    @_in_float32
    def backward(self, y: Array, gy: Array, axis: int) -> Array:
        """Returns ``gy - exp(y) * sum(gy)``."""
        gx = self.xp.exp(y)
        gx *= gy.sum(axis=axis, keepdims=True)
        return self.xp.subtract(gy, gx, out=gx)


class TanhKernel(ReferenceKernel):
    """Reference of ``tanh``."""

    def backward(self, y: Array, gy: Array) -> Array:
        """Returns ``gy * (1 - y * y)``."""
        # As in release 7, bit by bit; derivatives of this formula share 1 - y * y.
        gx = _constant(self.xp, 1, y.dtype) - y * y
        gx *= gy
        return gx


class SoftplusKernel(ReferenceKernel):
    """Reference of ``softplus``."""

    def forward(self, x: Array, beta: float) -> Array:
        """Returns ``log(1 + exp(beta * x)) / beta``."""
        xp = self.xp
        scaled = x * beta
        # log(1 + exp(-|s|)) + max(s, 0) is the same, and no exponential overflows.
        y = xp.log1p(xp.exp(-abs(scaled)))
        y += xp.maximum(scaled, 0)
        y *= 1 / beta
        return y

    def backward(self, x: Array, gy: Array, beta: float) -> Array:
        """Returns ``gy`` times the sigmoid of ``beta * x``."""
        # A sigmoid by tanh neither overflows nor loses digits.
        gx = self.xp.tanh(x * (0.5 * beta))
        gx *= 0.5
        gx += 0.5
        gx *= gy
        return gx


class SwishKernel(ReferenceKernel):
    """Reference of ``swish``."""

    @functools.cached_property
    def _half_sigmoid(self) -> SigmoidKernel:
        return SigmoidKernel(self.backend)

    def forward(self, x: Array, beta: Array) -> Array:
        """Returns ``x * sigmoid(beta * x)``."""
        b = expand_parameter(beta, x.ndim)
        # Halves are rounded at each step, so the result equals x * F.sigmoid(beta * x) exactly.
        y = self._half_sigmoid.forward(x * b) if is_half(x.dtype) else self._sigmoid(x, b)
        y *= x
        return y

    def backward(self, x: Array, beta: Array, gy: Array, wants_beta: bool) -> tuple[Array, Array]:
        """Returns the gradients of ``x`` and, if wanted, ``beta``."""
        b = expand_parameter(beta, x.ndim)
        s = self._sigmoid(x, b)
        slope = s * s
        slope -= s
        slope *= -x  # now x * s * (1 - s), the derivative with respect to the product
        gx = slope * b
        gx += s
        gx *= gy
        if not wants_beta:
            return gx, None
        slope *= x
        slope *= gy
        return gx, reduce_to_parameter(slope, beta)

    def _sigmoid(self, x: Array, beta: Array) -> Array:
        y = x * beta
        y *= 0.5
        self.xp.tanh(y, out=y)
        y *= 0.5
        y += 0.5
        return y


def expand_parameter(w: Array, ndim: int) -> Array:
    """Returns a parameter in a shape that broadcasts to the input.

    Args:
        w: Parameter of shape ``(s_1, ..., s_M)``.
        ndim: Number of dimensions of the input, whose shape is ``(B, s_1, ..., s_N)``.

    Returns:
        Array of shape ``(1, s_1, ..., s_M, 1, ..., 1)``.
    """
    return w.reshape((1, *w.shape) + (1,) * (ndim - w.ndim - 1))


def reduce_to_parameter(array: Array, w: Array) -> Array:
    """Returns the sums of an array over the axes along which a parameter is shared.

    Args:
        array: Array of shape ``(B, s_1, ..., s_N)``.
        w: Parameter of shape ``(s_1, ..., s_M)``, which the result has.
    """
    axes = (0, *range(1 + w.ndim, array.ndim))
    return array.sum(axis=axes).reshape(w.shape)


class ClippedReLUKernel(ReferenceKernel):
    """Reference of ``clipped_relu``."""

    def forward(self, x: Array, cap: float) -> tuple[Array, Array]:
        """Returns ``min(max(x, 0), cap)`` and where it is between them."""
        y = self.xp.clip(x, 0, cap)
        # asarray, because NumPy returns a scalar for an array without dimensions.
        inside = self.xp.asarray(y > 0)
        inside &= y < cap
        return y, inside

    def backward(self, inside: Array, gy: Array) -> Array:
        """Returns ``gy`` where ``inside``, 0 elsewhere."""
        return self.xp.where(inside, gy, self.xp.zeros((), gy.dtype))


class HardSigmoidKernel(ReferenceKernel):
    """Reference of ``hard_sigmoid``."""

    def forward(self, x: Array) -> Array:
        """Returns ``min(max(0.2 * x + 0.5, 0), 1)``."""
        y = x * 0.2
        y += 0.5
        return self.xp.clip(y, 0, 1)

    def backward(self, x: Array, gy: Array) -> Array:
        """Returns ``0.2 * gy`` where ``-2.5 < x < 2.5``, 0 elsewhere."""
        gx = gy * ((x > -2.5) & (x < 2.5))
        gx *= 0.2
        return gx


class PReLUKernel(ReferenceKernel):
    """Reference of ``prelu``."""

    def forward(self, x: Array, W: Array) -> Array:
        """Returns ``x`` where ``x >= 0``, else ``W * x``."""
        return choose(self.xp, x >= 0, x, x * expand_parameter(W, x.ndim))

    def backward(self, x: Array, W: Array, gy: Array, wants_weight: bool) -> tuple[Array, Array]:
        """Returns the gradients of ``x`` and, if wanted, ``W``."""
        gx = choose(self.xp, x >= 0, gy, gy * expand_parameter(W, x.ndim))
        if not wants_weight:
            return gx, None
        # Not a product with min(x, 0): zero times infinity would be NaN.
        below = keep(self.xp, x < 0, x * gy)
        return gx, reduce_to_parameter(below, W)


class RReLUKernel(ReferenceKernel):
    """Reference of ``rrelu``."""

    def forward(self, x: Array, r: Array) -> Array:
        """Returns ``x`` where ``x >= 0``, else ``r * x``."""
        # Slopes are at most one, so that the larger of x and r * x is right.
        return self.xp.maximum(x, x * r)

    def backward(self, x: Array, r: Array, gy: Array) -> Array:
        """Returns ``gy`` where ``x >= 0``, else ``r * gy``."""
        return gy * (r + (1 - r) * (x >= 0))


class CReLUKernel(ReferenceKernel):
    """Reference of ``crelu``."""

    def forward(self, x: Array, axis: int) -> Array:
        """Returns ``max(x, 0)`` and ``max(-x, 0)`` side by side."""
        axis %= x.ndim
        n = x.shape[axis]
        y = self.xp.empty((*x.shape[:axis], 2 * n, *x.shape[axis + 1 :]), dtype=x.dtype)
        positive, negative = _halves(y, axis)
        self.xp.maximum(x, 0, out=positive)
        self.xp.maximum(-x, 0, out=negative)
        return y

    def backward(self, x: Array, gy: Array, axis: int) -> Array:
        """Returns the gradient of ``x``."""
        positive, negative = _halves(gy, axis % x.ndim)
        gx = positive * (x > 0)
        gx -= negative * (x < 0)
        return gx


def _halves(y: Array, axis: int) -> tuple[Array, Array]:
    n = y.shape[axis] // 2
    before = (slice(None),) * axis
    return y[(*before, slice(None, n))], y[(*before, slice(n, None))]
