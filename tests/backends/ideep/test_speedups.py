"""By which sizes iDeep takes part in ``accelerate``."""

import numpy as np
import pytest

from chainer.backends.ideep.kernels._speedups import SPEEDUPS
from chainer.core.arrays.acceleration import SpeedupBySize
from chainer.core.arrays.kernel_declaration import ArraySpec, CallSpec


def affine(rows: int, inner: int, columns: int) -> float:
    shapes = (rows, inner), (columns, inner), (columns,)
    speedup = SPEEDUPS["linear"]
    assert isinstance(speedup, SpeedupBySize)
    return speedup(CallSpec(tuple(ArraySpec(s, np.dtype("f"), True) for s in shapes)))


@pytest.mark.parametrize("rows", [1, 100, 384])
def test_large_weights(rows):
    assert affine(rows, 1000, 1000) > 1
    assert affine(rows, 100, 1000) == 1


@pytest.mark.parametrize("rows", [385, 512, 1024])
def test_many_rows_are_as_fast_in_numpy(rows):
    """Measured by ``packs/ideep4py/benchmarks/sizes.py``."""
    assert affine(rows, 1000, 1000) == 1
