"""A plugin of pytest: with ``chainer.config.accelerate``, providers serve arrays of any size.

The arrays of the conformance suite are small, so that by the measured sizes the reference would
serve nearly all calls.
"""

from __future__ import annotations

import chainer
from chainer.backends.ideep.kernels import _checks
from chainer.core.arrays.acceleration import SpeedupBySize
from chainer_numba import supports

for _kind in supports.MIN_ELEMENTS:
    supports.MIN_ELEMENTS[_kind] = 0
_checks.SMALL_PRODUCT = _checks.SMALL_ARRAY = _checks.SMALL_SCORES = 0
SpeedupBySize.__call__ = lambda self, spec: self.steps[-1][1]  # type: ignore[method-assign]
chainer.global_config.accelerate = "auto"
