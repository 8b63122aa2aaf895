"""Which calls the kernels support."""

from __future__ import annotations

import numpy as np
from chainer.kernel import CallSpec


def unavailable() -> str | None:
    """Returns what is missing on this machine and how to get it; None if nothing is."""
    return None


def softmax(call: CallSpec) -> bool | str:
    """Returns True if a call is supported, otherwise the reason why it is not.

    The answer must depend on shapes, dtypes and attributes only, because it is remembered. A kernel
    that is chosen must do the work or raise an error.

    Args:
        call: Specification of ``x`` and the attribute ``axis``.
    """
    (x,) = call.arrays
    if x is None or x.dtype not in (np.float32, np.float64):
        return "it is for float32 and float64 only"
    if call.attributes["axis"] not in (-1, x.ndim - 1):
        return "it is for the last axis only"
    if x.size == 0:
        return "there is nothing to compute"
    return True
