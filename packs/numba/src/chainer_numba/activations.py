"""Kernels of activation functions: one pass over memory each."""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt
from typing import TYPE_CHECKING, Any

import numpy
from chainer.kernel import get_operation
from chainer.typing import Array

from chainer_numba import vector_math
from chainer_numba.launching import compiled, flat, inlined, launch, launch_aligned, result
from chainer_numba.supports import MIN_ELEMENTS

if TYPE_CHECKING:
    from chainer.backend import Backend

f = numpy.float32
_ZERO, _ONE, _HALF = f(0), f(1), f(0.5)

#: Elements that one thread computes, whatever they cost here, and that are in the cache, so that
#: their place in its lines does not matter.
_FEW = 1 << 14

#: Time of an element with an exponential, in units of one with a comparison.
EXPENSIVE = 4


class ElementwiseKernel:
    """Base of the kernels: runs loops over vectors.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        pass

    def run(
        self,
        loop: Callable[..., None],
        arrays: tuple[Array, ...],
        *numbers: float,
        cost: int = 1,
        out: Array | None = None,
    ) -> Array:
        """Runs a loop that writes one array.

        Args:
            loop: Gets the vectors to read, the vector to write, and the numbers.
            arrays: Arrays of one shape.
            numbers: Numbers.
            cost: Time of an element, in units of a comparison.
            out: Array to write, of the shape and dtype of the first one; None makes one.

        Returns:
            The array written, in the shape and dtype of the first one.
        """
        first = arrays[0]
        size = first.size
        is_one = size <= _FEW and cost <= EXPENSIVE and len(arrays) == 1 and out is None
        if is_one and first.dtype == f and first.flags.carray:
            # As text is decoded: the same without the calls below.
            y = numpy.empty(first.shape, f)
            loop(0, 0, size, first.reshape(-1), y.reshape(-1), *map(float, numbers))
            return y
        # Loops write float32: results in float16 are converted.
        target = out if out is not None and out.dtype == f else None
        y = numpy.empty(first.size, f) if target is None else target.reshape(-1)
        launch_aligned(loop, first.size * cost, *map(flat, arrays), y, *map(float, numbers))
        return result(y, first) if target is None else target


@compiled
def relu(part, start, stop, x, y):
    x, y = x[start:stop], y[start:stop]
    for i in range(len(x)):
        # NaN is not less than zero, and passes.
        y[i] = _ZERO if x[i] < _ZERO else x[i]


@compiled
def relu_gradient(part, start, stop, y, gy, gx):
    y, gy, gx = y[start:stop], gy[start:stop], gx[start:stop]
    for i in range(len(y)):
        # A product, so that an infinite gradient becomes NaN as in the reference.
        gx[i] = gy[i] * (_ONE if y[i] > _ZERO else _ZERO)


class ReLUKernel(ElementwiseKernel):
    """Kernel of ``relu``."""

    def forward(self, x: Array, out: Array | None = None) -> Array:
        return self.run(relu, (x,), out=out)

    def backward(self, y: Array, gy: Array, out: Array | None = None) -> Array:
        return self.run(relu_gradient, (y, gy), out=out)


@compiled
def leaky_relu(part, start, stop, x, y, slope):
    s = f(slope)
    x, y = x[start:stop], y[start:stop]
    for i in range(len(x)):
        y[i] = s * x[i] if x[i] < _ZERO else x[i]


@compiled
def leaky_relu_gradient(part, start, stop, signed, gy, gx, slope):
    s = f(slope)
    signed, gy, gx = signed[start:stop], gy[start:stop], gx[start:stop]
    for i in range(len(signed)):
        gx[i] = gy[i] * (_ONE if signed[i] > _ZERO else s)


class LeakyReLUKernel(ElementwiseKernel):
    """Kernel of ``leaky_relu``."""

    def forward(self, x: Array, slope: float, out: Array | None = None) -> Array:
        return self.run(leaky_relu, (x,), slope, out=out)

    def backward(self, signed: Array, gy: Array, slope: float, out: Array | None = None) -> Array:
        return self.run(leaky_relu_gradient, (signed, gy), slope, out=out)


@compiled
def sigmoid(part, start, stop, x, y):
    x, y = x[start:stop], y[start:stop]
    for i in range(len(x)):
        y[i] = vector_math.sigmoid(x[i])


@compiled
def sigmoid_gradient(part, start, stop, y, gy, gx):
    y, gy, gx = y[start:stop], gy[start:stop], gx[start:stop]
    for i in range(len(y)):
        gx[i] = (_ONE - y[i]) * y[i] * gy[i]


class SigmoidKernel(ElementwiseKernel):
    """Kernel of ``sigmoid``."""

    def __init__(self, backend: Backend) -> None:
        self._reference = get_operation("sigmoid").reference_for(backend)

    def forward(self, x: Array, out: Array | None = None) -> Array:
        return self.run(sigmoid, (x,), cost=EXPENSIVE, out=out)

    def backward(self, y: Array, gy: Array, out: Array | None = None) -> Array:
        # Three operations of NumPy on a small array take less time than one call of a loop.
        if y.size < MIN_ELEMENTS["selection"]:
            return self._reference.backward(y, gy)
        return self.run(sigmoid_gradient, (y, gy), out=out)


@compiled
def elu(part, start, stop, x, y, alpha):
    a = f(alpha)
    x, y = x[start:stop], y[start:stop]
    for i in range(len(x)):
        negative = x[i] if x[i] < _ZERO else _ZERO
        curve = a * vector_math.expm1_of_negative(negative)
        y[i] = curve if x[i] < _ZERO else x[i]


@compiled
def elu_gradient(part, start, stop, signed, y, gy, gx, alpha):
    a = f(alpha)
    signed, y, gy, gx = signed[start:stop], y[start:stop], gy[start:stop], gx[start:stop]
    for i in range(len(signed)):
        gx[i] = gy[i] * (_ONE if signed[i] > _ZERO else y[i] + a)


class ELUKernel(ElementwiseKernel):
    """Kernel of ``elu``."""

    def forward(self, x: Array, alpha: float) -> Array:
        return self.run(elu, (x,), alpha, cost=EXPENSIVE)

    def backward(self, x: Array | None, y: Array, gy: Array, alpha: float) -> Array:
        return self.run(elu_gradient, (y if x is None else x, y, gy), alpha)


_formula: Any = get_operation("gelu")
_EXACT = tuple(f(c) for c in _formula.coefficients)
_LAST = len(_EXACT) - 1
_END = f(_formula.end)
_LINEAR, _CUBIC = (f(c) for c in _formula.approximate_coefficients)
# Factor of the density of the standard normal distribution.
_DENSITY = f(1 / sqrt(2 * pi))


@inlined
def _normal_distribution(x):
    u = x * x
    u = _END if u > _END else u
    y = _EXACT[_LAST]
    for i in range(_LAST - 1, -1, -1):
        y = y * u + _EXACT[i]
    return vector_math.sigmoid(x * y)


@inlined
def _near_distribution(x):
    return vector_math.sigmoid(x * (_LINEAR + _CUBIC * x * x))


@compiled
def gelu(part, start, stop, x, y):
    x, y = x[start:stop], y[start:stop]
    for i in range(len(x)):
        y[i] = x[i] * _normal_distribution(x[i])


@compiled
def gelu_gradient(part, start, stop, x, gy, gx):
    x, gy, gx = x[start:stop], gy[start:stop], gx[start:stop]
    for i in range(len(x)):
        density = _DENSITY * vector_math.exp_of_negative(-_HALF * x[i] * x[i])
        gx[i] = gy[i] * (_normal_distribution(x[i]) + x[i] * density)


@compiled
def near_gelu(part, start, stop, x, y):
    x, y = x[start:stop], y[start:stop]
    for i in range(len(x)):
        y[i] = x[i] * _near_distribution(x[i])


@compiled
def near_gelu_gradient(part, start, stop, x, gy, gx):
    x, gy, gx = x[start:stop], gy[start:stop], gx[start:stop]
    for i in range(len(x)):
        s = _near_distribution(x[i])
        slope = (_LINEAR + f(3) * _CUBIC * x[i] * x[i]) * (x[i] * s) * (_ONE - s)
        gx[i] = gy[i] * (slope + s)


class GELUKernel(ElementwiseKernel):
    """Kernel of ``gelu``. The gradient is computed from the input, so that nothing is saved."""

    def forward(self, x: Array, approximate: bool, save: bool) -> tuple[Array, None]:
        return self.run(near_gelu if approximate else gelu, (x,), cost=EXPENSIVE), None

    def backward(
        self, x: Array, saved: None, gy: Array, approximate: bool, out: Array | None = None
    ) -> Array:
        loop = near_gelu_gradient if approximate else gelu_gradient
        return self.run(loop, (x, gy), cost=EXPENSIVE, out=out)


@compiled
def softplus(part, start, stop, x, y, beta):
    b, inverse = f(beta), f(1 / beta)
    x, y = x[start:stop], y[start:stop]
    for i in range(len(x)):
        s = x[i] * b
        above = s if s > _ZERO else _ZERO
        magnitude = -s if s < _ZERO else s
        y[i] = (
            vector_math.log1p_of_fraction(vector_math.exp_of_negative(-magnitude)) + above
        ) * inverse


@compiled
def softplus_gradient(part, start, stop, x, gy, gx, beta):
    b = f(beta)
    x, gy, gx = x[start:stop], gy[start:stop], gx[start:stop]
    for i in range(len(x)):
        gx[i] = gy[i] * vector_math.sigmoid(x[i] * b)


class SoftplusKernel(ElementwiseKernel):
    """Kernel of ``softplus``."""

    def forward(self, x: Array, beta: float, out: Array | None = None) -> Array:
        return self.run(softplus, (x,), beta, cost=EXPENSIVE, out=out)

    def backward(self, x: Array, gy: Array, beta: float, out: Array | None = None) -> Array:
        return self.run(softplus_gradient, (x, gy), beta, cost=EXPENSIVE, out=out)


@compiled
def hard_sigmoid(part, start, stop, x, y):
    x, y = x[start:stop], y[start:stop]
    for i in range(len(x)):
        s = x[i] * f(0.2) + _HALF
        s = _ZERO if s < _ZERO else s
        y[i] = _ONE if s > _ONE else s


@compiled
def hard_sigmoid_gradient(part, start, stop, x, gy, gx):
    x, gy, gx = x[start:stop], gy[start:stop], gx[start:stop]
    for i in range(len(x)):
        inside = (x[i] > f(-2.5)) & (x[i] < f(2.5))
        gx[i] = gy[i] * (_ONE if inside else _ZERO) * f(0.2)


class HardSigmoidKernel(ElementwiseKernel):
    """Kernel of ``hard_sigmoid``."""

    def forward(self, x: Array, out: Array | None = None) -> Array:
        return self.run(hard_sigmoid, (x,), out=out)

    def backward(self, x: Array, gy: Array, out: Array | None = None) -> Array:
        return self.run(hard_sigmoid_gradient, (x, gy), out=out)


@compiled
def clipped_relu(part, start, stop, x, y, inside, cap):
    most = f(cap)
    x, y, inside = x[start:stop], y[start:stop], inside[start:stop]
    for i in range(len(x)):
        s = _ZERO if x[i] < _ZERO else x[i]
        s = most if s > most else s
        y[i] = s
        inside[i] = (s > _ZERO) & (s < most)


@compiled
def clipped_relu_gradient(part, start, stop, inside, gy, gx):
    inside, gy, gx = inside[start:stop], gy[start:stop], gx[start:stop]
    for i in range(len(inside)):
        gx[i] = gy[i] if inside[i] else _ZERO


class ClippedReLUKernel(ElementwiseKernel):
    """Kernel of ``clipped_relu``."""

    def forward(self, x: Array, cap: float) -> tuple[Array, Array]:
        y, inside = numpy.empty(x.size, f), numpy.empty(x.shape, bool)
        arrays = flat(x), y, inside.reshape(-1)
        launch_aligned(clipped_relu, x.size, *arrays, float(cap))
        return result(y, x), inside

    def backward(self, inside: Array, gy: Array) -> Array:
        gx = numpy.empty(gy.size, f)
        launch(clipped_relu_gradient, gy.size, gy.size, inside.reshape(-1), flat(gy), gx)
        return result(gx, gy)


@compiled
def rrelu(part, start, stop, x, r, y):
    x, r, y = x[start:stop], r[start:stop], y[start:stop]
    for i in range(len(x)):
        y[i] = r[i] * x[i] if x[i] < _ZERO else x[i]


@compiled
def rrelu_gradient(part, start, stop, x, r, gy, gx):
    x, r, gy, gx = x[start:stop], r[start:stop], gy[start:stop], gx[start:stop]
    for i in range(len(x)):
        gx[i] = gy[i] * (_ONE if x[i] >= _ZERO else r[i])


class RReLUKernel(ElementwiseKernel):
    """Kernel of ``rrelu``."""

    def forward(self, x: Array, r: Array) -> Array:
        return self.run(rrelu, (x, r))

    def backward(self, x: Array, r: Array, gy: Array) -> Array:
        return self.run(rrelu_gradient, (x, r, gy))


@compiled
def crelu(part, start, stop, x, y, size):
    # A row is what follows the axis, for one index of those before it.
    for row in range(start, stop):
        for i in range(size):
            value = x[row, i]
            y[row, 0, i] = _ZERO if value < _ZERO else value
            y[row, 1, i] = _ZERO if value > _ZERO else -value


@compiled
def crelu_gradient(part, start, stop, x, gy, gx, size):
    for row in range(start, stop):
        for i in range(size):
            value = x[row, i]
            up, down = gy[row, 0, i], gy[row, 1, i]
            gx[row, i] = up * (_ONE if value > _ZERO else _ZERO) - down * (
                _ONE if value < _ZERO else _ZERO
            )


class CReLUKernel(ElementwiseKernel):
    """Kernel of ``crelu``."""

    def forward(self, x: Array, axis: int) -> Array:
        axis %= x.ndim
        rows, size = _rows(x, axis)
        y = numpy.empty((rows, 2, size), f)
        launch(crelu, rows, x.size, flat(x).reshape(rows, size), y, size)
        shape = (*x.shape[:axis], 2 * x.shape[axis], *x.shape[axis + 1 :])
        return y.reshape(shape).astype(x.dtype, copy=False)

    def backward(self, x: Array, gy: Array, axis: int) -> Array:
        rows, size = _rows(x, axis % x.ndim)
        gx = numpy.empty((rows, size), f)
        arrays = flat(x).reshape(rows, size), flat(gy).reshape(rows, 2, size)
        launch(crelu_gradient, rows, x.size, *arrays, gx, size)
        return result(gx, x)


def _rows(x: Array, axis: int) -> tuple[int, int]:
    rows = 1
    for length in x.shape[:axis]:
        rows *= length
    size = 1
    for length in x.shape[axis:]:
        size *= length
    return rows, size
