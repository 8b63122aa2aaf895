"""Reference kernels of the parameter updates.

The formulas are chains of ufuncs with explicit outputs, because a NumPy expression allocates an
array for each operator. Large arrays are processed in blocks that stay in the cache: then only the
first of a dozen passes reads main memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, cast

import numpy

from chainer.backends.compute_dtypes import compute_dtype
from chainer.backends.operations.optimizer_updates import (
    AdamHyperparameters,
    MSVAGHyperparameters,
    RMSpropGravesHyperparameters,
)
from chainer.core.arrays.backend import HOST_FAMILY, Backend
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.arrays.recorder import computed
from chainer.core.typing import Array, ArrayModule, Arrays, DType, HostArray, Scalar

#: Elements of a block. Six float32 arrays of this length fit into a second-level cache of 2 MB.
BLOCK = 1 << 16


@lru_cache(maxsize=1024)
def _constant(value: float, dtype: DType) -> HostArray:
    # NumPy takes an array operand about one microsecond faster than a Python float.
    constant = numpy.array(value, dtype)
    constant.flags.writeable = False
    return constant


def _array_of_number(value: float, dtype: DType) -> HostArray:
    if type(value) is float or not hasattr(value, "array"):
        return _constant(float(value), dtype)
    # A number of a recorded step, which may be another one at the next call.
    return cast(Any, value).array(dtype)


class UpdateKernel(ReferenceKernel):
    """Base of the kernels below: blocks, scratch arrays and constants."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._on_host = backend.family == HOST_FAMILY

    def constants(self, param: Array, *values: float) -> Arrays:
        """Returns scalars in the form in which ufuncs take them fastest."""
        if not self._on_host:
            # An accelerator passes numbers to its kernels; an array would have to be copied there.
            # Numbers of a recorded step are inputs of its program.
            dtype = compute_dtype(param.dtype)
            return tuple([cast(Any, v).array(dtype) if hasattr(v, "array") else v for v in values])
        dtype = compute_dtype(param.dtype)
        return tuple([_array_of_number(value, dtype) for value in values])

    def blocks(self, n_scratch: int, *arrays: Array) -> Iterator[Arrays]:
        """Yields the arrays block by block, each time followed by scratch arrays of the same shape.

        Blocks are views: changing them changes the arrays. For float16 arrays, float32 copies are
        yielded and written back afterwards, except the gradient (the second array). None stays
        None.

        Args:
            n_scratch: Number of scratch arrays.
            arrays: Parameter, gradient and states.
        """
        param = arrays[0]
        dtype = compute_dtype(param.dtype)
        if param.size > BLOCK and self._on_host and all(map(_is_flat, arrays)):
            # Scratch arrays are made once, so that they are in the cache from the second block on.
            scratch = [numpy.empty(BLOCK, dtype) for _ in range(n_scratch)]
            flat = [None if array is None else array.reshape(-1) for array in arrays]
            for start in range(0, param.size, BLOCK):
                piece = slice(start, start + BLOCK)
                part = tuple([None if array is None else array[piece] for array in flat])
                size = min(BLOCK, param.size - start)
                spare = scratch if size == BLOCK else [array[:size] for array in scratch]
                yield from _in_compute_dtype(part, spare, dtype)
        else:
            # Small arrays need no blocks. Strided ones cannot be cut into flat blocks without a
            # copy, and on accelerators each block would be another launch.
            empty_like = self.xp.empty_like
            spare = [empty_like(param, dtype) for _ in range(n_scratch)]
            yield from _in_compute_dtype(arrays, spare, dtype)


def _is_flat(array: Array | None) -> bool:
    return array is None or (type(array) is numpy.ndarray and array.flags.c_contiguous)


def _in_compute_dtype(arrays: Arrays, scratch: list[Array], dtype: DType) -> Iterator[Arrays]:
    if arrays[0].dtype == dtype:
        yield (*arrays, *scratch)
        return
    wide = [None if array is None else array.astype(dtype) for array in arrays]
    yield (*wide, *scratch)
    # Here the caller has computed on the copies. The gradient is an input only.
    for index, array in enumerate(arrays):
        if index != 1 and array is not None:
            array[...] = wide[index]


