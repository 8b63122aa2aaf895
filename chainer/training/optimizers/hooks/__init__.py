"""Hook functions of optimizers (public module ``chainer.optimizer_hooks``)."""

from __future__ import annotations

from chainer.core.lazy import lazy_module
from chainer.core.registry import registries

MODULES: dict[str, tuple[str, ...]] = {
    "gradient_clipping": ("GradientClipping",),
    "gradient_hard_clipping": ("GradientHardClipping",),
    "gradient_lars": ("GradientLARS",),
    "gradient_noise": ("GradientNoise",),
    "lasso": ("Lasso",),
    "weight_decay": ("WeightDecay",),
}

__getattr__, __dir__ = lazy_module(globals(), registry=registries.optimizer_hooks)
