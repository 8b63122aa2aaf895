"""Updaters (public module ``chainer.training.updaters``)."""

from __future__ import annotations

from chainer.core.lazy import lazy_module
from chainer.core.registry import registries

MODULES: dict[str, tuple[str, ...]] = {
    "gradient_accumulation_updater": ("GradientAccumulationUpdater",),
    "multiprocess_parallel_updater": ("MultiprocessParallelUpdater",),
    "parallel_updater": ("ParallelUpdater",),
    "standard_updater": ("StandardUpdater",),
}

__getattr__, __dir__ = lazy_module(globals(), registry=registries.updaters)
