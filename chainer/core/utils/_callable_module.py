"""Modules that can be called like the function of the same name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


def make_callable(module_name: str, function: Callable[..., Any]) -> None:
    """Lets programs call a module like its function.

    ``chainer.utils.experimental`` is a function, and in release 7 also the module that defines it.
    Python stores a module as an attribute of its package whenever it is imported, in place of the
    function. Both uses work if the module can be called.

    Args:
        module_name: Name of the module in ``sys.modules``.
        function: Function that a call of the module is passed on to, without a frame in between:
            the warnings of the two functions count frames.
    """
    sys.modules[module_name].__class__ = type(
        "CallableModule", (ModuleType,), {"__call__": staticmethod(function)}
    )
