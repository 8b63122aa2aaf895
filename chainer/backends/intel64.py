"""iDeep utilities (public module ``chainer.backends.intel64``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from chainer.backends.ideep import library
from chainer.backends.ideep.device import Intel64Device
from chainer.core.config.configuration import config

__all__ = [
    "Intel64Device",
    "check_ideep_available",
    "inputs_all_ready",
    "is_ideep_available",
    "should_use_ideep",
]


class _NoIdeepArray:
    """``intel64.mdarray`` where ideep4py is missing: a class without instances."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        check_ideep_available()


def __getattr__(name: str) -> Any:
    if name not in ("ideep", "mdarray"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    ideep4py, _ = library.find()
    if name == "ideep":
        return ideep4py
    return _NoIdeepArray if ideep4py is None else ideep4py.mdarray


def is_ideep_available() -> bool:
    """Returns whether iDeep (the module ``ideep4py``) is available.

    Returns:
        bool: True if it can be imported.
    """
    return library.find()[0] is not None


def check_ideep_available() -> None:
    """Raises RuntimeError, saying why, unless iDeep is available."""
    library.require()


_LEVELS = {"==always": ("always",), ">=auto": ("always", "auto")}


def should_use_ideep(level: str) -> bool:
    """Returns whether iDeep should be used.

    Args:
        level (str): ``'==always'`` or ``'>=auto'``: the least value of ``config.use_ideep``.

    Returns:
        bool: True if the configuration allows it and iDeep is available.

    Raises:
        ValueError: If iDeep is available and ``level`` is something else.
    """
    # Before the level is looked at: portable programs may give one that is not valid here.
    if not is_ideep_available():
        return False
    if level not in _LEVELS:
        raise ValueError(f"invalid level {level!r}; it must be '==always' or '>=auto'")
    return config.use_ideep in _LEVELS[level]


def inputs_all_ready(inputs: Sequence[Any], supported_ndim: Sequence[int] = (2, 4)) -> bool:
    """Returns whether arrays can be passed to iDeep functions.

    Args:
        inputs: Arrays.
        supported_ndim (tuple of int): Numbers of dimensions the function supports.

    Returns:
        bool: True if iDeep is available and all inputs are float32 host arrays of such dimensions.
    """
    ideep4py, _ = library.find()
    if ideep4py is None:
        return False
    return all(
        isinstance(array, (numpy.ndarray, ideep4py.mdarray))
        and array.dtype == numpy.float32
        and array.ndim in supported_ndim
        for array in inputs
    )