def _average(
    xp: ArrayModule, mean: Array, value: Array, weight: Array | Scalar, spare: Array
) -> None:
    """``mean += weight * (value - mean)``; ``spare`` may be ``value``, not ``mean``."""
    xp.subtract(value, mean, spare)
    xp.multiply(spare, weight, spare)
    xp.add(mean, spare, mean)


def _descend(
    xp: ArrayModule, param: Array, direction: Array, rate: Array | Scalar, spare: Array
) -> None:
    """``param -= rate * direction``; ``spare`` gets the step; may be ``direction``."""
    xp.multiply(direction, rate, spare)
    xp.subtract(param, spare, param)


def _divide_by_root(
    xp: ArrayModule, value: Array, square: Array, eps: Array | Scalar, out: Array
) -> None:
    """``out = value / (sqrt(square) + eps)``; ``out`` may be ``square``, not ``value``."""
    xp.sqrt(square, out)
    xp.add(out, eps, out)
    xp.divide(value, out, out)


class SGDKernel(UpdateKernel):
    """Reference of ``sgd_update``."""

    def update(self, param: Array, grad: Array, *, lr: float) -> None:
        """See :class:`~chainer.backends.operations.optimizer_updates.SGDUpdate`."""
        xp = self.xp
        (lr_,) = self.constants(param, lr)
        for p, g, t in self.blocks(1, param, grad):
            _descend(xp, p, g, lr_, t)


class VelocityKernel(UpdateKernel):
    """Base of the updates that keep a velocity, a decaying sum of gradients."""

    def update(self, param: Array, grad: Array, v: Array, *, lr: float, momentum: float) -> None:
        """Updates the parameter and the velocity.

        See :class:`~chainer.backends.operations.optimizer_updates.MomentumSGDUpdate`.
        """
        xp = self.xp
        factors = self.constants(param, *self.factors(lr, momentum))
        for p, g, v_, t in self.blocks(1, param, grad, v):
            xp.multiply(v_, factors[0], v_)
            self.move(xp, p, g, v_, factors, t)

    def factors(self, lr: float, momentum: float) -> tuple[float, ...]:
        """Returns the numbers that :meth:`move` needs; the first one is the momentum."""
        return momentum, lr

    def move(
        self, xp: ArrayModule, p: Array, g: Array, v: Array, factors: Arrays, t: Array
    ) -> None:
        """Moves a block of the parameter; the velocity has been multiplied by the momentum."""
        raise NotImplementedError(f"{type(self).__name__} must define move()")


class MomentumSGDKernel(VelocityKernel):
    """Reference of ``momentum_sgd_update``."""

    def move(
        self, xp: ArrayModule, p: Array, g: Array, v: Array, factors: Arrays, t: Array
    ) -> None:
        _descend(xp, v, g, factors[1], t)
        xp.add(p, v, p)


class CorrectedMomentumSGDKernel(VelocityKernel):
    """Reference of ``corrected_momentum_sgd_update``."""

    def move(
        self, xp: ArrayModule, p: Array, g: Array, v: Array, factors: Arrays, t: Array
    ) -> None:
        # The velocity is without the learning rate, so the step needs a scratch array.
        xp.subtract(v, g, v)
        xp.multiply(v, factors[1], t)
        xp.add(p, t, p)


class NesterovAGKernel(VelocityKernel):
    """Reference of ``nesterov_ag_update``."""

    def factors(self, lr: float, momentum: float) -> tuple[float, ...]:
        # The last two are those of the velocity and of the gradient in the step.
        return momentum, lr, momentum * momentum, 1 + momentum

    def move(
        self, xp: ArrayModule, p: Array, g: Array, v: Array, factors: Arrays, t: Array
    ) -> None:
        _, lr, ahead, jump = factors
        _descend(xp, v, g, lr, t)
        _descend(xp, p, t, jump, t)
        xp.multiply(v, ahead, t)
        xp.add(p, t, p)


