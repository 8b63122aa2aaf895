"""The import of CuPy at first use, with the reason where it fails."""

from __future__ import annotations

import importlib
import os
import random
from functools import cache
from types import ModuleType

from chainer.backends.optional_modules import Found, usable
from chainer.core.installation import install_command
from chainer.core.utils import installed

_MINIMUM = 14
#: Environment variable with the id of the process that drew the seed in CUPY_SEED.
_DRAWN_BY = "CHAINER_SEED_DRAWN_BY"


def is_installed() -> bool:
    """Returns whether a package of this name is installed, without importing it."""
    return installed.is_installed("cupy")


def cuda_commands() -> str:
    """Returns the two commands of which one installs CuPy and cuDNN, for messages."""
    return f"{install_command('chainer[cuda12]')} or {install_command('chainer[cuda13]')}"


@cache
def find() -> Found:
    """Imports CuPy.

    Returns:
        tuple: ``(cupy, None)``, or ``(None, reason)`` where it cannot be used.
    """
    if not is_installed():
        return None, (
            "No module named 'cupy'; install CuPy for your CUDA version with " + cuda_commands()
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
        return None, _device_trouble(error)
    if count == 0:
        return None, "CuPy finds no CUDA device; is one hidden by CUDA_VISIBLE_DEVICES?"
    _hand_over_seed()
    return cupy, None


def _device_trouble(error: Exception) -> str:
    text = f"{type(error).__name__}: {error}"
    if "InsufficientDriver" in text:
        return f"there is no NVIDIA driver, or one too old for the CUDA version of CuPy ({text})"
    if "NoDevice" in text:
        return f"there is no CUDA device ({text})"
    return f"no CUDA device can be used ({text})"


def _hand_over_seed() -> None:
    """Makes the random generators of CuPy start with the seed in ``CHAINER_SEED``.

    Without it, the seed comes from Python's module random, so that ``random.seed`` makes them
    repeatable.
    """
    pid = str(os.getpid())
    if "CUPY_SEED" in os.environ and os.environ.get(_DRAWN_BY, pid) == pid:
        return
    seed = os.environ.get("CHAINER_SEED")
    if seed is None:
        seed = str(random.getrandbits(32))
        # Child processes inherit the environment, but must not draw the same numbers.
        os.environ[_DRAWN_BY] = pid
    elif not seed.isdecimal() or int(seed) >= 1 << 64:
        raise ValueError(
            "environment variable CHAINER_SEED must be an integer from 0 to 2**64 - 1, "
            f"got {seed!r}"
        )
    os.environ["CUPY_SEED"] = seed  # read when the first generator of a device is made


def require() -> ModuleType:
    """Returns CuPy, or raises RuntimeError with what is missing."""
    return usable(find(), "CUDA environment is not correctly set up: ")
