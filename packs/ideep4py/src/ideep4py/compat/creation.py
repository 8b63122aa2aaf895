"""``array`` and its hints ``dat_array`` and ``wgt_array``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ideep4py._mdarray import mdarray

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray

dat_array = "d"
wgt_array = "w"


def array(x: AnyArray, itype: str = dat_array) -> Any:
    """An mdarray with the elements of ``x``.

    Args:
        x: a float32 NumPy array with at least one axis (copied), or an mdarray (returned as it is).
        itype: ``dat_array`` or ``wgt_array``: what it will be used for. Accepted for
            compatibility: layouts follow from use.

    Returns:
        An mdarray; ``x`` itself if it is of another type or dtype, or has no axes.

    Example:
        >>> import numpy as np, ideep4py
        >>> ideep4py.array(np.zeros((2, 3), 'f')).shape
        (2, 3)
        >>> ideep4py.array([1.0, 2.0])
        [1.0, 2.0]
    """
    if isinstance(x, mdarray) or not isinstance(x, np.ndarray):
        return x
    if x.dtype != np.float32 or not x.dtype.isnative or not 1 <= x.ndim <= 12:
        return x
    return mdarray(np.ascontiguousarray(x))
