"""Links: functions with parameters (``import chainer.links as L``).

The names come from the registry ``chainer.core.registries.links``; each is imported when it is
first asked for.
"""

from __future__ import annotations

from chainer.core import registries

__getattr__, __dir__ = registries.module_getattr(registries.links, globals())
