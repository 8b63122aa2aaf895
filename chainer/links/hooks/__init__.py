"""Link hooks (public module ``chainer.link_hooks``)."""

from __future__ import annotations

from chainer.core.lazy import lazy_module
from chainer.core.registry import registries

MODULES: dict[str, tuple[str, ...]] = {
    "cast_inputs": ("CastInputs",),
    "spectral_normalization": ("SpectralNormalization",),
    "timer": ("TimerHook",),
    "weight_standardization": ("WeightStandardization",),
}

__getattr__, __dir__ = lazy_module(globals(), registry=registries.link_hooks)
