"""Updates of parameters that are mdarrays.

The reference kernels update small parameters: a call of iDeep costs more than their arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy

from chainer.backends.ideep.kernels._base import IdeepKernel
from chainer.backends.operations import optimizer_updates
from chainer.backends.operations.optimizer_updates import (
    AdamScalars,
    SGDScalars,
    VelocityScalars,
)
from chainer.core.arrays.backend import Backend, get_backend
from chainer.core.arrays.kernel import Operation
from chainer.core.typing import Array

#: Number of elements below which NumPy is faster (measured).
SMALL = 10000


class UpdateKernel(IdeepKernel):
    """Base of the kernels below: decides between iDeep and NumPy."""

    operation: ClassVar[Operation]

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._backend = backend
        self._reference: Array = self.operation.reference_for(get_backend("numpy"))

    def update_many(self, rows: Sequence[Sequence[Any]], scalars: Any) -> None:
        """Updates parameters, see the operation."""
        for row in rows:
            self.update(*row, scalars)

    def update(self, *row: Any) -> None:
        """Updates one parameter: its arrays, and the scalars."""
        raise NotImplementedError(f"{type(self).__name__} must define update()")

    def by_reference(self, *row: Any) -> None:
        """Updates with NumPy, through NumPy arrays that share the memory of the mdarrays."""
        backend = self._backend
        *arrays, scalars = row
        views = [None if array is None else backend.xp_view(array) for array in arrays]
        self._reference.update_many([views], scalars)

    def prepared(self, param: Array, *states: Array) -> list[Array] | None:
        """Returns the states as mdarrays, or None if NumPy has to make the update."""
        if param.size < SMALL:
            return None
        if not param.layout.dense:
            # Viewing a parameter in blocked layout makes it dense. The states are NumPy arrays,
            # and the update needs all arrays in one order.
            self._backend.xp_view(param)
        prepared: list[Array] = []
        for state in states:
            if state.__class__ is numpy.ndarray:
                # An mdarray would not share the memory, so the update would be lost.
                if not (state.flags.c_contiguous and state.flags.writeable):
                    return None
                state = self.ops.from_numpy(state)
            prepared.append(state)
        return prepared


class SGDKernel(UpdateKernel):
    """Kernel of ``sgd_update``."""

    operation = optimizer_updates.sgd_update

    def update(self, param: Array, grad: Array, scalars: SGDScalars) -> None:
        if self.prepared(param) is None:
            self.by_reference(param, grad, scalars)
        else:
            self.ops.sgd_update(param, grad, scalars.lr)


class MomentumSGDKernel(UpdateKernel):
    """Kernel of ``momentum_sgd_update``."""

    operation = optimizer_updates.momentum_sgd_update

    def update(self, param: Array, grad: Array, v: Array, scalars: VelocityScalars) -> None:
        states = self.prepared(param, v)
        if states is None:
            self.by_reference(param, grad, v, scalars)
        else:
            self.ops.momentum_sgd_update(param, grad, *states, *scalars)


class AdamKernel(UpdateKernel):
    """Kernel of ``adam_update`` for Adam without weight decay, AMSGrad, and AdaBound."""

    operation = optimizer_updates.adam_update

    def update(self, param: Array, grad: Array, m: Array, v: Array, *rest: Any) -> None:
        scalars: AdamScalars = rest[-1]
        rate = scalars.eta * scalars.alpha_t
        prepared = None
        # iDeep rejects a learning rate of zero and an ``eps`` that is not positive.
        if rate and scalars.eps > 0 and not scalars.weight_decay_rate:
            prepared = self.prepared(param, m, v)
        if prepared is None:
            self.by_reference(param, grad, m, v, *rest)
        else:
            numbers = scalars.beta1, scalars.beta2, scalars.eps
            self.ops.adam_update(param, grad, *prepared, rate, *numbers)
