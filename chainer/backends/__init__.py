"""Array backends and their kernels."""

from __future__ import annotations

from chainer.core.lazy import lazy_module

__getattr__, __dir__ = lazy_module(globals(), submodules=("cuda", "intel64"))
