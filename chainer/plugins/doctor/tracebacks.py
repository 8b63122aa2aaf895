"""The author's part of a traceback."""

from __future__ import annotations

import importlib
import os
import traceback

import pluggy

import chainer

_OWN = os.path.dirname(chainer.__file__)
#: Code that imports plugins and calls their hooks, which is never to blame.
_MACHINERY = (
    os.path.join(_OWN, "plugins") + os.sep,
    os.path.join(_OWN, "core", "registry") + os.sep,
    os.path.join(_OWN, "core", "lazy.py"),
    os.path.dirname(pluggy.__file__) + os.sep,
    os.path.dirname(importlib.__file__) + os.sep,
    "<frozen importlib",
)


def author_lines(error: BaseException) -> tuple[str, ...]:
    """Returns the lines of a traceback without the machinery that imports plugins.

    Args:
        error: The exception.

    Returns:
        tuple of str: ``'file:line in function: code'``, the innermost last.
    """
    lines = [
        f"{frame.filename}:{frame.lineno} in {frame.name}: {frame.line or ''}".rstrip(": ")
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(_MACHINERY)
    ]
    if isinstance(error, SyntaxError) and error.filename:
        code = (error.text or "").strip()
        lines.append(f"{error.filename}:{error.lineno}: {code}".rstrip(": "))
    return tuple(lines)
