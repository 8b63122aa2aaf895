"""Computation of float16 functions in float32 (public module ``chainer.utils.precision``)."""

# Programs import these names, although they begin with an underscore.
# pyright: reportUnusedFunction=false

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy

from chainer.core.typing import Array


def _fp16_mixed_precision_helper(
    fn: Callable[..., tuple[Array | None, ...]],
) -> Callable[..., tuple[Array | None, ...]]:
    """Decorator of ``forward(self, inputs)``: float16 inputs are computed in float32.

    Outputs are cast back to float16 if all floating-point inputs were float16.

    Args:
        fn: The method.
    """

    @functools.wraps(fn)
    def wrapper(self: Any, in_data: tuple[Array, ...]) -> tuple[Array | None, ...]:
        floats = [x.dtype for x in in_data if x.dtype.kind == "f"]
        all_half = bool(floats) and all(dtype == numpy.float16 for dtype in floats)
        wide = tuple(x.astype(numpy.float32) if x.dtype == numpy.float16 else x for x in in_data)
        outputs = fn(self, wide)
        if not all_half:
            return outputs
        return tuple(
            y.astype(numpy.float16) if y is not None and y.dtype == numpy.float32 else y
            for y in outputs
        )

    return wrapper
