"""``basic_acc_sum``, ``basic_copyto`` and ``multi_add``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ideep4py import ops
from ideep4py._mdarray import mdarray
from ideep4py.compat.arguments import need_mdarray
from ideep4py.compat.creation import array


def basic_acc_sum(xs: Iterable[mdarray], /) -> mdarray:
    """Sum of mdarrays of one shape (a sequence or an ``mdarrayVector``)."""
    arrays = list(xs)
    need_mdarray(**{f"xs[{i}]": x for i, x in enumerate(arrays)})
    return ops.add(*arrays)


def basic_copyto(dst: mdarray, src: mdarray | np.ndarray[Any, Any], /) -> None:
    """``dst[...] = src``; both of one shape. ``dst`` keeps its layout."""
    ops.copy_to(dst, src)


def multi_add(xs: Iterable[mdarray | np.ndarray[Any, Any]]) -> mdarray:
    """Sum of one or more float32 arrays of one shape."""
    return basic_acc_sum([array(x) for x in xs])
