"""Debug mode: results of forward and backward computation are checked for NaN."""

from __future__ import annotations

import warnings

from chainer.core.config.configuration import config


def is_debug() -> bool:
    """Returns if the debug mode is enabled in the current thread.

    Returns:
        bool: ``chainer.config.debug``.

    Example:
        >>> chainer.is_debug()
        False
    """
    return bool(config.debug)


def set_debug(debug: bool) -> None:
    """Enables or disables the debug mode in the current thread.

    The same as ``chainer.config.debug = debug``.

    Args:
        debug (bool): New debug mode.

    Example:
        >>> chainer.set_debug(True)
        >>> chainer.is_debug()
        True
        >>> chainer.set_debug(False)
    """
    config.debug = debug


class DebugMode:
    """Debug mode context.

    Deprecated since v2.0.0; use ``chainer.using_config('debug', debug)``.

    Args:
        debug (bool): Debug mode inside the context.

    Example:
        >>> with chainer.DebugMode(True):
        ...     print(chainer.is_debug())
        True
    """

    def __init__(self, debug: bool) -> None:
        warnings.warn(
            "chainer.DebugMode is deprecated. Use chainer.using_config('debug', ...) instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        self._debug = debug
        # A list, because one object may be entered within itself.
        self._previous: list[bool] = []

    def __enter__(self) -> None:
        self._previous.append(is_debug())
        set_debug(self._debug)

    def __exit__(self, *_: object) -> None:
        set_debug(self._previous.pop())
