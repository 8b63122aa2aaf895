"""Updates of parameters that are mdarrays.

Small ones are left to the reference kernels: calls would cost more than the arithmetic.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy

from chainer.backends.ideep.kernels._base import IdeepKernel
from chainer.backends.operations import optimizer_updates
from chainer.core.arrays.backend import Backend, get_backend
from chainer.core.arrays.kernel import Operation
from chainer.core.typing import Array

#: Elements below which NumPy is faster.
SMALL = 10000


class UpdateKernel(IdeepKernel):
    """What the kernels below share."""

    operation: ClassVar[Operation]

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._backend = backend
        self._reference: Array = self.operation.reference_for(get_backend("numpy"))

    def by_reference(self, *arrays: Array, **hyperparameters: Any) -> None:
        """Updates by NumPy, on arrays that share memory."""
        backend = self._backend
        plain = [None if array is None else backend.xp_view(array) for array in arrays]
        self._reference.update(*plain, **hyperparameters)

    def prepared(self, param: Array, *states: Array) -> list[Array] | None:
        """Returns the states as mdarrays; None if there is one that cannot be.

        The parameter is laid out densely: NumPy views of it share its memory.
        """
        if param.size < SMALL:
            return None
        if not param.layout.dense:
            self._backend.xp_view(param)
        prepared: list[Array] = []
        for state in states:
            if state.__class__ is numpy.ndarray:
                if not (state.flags.c_contiguous and state.flags.writeable):
                    return None
                state = self.ops.from_numpy(state)
            prepared.append(state)
        return prepared


class SGDKernel(UpdateKernel):
    """Kernel of ``sgd_update``."""

    operation = optimizer_updates.sgd_update

    def update(self, param: Array, grad: Array, *, lr: float) -> None:
        if self.prepared(param) is None:
            self.by_reference(param, grad, lr=lr)
        else:
            self.ops.sgd_update(param, grad, lr)


class MomentumSGDKernel(UpdateKernel):
    """Kernel of ``momentum_sgd_update``."""

    operation = optimizer_updates.momentum_sgd_update

    def update(self, param: Array, grad: Array, v: Array, *, lr: float, momentum: float) -> None:
        states = self.prepared(param, v)
        if states is None:
            self.by_reference(param, grad, v, lr=lr, momentum=momentum)
        else:
            self.ops.momentum_sgd_update(param, grad, *states, lr, momentum)


class AdamKernel(UpdateKernel):
    """Kernel of ``adam_update`` for plain Adam."""

    operation = optimizer_updates.adam_update

    def update(
        self,
        param: Array,
        grad: Array,
        m: Array,
        v: Array,
        vhat: Array,
        *,
        alpha_t: float,
        beta1: float,
        beta2: float,
        eps: float,
        eta: float,
        weight_decay_rate: float,
        bounds: tuple[float, float] | None,
    ) -> None:
        rate = eta * alpha_t
        states = None
        if rate and eps > 0 and not weight_decay_rate:
            states = self.prepared(param, m, v)
        if states is None:
            self.by_reference(
                param,
                grad,
                m,
                v,
                vhat,
                alpha_t=alpha_t,
                beta1=beta1,
                beta2=beta2,
                eps=eps,
                eta=eta,
                weight_decay_rate=weight_decay_rate,
                bounds=bounds,
            )
        else:
            self.ops.adam_update(param, grad, *states, rate, beta1, beta2, eps)
