"""The policy of mixed precision as a value of ``chainer.config.dtype``."""

from __future__ import annotations

from typing import Any

import numpy


class Mixed16:
    """The type of :data:`mixed16`; there is one object of it.

    Attributes:
        dtype: Data type of most arrays under this policy: float16.
    """

    dtype = numpy.dtype(numpy.float16)

    def __new__(cls) -> Mixed16:
        """Returns the only object of this class."""
        return mixed16 if "mixed16" in globals() else super().__new__(cls)

    def __repr__(self) -> str:
        return "dtype('mixed16')"

    def __copy__(self) -> Mixed16:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Mixed16:
        return self

    def __reduce__(self) -> tuple[type[Mixed16], tuple[()]]:
        # Code tests whether a dtype is this object. So unpickling must return the same object.
        return (Mixed16, ())


mixed16 = Mixed16()
"""Value of ``chainer.config.dtype`` for mixed precision.

Parameters and inputs then have the dtype float16. Those that need more precision have the dtype
float32, such as the parameters and statistics of batch normalization.
"""
