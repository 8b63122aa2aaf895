"""Base class of poolings in any number of dimensions, by its name in releases 4 to 7."""

from __future__ import annotations

from chainer.functions.pooling._pooling import PoolingNode as _PoolingND

__all__ = ["_PoolingND"]
