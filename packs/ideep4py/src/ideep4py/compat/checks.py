"""``all_ready``, ``check_ndim``, ``check_type`` and ``get_array_module``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from ideep4py._mdarray import mdarray

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray


def check_ndim(inputs: Sequence[Any], supported_ndim: Sequence[int] = (2, 4)) -> bool:
    """Whether the *first* input has one of the supported numbers of axes (as in the original: a
    bias may have one).

    Raises:
        IndexError: ``inputs`` is empty.
        AttributeError: the first input has no ``ndim``.
    """
    return inputs[0].ndim in supported_ndim


def check_type(inputs: Sequence[Any]) -> bool:
    """Whether all inputs are non-empty float32 arrays.

    Raises:
        IndexError: ``inputs`` is empty.
    """
    inputs[0]  # IndexError
    return all(
        isinstance(x, (mdarray, np.ndarray)) and x.dtype == np.float32 and x.size > 0
        for x in inputs
    )


def all_ready(inputs: Sequence[Any], supported_ndim: Sequence[int] = (2, 4)) -> bool:
    """Whether oneDNN can take the inputs: :func:`check_ndim` and :func:`check_type`.

    Args:
        inputs: arrays.
        supported_ndim: numbers of axes the first may have.

    Raises:
        IndexError: ``inputs`` is empty.
        AttributeError: the first input has no ``ndim``.
    """
    return check_ndim(inputs, supported_ndim) and check_type(inputs)


def get_array_module(array: AnyArray) -> ModuleType:
    """The module ``ideep4py``, for any argument."""
    return sys.modules["ideep4py"]
