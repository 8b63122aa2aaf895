"""Kernels of the parameter updates: one pass over memory, for as many parameters as there are.

Each loop gets a table of addresses, one row for each parameter, and hyperparameters as Python
floats. ``start`` and ``stop`` count the elements of all parameters one after the other, so that
threads share large parameters as well as many small ones. Subnormal numbers are taken for zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy
from chainer.typing import Array

from chainer_numba.arrays_in_memory import Table, vector_at
from chainer_numba.launching import compiled, inlined, launch
from chainer_numba.subnormals import leave_out, restore

if TYPE_CHECKING:
    from chainer.backend import Backend

f = numpy.float32

#: Bytes of a line of the cache.
LINE = 64
#: Elements from which on it pays to begin with a whole line.
LONG = 256


@inlined
def _first_row(ends, start):
    return numpy.searchsorted(ends, start, side="right")


@inlined
def piece(pointers, ends, row, at, stop):
    """Returns the first and the last element of a row to update now."""
    before = ends[row - 1] if row > 0 else 0
    low, high = at - before, min(stop, ends[row]) - before
    # Vector instructions take twice the time where each vector is on two lines of the cache. Large
    # arrays of NumPy begin 16 bytes behind the beginning of a line, so these come first.
    ahead = (LINE - (pointers[row, 0] + 4 * low) % LINE) % LINE // 4
    if ahead > 0 and high - low > LONG:
        high = low + ahead
    return low, high


@compiled
def sgd(part, start, stop, pointers, ends, lr):
    rate = f(lr)
    mode = leave_out()
    row, at = _first_row(ends, start), start
    while at < stop:
        low, high = piece(pointers, ends, row, at, stop)
        p, g = vector_at(pointers[row, 0], low, high), vector_at(pointers[row, 1], low, high)
        for i in range(high - low):
            p[i] -= rate * g[i]
        at += high - low
        row += at == ends[row]
    restore(mode)


@compiled
def momentum_sgd(part, start, stop, pointers, ends, lr, momentum):
    rate, keep = f(lr), f(momentum)
    mode = leave_out()
    row, at = _first_row(ends, start), start
    while at < stop:
        low, high = piece(pointers, ends, row, at, stop)
        p, g = vector_at(pointers[row, 0], low, high), vector_at(pointers[row, 1], low, high)
        v = vector_at(pointers[row, 2], low, high)
        for i in range(high - low):
            v[i] = v[i] * keep - rate * g[i]
            p[i] += v[i]
        at += high - low
        row += at == ends[row]
    restore(mode)


@compiled
def corrected_momentum_sgd(part, start, stop, pointers, ends, lr, momentum):
    rate, keep = f(lr), f(momentum)
    mode = leave_out()
    row, at = _first_row(ends, start), start
    while at < stop:
        low, high = piece(pointers, ends, row, at, stop)
        p, g = vector_at(pointers[row, 0], low, high), vector_at(pointers[row, 1], low, high)
        v = vector_at(pointers[row, 2], low, high)
        for i in range(high - low):
            v[i] = v[i] * keep - g[i]
            p[i] += v[i] * rate
        at += high - low
        row += at == ends[row]
    restore(mode)


@compiled
def nesterov_ag(part, start, stop, pointers, ends, lr, momentum):
    rate, keep = f(lr), f(momentum)
    ahead, jump = f(momentum * momentum), f(1 + momentum)
    mode = leave_out()
    row, at = _first_row(ends, start), start
    while at < stop:
        low, high = piece(pointers, ends, row, at, stop)
        p, g = vector_at(pointers[row, 0], low, high), vector_at(pointers[row, 1], low, high)
        v = vector_at(pointers[row, 2], low, high)
        for i in range(high - low):
            step = rate * g[i]
            v[i] = v[i] * keep - step
            p[i] += ahead * v[i] - jump * step
        at += high - low
        row += at == ends[row]
    restore(mode)


@compiled
def ada_grad(part, start, stop, pointers, ends, lr, eps):
    rate, small = f(lr), f(eps)
    mode = leave_out()
    row, at = _first_row(ends, start), start
    while at < stop:
        low, high = piece(pointers, ends, row, at, stop)
        p, g = vector_at(pointers[row, 0], low, high), vector_at(pointers[row, 1], low, high)
        h = vector_at(pointers[row, 2], low, high)
        for i in range(high - low):
            h[i] += g[i] * g[i]
            p[i] -= rate * (g[i] / (numpy.sqrt(h[i]) + small))
        at += high - low
        row += at == ends[row]
    restore(mode)


@compiled
def ada_delta(part, start, stop, pointers, ends, rho, eps):
    weight, small = f(1 - rho), f(eps)
    mode = leave_out()
    row, at = _first_row(ends, start), start
    while at < stop:
        low, high = piece(pointers, ends, row, at, stop)
        p, g = vector_at(pointers[row, 0], low, high), vector_at(pointers[row, 1], low, high)
        msg, msdx = vector_at(pointers[row, 2], low, high), vector_at(pointers[row, 3], low, high)
        for i in range(high - low):
            msg[i] += weight * (g[i] * g[i] - msg[i])
            dx = numpy.sqrt((msdx[i] + small) / (msg[i] + small)) * g[i]
            p[i] -= dx
            msdx[i] += weight * (dx * dx - msdx[i])
        at += high - low
        row += at == ends[row]
    restore(mode)


@compiled
def adam(part, start, stop, pointers, ends, rate, beta1, beta2, eps, keep):
    step, weight1, weight2, small, kept = f(rate), f(1 - beta1), f(1 - beta2), f(eps), f(keep)
    mode = leave_out()
    row, at = _first_row(ends, start), start
    while at < stop:
        low, high = piece(pointers, ends, row, at, stop)
        p, g = vector_at(pointers[row, 0], low, high), vector_at(pointers[row, 1], low, high)
        m, v = vector_at(pointers[row, 2], low, high), vector_at(pointers[row, 3], low, high)
        for i in range(high - low):
            m[i] += weight1 * (g[i] - m[i])
            v[i] += weight2 * (g[i] * g[i] - v[i])
            p[i] = p[i] * kept - step * (m[i] / (numpy.sqrt(v[i]) + small))
        at += high - low
        row += at == ends[row]
    restore(mode)


@inlined
def _larger(a, b):
    # NaN of either argument wins, as in numpy.maximum.
    return a if (a > b or a != a) else b


@compiled
def ams_grad(part, start, stop, pointers, ends, rate, beta1, beta2, eps, keep):
    step, weight1, weight2, small, kept = f(rate), f(1 - beta1), f(1 - beta2), f(eps), f(keep)
    mode = leave_out()
    row, at = _first_row(ends, start), start
    while at < stop:
        low, high = piece(pointers, ends, row, at, stop)
        p, g = vector_at(pointers[row, 0], low, high), vector_at(pointers[row, 1], low, high)
        m, v = vector_at(pointers[row, 2], low, high), vector_at(pointers[row, 3], low, high)
        vhat = vector_at(pointers[row, 4], low, high)
        for i in range(high - low):
            m[i] += weight1 * (g[i] - m[i])
            v[i] += weight2 * (g[i] * g[i] - v[i])
            vhat[i] = _larger(vhat[i], v[i])
            p[i] = p[i] * kept - step * (m[i] / (numpy.sqrt(vhat[i]) + small))
        at += high - low
        row += at == ends[row]
    restore(mode)


@inlined
def _limited(step, smallest, largest):
    # NaN passes: a comparison with it is false.
    step = smallest if step < smallest else step
    return largest if step > largest else step


@compiled
def ada_bound(part, start, stop, pointers, ends, alpha, beta1, beta2, eps, keep, eta, lower, upper):
    weight1, weight2, small, kept = f(1 - beta1), f(1 - beta2), f(eps), f(keep)
    rate, factor, smallest, largest = f(alpha), f(eta), f(lower), f(upper)
    mode = leave_out()
    row, at = _first_row(ends, start), start
    while at < stop:
        low, high = piece(pointers, ends, row, at, stop)
        p, g = vector_at(pointers[row, 0], low, high), vector_at(pointers[row, 1], low, high)
        m, v = vector_at(pointers[row, 2], low, high), vector_at(pointers[row, 3], low, high)
        for i in range(high - low):
            m[i] += weight1 * (g[i] - m[i])
            v[i] += weight2 * (g[i] * g[i] - v[i])
            step = _limited(rate / (numpy.sqrt(v[i]) + small), smallest, largest)
            p[i] = p[i] * kept - factor * (step * m[i])
        at += high - low
        row += at == ends[row]
    restore(mode)


@compiled
def ams_bound(part, start, stop, pointers, ends, alpha, beta1, beta2, eps, keep, eta, lower, upper):
    weight1, weight2, small, kept = f(1 - beta1), f(1 - beta2), f(eps), f(keep)
    rate, factor, smallest, largest = f(alpha), f(eta), f(lower), f(upper)
    mode = leave_out()
    row, at = _first_row(ends, start), start
    while at < stop:
        low, high = piece(pointers, ends, row, at, stop)
        p, g = vector_at(pointers[row, 0], low, high), vector_at(pointers[row, 1], low, high)
        m, v = vector_at(pointers[row, 2], low, high), vector_at(pointers[row, 3], low, high)
        vhat = vector_at(pointers[row, 4], low, high)
        for i in range(high - low):
            m[i] += weight1 * (g[i] - m[i])
            v[i] += weight2 * (g[i] * g[i] - v[i])
            vhat[i] = _larger(vhat[i], v[i])
            step = _limited(rate / (numpy.sqrt(vhat[i]) + small), smallest, largest)
            p[i] = p[i] * kept - factor * (step * m[i])
        at += high - low
        row += at == ends[row]
    restore(mode)


@compiled
def rmsprop(part, start, stop, pointers, ends, lr, alpha, inside, outside):
    rate, weight, under, behind = f(lr), f(1 - alpha), f(inside), f(outside)
    mode = leave_out()
    row, at = _first_row(ends, start), start
    while at < stop:
        low, high = piece(pointers, ends, row, at, stop)
        p, g = vector_at(pointers[row, 0], low, high), vector_at(pointers[row, 1], low, high)
        ms = vector_at(pointers[row, 2], low, high)
        for i in range(high - low):
            ms[i] += weight * (g[i] * g[i] - ms[i])
            p[i] -= rate * (g[i] / (numpy.sqrt(ms[i] + under) + behind))
        at += high - low
        row += at == ends[row]
    restore(mode)


@compiled
def rmsprop_graves(part, start, stop, pointers, ends, lr, alpha, momentum, eps):
    rate, weight, keep, small = f(lr), f(1 - alpha), f(momentum), f(eps)
    mode = leave_out()
    row, at = _first_row(ends, start), start
    while at < stop:
        low, high = piece(pointers, ends, row, at, stop)
        p, grad = vector_at(pointers[row, 0], low, high), vector_at(pointers[row, 1], low, high)
        n, g = vector_at(pointers[row, 2], low, high), vector_at(pointers[row, 3], low, high)
        delta = vector_at(pointers[row, 4], low, high)
        for i in range(high - low):
            n[i] += weight * (grad[i] * grad[i] - n[i])
            g[i] += weight * (grad[i] - g[i])
            step = grad[i] / numpy.sqrt(n[i] - g[i] * g[i] + small)
            delta[i] = delta[i] * keep - rate * step
            p[i] += delta[i]
        at += high - low
        row += at == ends[row]
    restore(mode)


@compiled
def smorms3(part, start, stop, pointers, ends, lr, eps):
    rate, small, one = f(lr), f(eps), f(1)
    mode = leave_out()
    row, at = _first_row(ends, start), start
    while at < stop:
        low, high = piece(pointers, ends, row, at, stop)
        p, grad = vector_at(pointers[row, 0], low, high), vector_at(pointers[row, 1], low, high)
        mem, g = vector_at(pointers[row, 2], low, high), vector_at(pointers[row, 3], low, high)
        g2 = vector_at(pointers[row, 4], low, high)
        for i in range(high - low):
            r = one / (mem[i] + one)
            g[i] += r * (grad[i] - g[i])
            g2[i] += r * (grad[i] * grad[i] - g2[i])
            x = g[i] * g[i] / (g2[i] + small)
            mem[i] = one + mem[i] - mem[i] * x
            x = rate if x > rate else x
            p[i] -= x * grad[i] / (numpy.sqrt(g2[i]) + small)
        at += high - low
        row += at == ends[row]
    restore(mode)


@compiled
def msvag(part, start, stop, pointers, ends, beta, scale, keep, inverse, rho, shrink):
    weight, factor, kept, corrected = f(1 - beta), f(scale), f(keep), f(inverse)
    share, wider, zero, one = f(rho), f(shrink), f(0), f(1)
    mode = leave_out()
    row, at = _first_row(ends, start), start
    while at < stop:
        low, high = piece(pointers, ends, row, at, stop)
        p, g = vector_at(pointers[row, 0], low, high), vector_at(pointers[row, 1], low, high)
        m, v = vector_at(pointers[row, 2], low, high), vector_at(pointers[row, 3], low, high)
        for i in range(high - low):
            m[i] += weight * (g[i] - m[i])
            v[i] += weight * (g[i] * g[i] - v[i])
            mean = m[i] * corrected
            square = mean * mean
            total = share * (wider * (v[i] * corrected - square)) + square
            # Where both moments are zero the factor would be 0 / 0, and the step is zero anyway.
            ratio = one if total == zero else square / total
            p[i] = p[i] * kept - factor * (ratio * m[i])
        at += high - low
        row += at == ends[row]
    restore(mode)


class UpdateKernel:
    """Base of the kernels: one pass over all parameters.

    Args:
        backend: Backend of the arrays.

    Attributes:
        loop: The compiled loop, which takes the scalars in their order.
        cost: Time of an element, in units of a cheap one.
    """

    loop: ClassVar[Any]
    cost: ClassVar[int] = 2

    def __init__(self, backend: Backend) -> None:
        pass

    def update_many(self, rows: Sequence[Sequence[Array | None]], scalars: Any) -> None:
        """Updates many parameters by one call.

        Args:
            rows: Parameter, gradient and states of each parameter.
            scalars: Numbers of the step.
        """
        if not rows:
            return
        loop, numbers = self.call(scalars, rows[0][-1] is not None)
        if rows[0][-1] is None:
            rows = [row[:-1] for row in rows]
        table = Table(rows)  # type: ignore[arg-type]
        total = int(table.ends[-1])
        # Integers would make another type of call, which would be compiled again.
        numbers = map(float, numbers)
        launch(loop, total, total * self.cost, table.pointers, table.ends, *numbers)

    def call(self, scalars: Any, has_last: bool) -> tuple[Any, Sequence[float]]:
        """Returns the loop and its numbers.

        Args:
            scalars: Numbers of the step.
            has_last: Whether the last state is used.
        """
        return self.loop, scalars


class SGDKernel(UpdateKernel):
    """Kernel of ``sgd_update``."""

    loop = staticmethod(sgd)  # a compiled function binds as a method otherwise


class MomentumSGDKernel(UpdateKernel):
    """Kernel of ``momentum_sgd_update``."""

    loop = staticmethod(momentum_sgd)


class CorrectedMomentumSGDKernel(UpdateKernel):
    """Kernel of ``corrected_momentum_sgd_update``."""

    loop = staticmethod(corrected_momentum_sgd)


class NesterovAGKernel(UpdateKernel):
    """Kernel of ``nesterov_ag_update``."""

    loop = staticmethod(nesterov_ag)


class AdaGradKernel(UpdateKernel):
    """Kernel of ``ada_grad_update``."""

    loop = staticmethod(ada_grad)


class AdaDeltaKernel(UpdateKernel):
    """Kernel of ``ada_delta_update``."""

    loop = staticmethod(ada_delta)


class AdamKernel(UpdateKernel):
    """Kernel of ``adam_update``."""

    def call(self, scalars: Any, has_last: bool) -> tuple[Any, Sequence[float]]:
        alpha_t, beta1, beta2, eps, eta, weight_decay_rate, bounds = scalars
        keep = 1 - eta * weight_decay_rate
        if bounds is None:
            loop = ams_grad if has_last else adam
            return loop, (eta * alpha_t, beta1, beta2, eps, keep)
        loop = ams_bound if has_last else ada_bound
        return loop, (alpha_t, beta1, beta2, eps, keep, eta, *bounds)


class RMSpropKernel(UpdateKernel):
    """Kernel of ``rmsprop_update``."""

    def call(self, scalars: Any, has_last: bool) -> tuple[Any, Sequence[float]]:
        lr, alpha, eps, eps_inside_sqrt = scalars
        inside, outside = (eps, 0.0) if eps_inside_sqrt else (0.0, eps)
        return rmsprop, (lr, alpha, inside, outside)


class RMSpropGravesKernel(UpdateKernel):
    """Kernel of ``rmsprop_graves_update``."""

    loop = staticmethod(rmsprop_graves)


class SMORMS3Kernel(UpdateKernel):
    """Kernel of ``smorms3_update``."""

    loop = staticmethod(smorms3)


class MSVAGKernel(UpdateKernel):
    """Kernel of ``msvag_update``."""

    def call(self, scalars: Any, has_last: bool) -> tuple[Any, Sequence[float]]:
        lr, beta, eta, weight_decay_rate, correction, rho = scalars
        # At the first update rho is one: the variance is unknown, and the step does not shrink.
        shrink = 1 / (1 - rho) if rho < 1 else 0.0
        keep = 1 - eta * weight_decay_rate
        return msvag, (beta, eta * lr / correction, keep, 1 / correction, rho, shrink)
