"""Finding CuPy: imported at first use, with a reason where it does not work."""

from __future__ import annotations

import importlib
import importlib.util
from functools import cache
from types import ModuleType

_MINIMUM = 14


@cache
def find() -> tuple[ModuleType | None, str | None]:
    """Imports CuPy.

    Returns:
        tuple: ``(cupy, None)``, or ``(None, reason)`` where it cannot be used.
    """
    if importlib.util.find_spec("cupy") is None:
        return None, (
            "No module named 'cupy'; install CuPy for your CUDA version with "
            'pip install "chainer[cuda12]" or pip install "chainer[cuda13]"'
        )
    try:
        cupy = importlib.import_module("cupy")
    except Exception as error:  # CuPy raises whatever a broken CUDA installation makes it raise
        return None, f"CuPy is installed but cannot be imported: {type(error).__name__}: {error}"
    major = int(cupy.__version__.split(".")[0])
    if major < _MINIMUM:
        return None, f"CuPy {cupy.__version__} is too old; version {_MINIMUM} or later is needed"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:
        return None, f"no CUDA device can be used: {type(error).__name__}: {error}"
    if count == 0:
        return None, "CuPy finds no CUDA device"
    return cupy, None


def require() -> ModuleType:
    """Returns CuPy.

    Raises:
        RuntimeError: If it cannot be used; the message says what is missing.
    """
    cupy, reason = find()
    if cupy is None:
        raise RuntimeError(f"CUDA environment is not correctly set up: {reason}")
    return cupy
