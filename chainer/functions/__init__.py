"""Differentiable functions (``import chainer.functions as F``).

The names come from the registry ``chainer.core.registries.functions``: ours from the category
packages here, others from installed function packs. Each is imported when it is first asked for.
"""

from __future__ import annotations

from chainer.core import registries

__getattr__, __dir__ = registries.module_getattr(registries.functions, globals())
