"""The hooks under the names they had in ``chainer.optimizer`` before release 4."""

from __future__ import annotations

import warnings
from typing import Any

from chainer.training.optimizers.hooks import (
    gradient_clipping,
    gradient_hard_clipping,
    gradient_noise,
    lasso,
    weight_decay,
)


class _DeprecatedName:
    """Warns when a hook is made, and leaves the rest to the class that is named next."""

    name: str

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"chainer.optimizer.{self.name} is deprecated from v4. Use "
            f"chainer.optimizer_hooks.{self.name} instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        super().__init__(*args, **kwargs)


class WeightDecay(_DeprecatedName, weight_decay.WeightDecay):
    """Deprecated name of :class:`chainer.optimizer_hooks.WeightDecay`."""


class Lasso(_DeprecatedName, lasso.Lasso):
    """Deprecated name of :class:`chainer.optimizer_hooks.Lasso`."""


class GradientClipping(_DeprecatedName, gradient_clipping.GradientClipping):
    """Deprecated name of :class:`chainer.optimizer_hooks.GradientClipping`."""


class GradientNoise(_DeprecatedName, gradient_noise.GradientNoise):
    """Deprecated name of :class:`chainer.optimizer_hooks.GradientNoise`."""


class GradientHardClipping(_DeprecatedName, gradient_hard_clipping.GradientHardClipping):
    """Deprecated name of :class:`chainer.optimizer_hooks.GradientHardClipping`."""
