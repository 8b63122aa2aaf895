# Written by scripts/make_stubs.py. Do not edit.

from typing import Any

from chainer.training.optimizers.hooks import (
    gradient_clipping as gradient_clipping,
    gradient_hard_clipping as gradient_hard_clipping,
    gradient_lars as gradient_lars,
    gradient_noise as gradient_noise,
    grouping as grouping,
    lasso as lasso,
    weight_decay as weight_decay,
)
from chainer.training.optimizers.hooks.gradient_clipping import GradientClipping as GradientClipping
from chainer.training.optimizers.hooks.gradient_hard_clipping import (
    GradientHardClipping as GradientHardClipping,
)
from chainer.training.optimizers.hooks.gradient_lars import GradientLARS as GradientLARS
from chainer.training.optimizers.hooks.gradient_noise import GradientNoise as GradientNoise
from chainer.training.optimizers.hooks.lasso import Lasso as Lasso
from chainer.training.optimizers.hooks.weight_decay import WeightDecay as WeightDecay

# Installed packs register more names.
def __getattr__(name: str) -> Any: ...
