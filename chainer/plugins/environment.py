"""The environment variables of the plugin host, read whenever they matter.

===========================  ==================================================================
``CHAINER_DISABLE_PLUGINS``  Names of entry points or distributions, separated by commas: these
                             are never imported.
``CHAINER_ENABLE_PLUGINS``   Names of entry points or distributions, separated by commas: these
                             are loaded at the first use of any registry, and told about training
                             events.
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
    """Returns the names in a variable that holds a list separated by commas."""
    return [name for part in os.environ.get(variable, "").split(",") if (name := part.strip())]


def strict() -> bool:
    """Tells whether a plugin that fails raises."""
    return os.environ.get(STRICT) == "1"


def tracing() -> bool:
    """Tells whether :func:`trace` prints."""
    return os.environ.get(TRACE) == "1"


def trace(text: str) -> None:
    """Prints a line to standard error if ``CHAINER_PLUGINS_TRACE`` is ``1``."""
    if tracing():
        print(f"chainer plugins: {text}", file=sys.stderr)
