"""Reference kernels of the parameter updates.

The formulas are chains of ufuncs with explicit outputs, because a NumPy expression allocates an
array for each operator. Large arrays are processed in blocks that stay in the cache: then only the
first of a dozen passes reads main memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, cast

import numpy

from chainer.backends.compute_dtypes import compute_dtype
from chainer.backends.operations.optimizer_updates import (
    AdaDeltaScalars,
    AdamScalars,
    FormulaUpdate,
    MSVAGScalars,
    NormalizedScalars,
    RMSpropGravesScalars,
    RMSpropScalars,
    SGDScalars,
    VelocityScalars,
)
from chainer.core.arrays.backend import HOST_FAMILY, Backend
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.arrays.recorder import computed
from chainer.core.typing import Array, ArrayModule, Arrays, DType, HostArray, Scalar

#: Elements of a block. Six float32 arrays of this length fit into a second-level cache of 2 MB.
BLOCK = 1 << 16

#: Elements of a parameter that is joined with others, at most. Copies of larger ones take longer
#: than the calls of NumPy that are saved.
MOST_JOINED = 256
#: Parameters that are joined, at least. Fewer are updated faster one by one (measured: Adam gains a
#: fifth with 12 parameters, and loses with 6).
FEWEST_JOINED = 8

_size_of = attrgetter("size")
_dtype_of = attrgetter("dtype")
_base_of = attrgetter("base")


@lru_cache(maxsize=1024)
def _constant(value: float, dtype: DType) -> HostArray:
    # NumPy takes an array operand about one microsecond faster than a Python float.
    constant = numpy.array(value, dtype)
    constant.flags.writeable = False
    return constant


@lru_cache(maxsize=256)
def _constants(dtype: DType, values: tuple[float, ...]) -> Arrays:
    return tuple([_constant(value, dtype) for value in values])


class UpdateKernel(ReferenceKernel):
    """Base of the kernels below, and of reference kernels of other distributions.

    A subclass defines ``update(*row, scalars)`` for the arrays of one parameter, see the operation.

    Attributes:
        is_elementwise: Whether the update of an element depends on that element of the arrays only.
            Then small arrays in host memory are joined: a dozen calls of NumPy cost more than their
            copies.
    """

    is_elementwise: bool = True

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._on_host = backend.family == HOST_FAMILY

    def update(self, *row: Any) -> None:
        """Updates one parameter.

        Args:
            row: Parameter, gradient, states and scalars.
        """
        raise NotImplementedError(f"{type(self).__name__} must define update()")

    def update_many(self, rows: Sequence[Sequence[Array | None]], scalars: Any) -> None:
        """Updates parameters of one dtype and device.

        Args:
            rows: Parameter, gradient and states of each parameter.
            scalars: Numbers of the step.
        """
        if len(rows) >= FEWEST_JOINED and self.is_elementwise and self._on_host:
            rows = self._update_small(rows, scalars)
        for row in rows:
            self.update(*row, scalars)

    def _update_small(self, rows: Sequence[Sequence[Any]], scalars: Any) -> Sequence[Sequence[Any]]:
        """Updates small parameters together, in every bit as alone; returns the other rows."""
        small = [row for row in rows if row[0].size <= MOST_JOINED]
        columns = list(zip(*small))
        if len(small) < FEWEST_JOINED or not are_joinable(columns):
            return rows
        joined = [None if c[0] is None else numpy.concatenate(c, axis=None) for c in columns]
        self.update(*joined, scalars)
        for index, column in enumerate(columns):
            flat: Any = joined[index]
            if flat is None or index == 1:  # the gradient is an input only
                continue
            start = 0
            for array in column:
                stop = start + array.size
                array[...] = flat[start:stop].reshape(array.shape)
                start = stop
        return [row for row in rows if row[0].size > MOST_JOINED]

    def constants(self, param: Array, *values: float) -> Arrays:
        """Returns scalars in the form in which ufuncs take them fastest."""
        dtype = compute_dtype(param.dtype)
        if self._on_host:
            for value in values:
                if value.__class__ is not float:
                    break
            else:  # the usual case: all parameters of an update have the same numbers
                return _constants(dtype, values)
            arrays: list[Array] = []
            for value in values:
                if type(value) is float or not hasattr(value, "array"):
                    arrays.append(_constant(float(value), dtype))
                else:  # a number of a recorded step, which may be another one at the next call
                    arrays.append(cast(Any, value).array(dtype))
            return tuple(arrays)
        # An accelerator passes numbers to its kernels; an array would have to be copied there.
        # Numbers of a recorded step, and arrays without axes, are inputs of a program.
        numbers: list[Any] = []
        for value in values:
            if hasattr(value, "array"):
                value = cast(Any, value).array(dtype)
            elif hasattr(value, "astype"):
                value = cast(Any, value).astype(dtype)
            numbers.append(value)
        return tuple(numbers)

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
            return
        # Small arrays need no blocks. Strided ones cannot be cut into flat blocks without a copy,
        # and on accelerators each block would be another launch.
        spare: list[Array] = []
        for _ in range(n_scratch):
            if type(param) is numpy.ndarray and param.flags.c_contiguous:
                spare.append(numpy.empty(param.shape, dtype))  # faster than empty_like()
            else:
                spare.append(self.xp.empty_like(param, dtype))
        if param.dtype == dtype:
            yield (*arrays, *spare)
        else:
            yield from _in_compute_dtype(arrays, spare, dtype)


def are_joinable(columns: Sequence[Sequence[Any]]) -> bool:
    """Whether arrays of an elementwise update may be joined.

    They must be NumPy arrays. The arrays of a column have one dtype, the arrays of a row one size.
    An array that is written must not share its memory with another one: an update would then see
    what the one before it has written.

    Args:
        columns: Parameters, gradients, and each of the states, for all parameters.
    """
    sizes = list(map(_size_of, columns[0]))
    written: list[Any] = []
    read: list[Any] = []
    for index, column in enumerate(columns):
        if column[0] is None:
            if set(column) != {None}:
                return False
            continue
        # By maps, because a loop over the arrays would take as long as their updates.
        if set(map(type, column)) != {numpy.ndarray} or len(set(map(_dtype_of, column))) > 1:
            return False
        if index and list(map(_size_of, column)) != sizes:
            return False
        bases = list(map(_base_of, column))
        if any([base is not None for base in bases]):
            owners = [a if base is None else base for a, base in zip(column, bases)]
        else:
            owners = column
        (read if index == 1 else written).extend(map(id, owners))
    distinct = set(written)
    return len(distinct) == len(written) and distinct.isdisjoint(read)


class FormulaKernel(UpdateKernel):
    """Reference of an update that is a formula on arrays, see :class:`FormulaUpdate`.

    Args:
        backend: Backend of the arrays.
        operation: The operation.
    """

    def __init__(self, backend: Backend, operation: FormulaUpdate) -> None:
        super().__init__(backend)
        self._step = operation.step
        self._names = operation.states
        # The formula makes new arrays and may look at shapes: nothing is gained by joining.
        self.is_elementwise = False

    def update(self, param: Array, grad: Array, *rest: Any) -> None:
        """Updates one parameter by the formula, in the dtype of the arithmetic."""
        *states, scalars = rest
        dtype = compute_dtype(param.dtype)
        new = self._step(
            self.xp,
            param.astype(dtype, copy=False),
            grad.astype(dtype, copy=False),
            dict(zip(self._names, states, strict=True)),
            scalars,
        )
        param[...] = new.astype(param.dtype, copy=False)


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

    def update(self, param: Array, grad: Array, scalars: SGDScalars) -> None:
        """See :class:`~chainer.backends.operations.optimizer_updates.SGDUpdate`."""
        xp = self.xp
        (lr_,) = self.constants(param, *scalars)
        for p, g, t in self.blocks(1, param, grad):
            _descend(xp, p, g, lr_, t)


class VelocityKernel(UpdateKernel):
    """Base of the updates that keep a velocity, a decaying sum of gradients."""

    def update(self, param: Array, grad: Array, v: Array, scalars: VelocityScalars) -> None:
        """Updates the parameter and the velocity.

        See :class:`~chainer.backends.operations.optimizer_updates.MomentumSGDUpdate`.
        """
        xp = self.xp
        factors = self.constants(param, *self.factors(*scalars))
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

    def update(self, param: Array, grad: Array, h: Array, scalars: NormalizedScalars) -> None:
        """See :class:`~chainer.backends.operations.optimizer_updates.AdaGradUpdate`."""
        xp = self.xp
        lr_, eps_ = self.constants(param, *scalars)
        for p, g, h_, t in self.blocks(1, param, grad, h):
            xp.multiply(g, g, t)
            xp.add(h_, t, h_)
            # The square of the gradient is used up; ``t`` is free for the denominator.
            _divide_by_root(xp, g, h_, eps_, t)
            _descend(xp, p, t, lr_, t)


class AdaDeltaKernel(UpdateKernel):
    """Reference of ``ada_delta_update``."""

    def update(
        self, param: Array, grad: Array, msg: Array, msdx: Array, scalars: AdaDeltaScalars
    ) -> None:
        """See :class:`~chainer.backends.operations.optimizer_updates.AdaDeltaUpdate`."""
        xp = self.xp
        weight, eps_ = self.constants(param, 1 - scalars.rho, scalars.eps)
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
        scalars: AdamScalars,
    ) -> None:
        """See :class:`~chainer.backends.operations.optimizer_updates.AdamUpdate`."""
        xp = self.xp
        alpha_t, beta1, beta2, eps, eta, weight_decay_rate, bounds = scalars
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
        subtract, multiply, add = xp.subtract, xp.multiply, xp.add
        for p, g, m_, v_, vhat_, t in self.blocks(1, param, grad, m, v, vhat):
            # Twice as _average(), without the calls: most parameters are small.
            subtract(g, m_, t)
            multiply(t, weight1, t)
            add(m_, t, m_)
            multiply(g, g, t)
            subtract(t, v_, t)
            multiply(t, weight2, t)
            add(v_, t, v_)
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

    def update(self, param: Array, grad: Array, ms: Array, scalars: RMSpropScalars) -> None:
        """See :class:`~chainer.backends.operations.optimizer_updates.RMSpropUpdate`."""
        xp = self.xp
        lr, alpha, eps, eps_inside_sqrt = scalars
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
        scalars: RMSpropGravesScalars,
    ) -> None:
        """See :class:`~chainer.backends.operations.optimizer_updates.RMSpropGravesUpdate`."""
        xp = self.xp
        lr, alpha, momentum, eps = scalars
        weight, momentum, eps, lr = self.constants(param, 1 - alpha, momentum, eps, lr)
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
        self, param: Array, grad: Array, mem: Array, g: Array, g2: Array, scalars: NormalizedScalars
    ) -> None:
        """See :class:`~chainer.backends.operations.optimizer_updates.SMORMS3Update`."""
        xp = self.xp
        one, lr_, eps_ = self.constants(param, 1.0, *scalars)
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

    def update(self, param: Array, grad: Array, m: Array, v: Array, scalars: MSVAGScalars) -> None:
        """See :class:`~chainer.backends.operations.optimizer_updates.MSVAGUpdate`."""
        xp = self.xp
        lr, beta, eta, weight_decay_rate, correction, rho = scalars
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
