"""Optimizers (public module ``chainer.optimizers``)."""

from __future__ import annotations

from chainer.core.lazy import lazy_module
from chainer.core.registry import registries

MODULES: dict[str, tuple[str, ...]] = {
    "ada_delta": ("AdaDelta",),
    "ada_grad": ("AdaGrad",),
    "adafactor": ("Adafactor",),
    "adam": ("AMSBound", "AMSGrad", "AdaBound", "Adam", "AdamW"),
    "corrected_momentum_sgd": ("CorrectedMomentumSGD",),
    "lamb": ("LAMB",),
    "lion": ("Lion",),
    "momentum_sgd": ("MomentumSGD",),
    "msvag": ("MSVAG",),
    "muon": ("Muon",),
    "nadam": ("NAdam",),
    "nesterov_ag": ("NesterovAG",),
    "radam": ("RAdam",),
    "rmsprop": ("RMSprop",),
    "rmsprop_graves": ("RMSpropGraves",),
    "sgd": ("SGD",),
    "smorms3": ("SMORMS3",),
}

__getattr__, __dir__ = lazy_module(globals(), registry=registries.optimizers)
