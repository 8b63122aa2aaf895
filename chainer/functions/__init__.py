"""Differentiable functions (``import chainer.functions as F``).

The names come from the registry ``chainer.core.registry.registries.functions``: our own from the
category packages here, others from installed packs. Each is imported at first use.
"""

from __future__ import annotations

from chainer.core.registry import registries

__getattr__, __dir__ = registries.module_getattr(registries.functions, globals())
