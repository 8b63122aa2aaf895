"""Links: functions with parameters (``import chainer.links as L``).

The names come from the registry ``chainer.core.registry.registries.links``; each is imported at
first use.
"""

from __future__ import annotations

from chainer.core.lazy import lazy_module
from chainer.core.registry import registries

__getattr__, __dir__ = lazy_module(globals(), registry=registries.links)
