"""Differentiable functions (``import chainer.functions as F``).

The names come from the registry ``chainer.core.registry.registries.functions``: our own from the
category packages here, others from installed packs. Each is imported at first use.
"""

from __future__ import annotations

from chainer.core.lazy import lazy_module
from chainer.core.registry import registries

__getattr__, __dir__ = lazy_module(globals(), registry=registries.functions)
