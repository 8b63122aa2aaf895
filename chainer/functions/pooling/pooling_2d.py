"""Base class of two-dimensional poolings, by its name in releases 4 to 7."""

from __future__ import annotations

from chainer.core.utils.conv import _pair as _pair
from chainer.functions.pooling._pooling import TwoDimensionalPooling as Pooling2D

__all__ = ["Pooling2D"]
