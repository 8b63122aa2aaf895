"""The operations: named pieces of array work that kernels implement.

Each class documents the methods of its implementations, with shapes, dtypes and attributes; the backend author's guide is made
from these docstrings. ``operations.softmax.select(x, axis=1)`` gives the implementation that serves a call.
"""

from __future__ import annotations

from chainer.core import registries

MODULES: dict[str, tuple[str, ...]] = {
    "cross_entropies": ("softmax_cross_entropy",),
    "indexing": ("scatter_add",),
    "optimizer_updates": ("ada_delta_update", "ada_grad_update", "adam_update", "corrected_momentum_sgd_update", "momentum_sgd_update", "msvag_update", "nesterov_ag_update", "rmsprop_graves_update", "rmsprop_update", "sgd_update", "smorms3_update"),
    "special": ("erf", "erfc"),
}

__getattr__, __dir__ = registries.module_getattr(registries.operations, globals())