class AdaGradKernel(UpdateKernel):
    """Reference of ``ada_grad_update``."""

    def update(self, param: Array, grad: Array, h: Array, *, lr: float, eps: float) -> None:
        """See :class:`~chainer.backends.operations.optimizer_updates.AdaGradUpdate`."""
        xp = self.xp
        lr_, eps_ = self.constants(param, lr, eps)
        for p, g, h_, t in self.blocks(1, param, grad, h):
            xp.multiply(g, g, t)
            xp.add(h_, t, h_)
            # The square of the gradient is used up; ``t`` is free for the denominator.
            _divide_by_root(xp, g, h_, eps_, t)
            _descend(xp, p, t, lr_, t)


class AdaDeltaKernel(UpdateKernel):
    """Reference of ``ada_delta_update``."""

    def update(
        self, param: Array, grad: Array, msg: Array, msdx: Array, *, rho: float, eps: float
    ) -> None:
        """See :class:`~chainer.backends.operations.optimizer_updates.AdaDeltaUpdate`."""
        xp = self.xp
        weight, eps_ = self.constants(param, 1 - rho, eps)
        for p, g, msg_, msdx_, t, u in self.blocks(2, param, grad, msg, msdx):
            xp.multiply(g, g, t)
            _average(xp, msg_, t, weight, t)
            xp.add(msg_, eps_, u)
            xp.add(msdx_, eps_, t)
            xp.divide(t, u, t)
            xp.sqrt(t, t)
            xp.multiply(t, g, t)
            xp.subtract(p, t, p)
            # The average of squared steps changes last: the step above uses its former value.
            xp.multiply(t, t, t)
            _average(xp, msdx_, t, weight, t)


class AdamKernel(UpdateKernel):
    """Reference of ``adam_update``."""

    def update(
        self,
        param: Array,
        grad: Array,
        m: Array,
        v: Array,
        vhat: Array | None,
        *,
        hyper: AdamHyperparameters,
    ) -> None:
        """See :class:`~chainer.backends.operations.optimizer_updates.AdamUpdate`."""
        xp = self.xp
        alpha_t, beta1, beta2, eps, eta, weight_decay_rate, bounds = hyper
        # Products of factors are computed here, as Python floats. Each saves one pass over the
        # arrays.
        weight1, weight2, eps_, scale = self.constants(
            param, 1 - beta1, 1 - beta2, eps, eta * alpha_t
        )
        rate = low = high = eta_ = keep = None
        if bounds is not None:
            rate, low, high, eta_ = self.constants(param, alpha_t, *bounds, eta)
        if weight_decay_rate:
            (keep,) = self.constants(param, 1 - eta * weight_decay_rate)
        for p, g, m_, v_, vhat_, t in self.blocks(1, param, grad, m, v, vhat):
            _average(xp, m_, g, weight1, t)
            xp.multiply(g, g, t)
            _average(xp, v_, t, weight2, t)
            second = v_
            if vhat_ is not None:
                xp.maximum(vhat_, v_, out=vhat_)
                second = vhat_
            # AdaBound clips the factor of each element, so the factor has to be computed first.
            if rate is None:
                _divide_by_root(xp, m_, second, eps_, t)
                xp.multiply(t, scale, t)
            else:
                _divide_by_root(xp, rate, second, eps_, t)
                xp.maximum(t, low, out=t)
                xp.minimum(t, high, out=t)
                xp.multiply(t, m_, t)
                xp.multiply(t, eta_, t)
            if keep is not None:
                xp.multiply(p, keep, p)
            xp.subtract(p, t, p)


class RMSpropKernel(UpdateKernel):
    """Reference of ``rmsprop_update``."""

    def update(
        self,
        param: Array,
        grad: Array,
        ms: Array,
        *,
        lr: float,
        alpha: float,
        eps: float,
        eps_inside_sqrt: bool,
    ) -> None:
        """See :class:`~chainer.backends.operations.optimizer_updates.RMSpropUpdate`."""
        xp = self.xp
        weight, eps_, lr_ = self.constants(param, 1 - alpha, eps, lr)
        for p, g, ms_, t in self.blocks(1, param, grad, ms):
            xp.multiply(g, g, t)
            _average(xp, ms_, t, weight, t)
            if eps_inside_sqrt:
                xp.add(ms_, eps_, t)
                xp.sqrt(t, t)
                xp.divide(g, t, t)
            else:
                _divide_by_root(xp, g, ms_, eps_, t)
            _descend(xp, p, t, lr_, t)


