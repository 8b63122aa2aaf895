"""Finding ideep4py: imported at first use, with a reason where it does not work."""

from __future__ import annotations

import importlib
import importlib.util
from functools import cache
from types import ModuleType


@cache
def find() -> tuple[ModuleType | None, str | None]:
    """Imports ideep4py.

    Returns:
        tuple: ``(ideep4py, None)``, or ``(None, reason)`` where it cannot be used.
    """
    if importlib.util.find_spec("ideep4py") is None:
        return None, "No module named 'ideep4py'; install it with pip install \"chainer[ideep]\""
    try:
        return importlib.import_module("ideep4py"), None
    except Exception as error:  # a missing shared library may raise ImportError or OSError
        return (
            None,
            f"ideep4py is installed but cannot be imported: {type(error).__name__}: {error}",
        )


def require() -> ModuleType:
    """Returns ideep4py.

    Raises:
        RuntimeError: If it cannot be used; the message says what is missing.
    """
    ideep4py, reason = find()
    if ideep4py is None:
        raise RuntimeError(f"iDeep is not available.\nReason: {reason}")
    return ideep4py
