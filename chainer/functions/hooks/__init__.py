"""Function hooks (public module ``chainer.function_hooks``)."""

from __future__ import annotations

from chainer.core.lazy import lazy_module
from chainer.core.registry import registries

MODULES: dict[str, tuple[str, ...]] = {
    "cuda_profile": ("CUDAProfileHook",),
    "cupy_memory_profile": ("CupyMemoryProfileHook",),
    "debug_print": ("PrintHook",),
    "timer": ("TimerHook",),
}

__getattr__, __dir__ = lazy_module(globals(), registry=registries.function_hooks)
