"""``relu`` and ``tanh``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ideep4py import ops
from ideep4py._mdarray import mdarray
from ideep4py.compat.arguments import need_mdarray

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray


class relu:
    """ReLU and leaky ReLU, forward and backward."""

    @staticmethod
    def Forward(src: mdarray, slope: float = 0.0, /) -> mdarray:
        """``max(src, 0) + slope * min(src, 0)``."""
        need_mdarray(src=src)
        return ops.relu(src, slope)

    @staticmethod
    def Backward(src: mdarray, grady: mdarray, slope: float = 0.0, /) -> mdarray:
        """Gradient with respect to the input; ``src`` is the input or the output."""
        need_mdarray(src=src, grady=grady)
        return ops.eltwise_backward(src, grady, "relu", slope)


def tanh(x: AnyArray) -> Any:
    """Hyperbolic tangent: an mdarray for float32 arrays, what NumPy returns for others."""
    return ops.tanh(x) if ops.supports(x) else np.tanh(x)