class RMSpropGravesKernel(UpdateKernel):
    """Reference of ``rmsprop_graves_update``."""

    def update(
        self,
        param: Array,
        grad: Array,
        n: Array,
        g: Array,
        delta: Array,
        *,
        hyper: RMSpropGravesHyperparameters,
    ) -> None:
        """See :class:`~chainer.backends.operations.optimizer_updates.RMSpropGravesUpdate`."""
        xp = self.xp
        weight, momentum, eps, lr = self.constants(
            param, 1 - hyper.alpha, hyper.momentum, hyper.eps, hyper.lr
        )
        for p, grad_, n_, g_, delta_, t in self.blocks(1, param, grad, n, g, delta):
            xp.multiply(grad_, grad_, t)
            _average(xp, n_, t, weight, t)
            _average(xp, g_, grad_, weight, t)
            xp.multiply(g_, g_, t)
            xp.subtract(n_, t, t)
            xp.add(t, eps, t)
            xp.sqrt(t, t)
            xp.divide(grad_, t, t)
            xp.multiply(delta_, momentum, delta_)
            _descend(xp, delta_, t, lr, t)
            xp.add(p, delta_, p)


class SMORMS3Kernel(UpdateKernel):
    """Reference of ``smorms3_update``."""

    def update(
        self, param: Array, grad: Array, mem: Array, g: Array, g2: Array, *, lr: float, eps: float
    ) -> None:
        """See :class:`~chainer.backends.operations.optimizer_updates.SMORMS3Update`."""
        xp = self.xp
        one, lr_, eps_ = self.constants(param, 1.0, lr, eps)
        for p, grad_, mem_, g_, g2_, t, x in self.blocks(2, param, grad, mem, g, g2):
            xp.add(mem_, one, x)
            xp.divide(one, x, x)
            _average(xp, g_, grad_, x, t)
            xp.multiply(grad_, grad_, t)
            _average(xp, g2_, t, x, t)
            xp.add(g2_, eps_, t)
            xp.multiply(g_, g_, x)
            xp.divide(x, t, x)
            xp.multiply(mem_, x, t)
            xp.subtract(mem_, t, mem_)
            xp.add(mem_, one, mem_)
            xp.sqrt(g2_, t)
            xp.add(t, eps_, t)
            # ``x`` is used up only now: the memory above depends on it before it is clipped.
            xp.minimum(x, lr_, out=x)
            xp.multiply(x, grad_, x)
            xp.divide(x, t, x)
            xp.subtract(p, x, p)


def _shrinkage(rho: float) -> float:
    # At the first update rho is one: the variance is unknown, and the step does not shrink.
    return 1 / (1 - rho) if rho < 1 else 0.0


class MSVAGKernel(UpdateKernel):
    """Reference of ``msvag_update``."""

    def update(
        self, param: Array, grad: Array, m: Array, v: Array, *, hyper: MSVAGHyperparameters
    ) -> None:
        """See :class:`~chainer.backends.operations.optimizer_updates.MSVAGUpdate`."""
        xp = self.xp
        lr, beta, eta, weight_decay_rate, correction, rho = hyper
        weight, scale, keep, inverse, rho_, shrink, one = self.constants(
            param,
            1 - beta,
            eta * lr / correction,
            1 - eta * weight_decay_rate,
            1 / correction,
            rho,
            computed(_shrinkage, rho),
            1.0,
        )
        for p, g, m_, v_, t, square in self.blocks(2, param, grad, m, v):
            _average(xp, m_, g, weight, t)
            xp.multiply(g, g, t)
            _average(xp, v_, t, weight, t)
            xp.multiply(m_, inverse, square)
            xp.multiply(square, square, square)
            xp.multiply(v_, inverse, t)
            xp.subtract(t, square, t)
            xp.multiply(t, shrink, t)
            xp.multiply(t, rho_, t)
            xp.add(t, square, t)
            undefined = t == 0
            # Where both moments are zero, the factor would be 0 / 0. The step is zero anyway.
            t[undefined] = one
            xp.divide(square, t, t)
            t[undefined] = one
            xp.multiply(t, m_, t)
            xp.multiply(t, scale, t)
            if weight_decay_rate:
                xp.multiply(p, keep, p)
            xp.subtract(p, t, p)
