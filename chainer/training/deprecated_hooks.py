"""The hooks under the names they had in ``chainer.optimizer`` before v4."""

from __future__ import annotations

import warnings
from typing import Any

from chainer.training.optimizer_hooks import (
    gradient_clipping,
    gradient_hard_clipping,
    gradient_noise,
    lasso,
    weight_decay,
)


def _warn(name: str) -> None:
    warnings.warn(
        f"chainer.optimizer.{name} is deprecated from v4. Use chainer.optimizer_hooks.{name} "
        "instead.",
        DeprecationWarning,
        stacklevel=3,
    )


class WeightDecay(weight_decay.WeightDecay):
    """Deprecated name of :class:`chainer.optimizer_hooks.WeightDecay`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _warn("WeightDecay")
        super().__init__(*args, **kwargs)


class Lasso(lasso.Lasso):
    """Deprecated name of :class:`chainer.optimizer_hooks.Lasso`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _warn("Lasso")
        super().__init__(*args, **kwargs)


class GradientClipping(gradient_clipping.GradientClipping):
    """Deprecated name of :class:`chainer.optimizer_hooks.GradientClipping`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _warn("GradientClipping")
        super().__init__(*args, **kwargs)


class GradientNoise(gradient_noise.GradientNoise):
    """Deprecated name of :class:`chainer.optimizer_hooks.GradientNoise`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _warn("GradientNoise")
        super().__init__(*args, **kwargs)


class GradientHardClipping(gradient_hard_clipping.GradientHardClipping):
    """Deprecated name of :class:`chainer.optimizer_hooks.GradientHardClipping`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _warn("GradientHardClipping")
        super().__init__(*args, **kwargs)
