"""The environment variables of the plugin host. They are read at every use.

===========================  ==================================================================
``CHAINER_DISABLE_PLUGINS``  Names of entry points or distributions, separated by commas: these
                             are never imported.
``CHAINER_ENABLE_PLUGINS``   Names of entry points or distributions, separated by commas: these
                             are loaded at the first use of any registry; their overrides are in
                             effect, and their hooks for training events are called.
``CHAINER_PLUGINS_STRICT``   ``1``: a plugin that fails raises instead of warning.
``CHAINER_PLUGINS_TRACE``    ``1``: what is found, loaded and registered is printed to standard
                             error.
===========================  ==================================================================
"""

from __future__ import annotations

import os
import sys

DISABLE = "CHAINER_DISABLE_PLUGINS"
ENABLE = "CHAINER_ENABLE_PLUGINS"
STRICT = "CHAINER_PLUGINS_STRICT"
TRACE = "CHAINER_PLUGINS_TRACE"


def names(variable: str) -> list[str]:
    """Returns the names in a variable whose value is a list separated by commas.

    Args:
        variable: Name of the variable.
    """
    return [name for part in os.environ.get(variable, "").split(",") if (name := part.strip())]


def strict() -> bool:
    """Returns whether a plugin that fails raises an error."""
    return os.environ.get(STRICT) == "1"


def tracing() -> bool:
    """Returns whether :func:`trace` prints."""
    return os.environ.get(TRACE) == "1"


def trace(text: str) -> None:
    """Prints a line to standard error if ``CHAINER_PLUGINS_TRACE`` is ``1``.

    Args:
        text: The line.
    """
    if tracing():
        print(f"chainer plugins: {text}", file=sys.stderr)
