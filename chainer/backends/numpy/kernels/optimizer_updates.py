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


def _average(xp: ArrayModule, mean: Array, value: Array, weight: Array | Scalar) -> None:
    """``mean += weight * (value - mean)``; overwrites ``value``, which must not be ``mean``."""
    xp.subtract(value, mean, value)
    xp.multiply(value, weight, value)
    xp.add(mean, value, mean)


class SGDKernel(UpdateKernel):
    """Reference of ``sgd_update``."""

    def update(self, param: Array, grad: Array, *, lr: float) -> None:
        """See :class:`~chainer.backends.operations.optimizer_updates.SGDUpdate`."""
        xp = self.xp
        (lr_,) = self.constants(param, lr)
        for p, g, t in self.blocks(1, param, grad):
            xp.multiply(g, lr_, t)
            xp.subtract(p, t, p)


class MomentumSGDKernel(UpdateKernel):
    """Reference of ``momentum_sgd_update``."""

    def update(self, param: Array, grad: Array, v: Array, *, lr: float, momentum: float) -> None:
        """See :class:`~chainer.backends.operations.optimizer_updates.MomentumSGDUpdate`."""
        xp = self.xp
        lr_, momentum_ = self.constants(param, lr, momentum)
        for p, g, v_, t in self.blocks(1, param, grad, v):
            xp.multiply(v_, momentum_, v_)
            xp.multiply(g, lr_, t)
            xp.subtract(v_, t, v_)
            xp.add(p, v_, p)


class CorrectedMomentumSGDKernel(UpdateKernel):
    """Reference of ``corrected_momentum_sgd_update``."""

    def update(self, param: Array, grad: Array, v: Array, *, lr: float, momentum: float) -> None:
        """See :class:`~.operations.optimizer_updates.CorrectedMomentumSGDUpdate`."""
        xp = self.xp
        lr_, momentum_ = self.constants(param, lr, momentum)
        # The velocity is without the learning rate, so the step needs a scratch array.
        for p, g, v_, t in self.blocks(1, param, grad, v):
            xp.multiply(v_, momentum_, v_)
            xp.subtract(v_, g, v_)
            xp.multiply(v_, lr_, t)
            xp.add(p, t, p)


class NesterovAGKernel(UpdateKernel):
    """Reference of ``nesterov_ag_update``."""

    def update(self, param: Array, grad: Array, v: Array, *, lr: float, momentum: float) -> None:
        """See :class:`~chainer.backends.operations.optimizer_updates.NesterovAGUpdate`."""
        xp = self.xp
        # The factors of the velocity and of the gradient in the step.
        lr_, momentum_, ahead, jump = self.constants(
            param, lr, momentum, momentum * momentum, 1 + momentum
        )
        for p, g, v_, t in self.blocks(1, param, grad, v):
            xp.multiply(v_, momentum_, v_)
            xp.multiply(g, lr_, t)
            xp.subtract(v_, t, v_)
            xp.multiply(t, jump, t)
            xp.subtract(p, t, p)
            xp.multiply(v_, ahead, t)
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
            xp.sqrt(h_, t)
            xp.add(t, eps_, t)
            xp.divide(g, t, t)
            xp.multiply(t, lr_, t)
            xp.subtract(p, t, p)


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
            _average(xp, msg_, t, weight)
            xp.add(msg_, eps_, u)
            xp.add(msdx_, eps_, t)
            xp.divide(t, u, t)
            xp.sqrt(t, t)
            xp.multiply(t, g, t)
            xp.subtract(p, t, p)
            # The average of squared steps changes last: the step above uses its former value.
            xp.multiply(t, t, t)
            _average(xp, msdx_, t, weight)


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
            xp.subtract(g, m_, t)
            xp.multiply(t, weight1, t)
            xp.add(m_, t, m_)
            xp.multiply(g, g, t)
            xp.subtract(t, v_, t)
            xp.multiply(t, weight2, t)
            xp.add(v_, t, v_)
            second = v_
            if vhat_ is not None:
                xp.maximum(vhat_, v_, out=vhat_)
                second = vhat_
            xp.sqrt(second, t)
            xp.add(t, eps_, t)
            # AdaBound clips the factor of each element, so the factor has to be computed first.
            if rate is None:
                xp.divide(m_, t, t)
                xp.multiply(t, scale, t)
            else:
                xp.divide(rate, t, t)
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
            _average(xp, ms_, t, weight)
            if eps_inside_sqrt:
                xp.add(ms_, eps_, t)
                xp.sqrt(t, t)
            else:
                xp.sqrt(ms_, t)
                xp.add(t, eps_, t)
            xp.divide(g, t, t)
            xp.multiply(t, lr_, t)
            xp.subtract(p, t, p)


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
            _average(xp, n_, t, weight)
            # The average of the gradient, like ``_average``, which would overwrite the gradient.
            xp.subtract(grad_, g_, t)
            xp.multiply(t, weight, t)
            xp.add(g_, t, g_)
            xp.multiply(g_, g_, t)
            xp.subtract(n_, t, t)
            xp.add(t, eps, t)
            xp.sqrt(t, t)
            xp.divide(grad_, t, t)
            xp.multiply(t, lr, t)
            xp.multiply(delta_, momentum, delta_)
            xp.subtract(delta_, t, delta_)
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
            xp.subtract(grad_, g_, t)
            xp.multiply(t, x, t)
            xp.add(g_, t, g_)
            xp.multiply(grad_, grad_, t)
            _average(xp, g2_, t, x)
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
            xp.subtract(g, m_, t)
            xp.multiply(t, weight, t)
            xp.add(m_, t, m_)
            xp.multiply(g, g, t)
            _average(xp, v_, t, weight)
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
