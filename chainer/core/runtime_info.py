"""Versions of everything a bug report should name."""

from __future__ import annotations

import platform
import sys
from typing import TextIO

import numpy

from chainer.core.registry import registries
from chainer.core.registry.registry import EntryLoadError
from chainer.core.version import __version__


def runtime_info() -> dict[str, str]:
    """Returns versions of Python, Chainer and its array backends, by name.

    A backend that does not work is listed with the reason.
    """
    info = {
        "Platform": platform.platform(),
        "Python": platform.python_version(),
        "Chainer": __version__,
        "NumPy": numpy.__version__,
    }
    # The names under which programs of earlier releases look for these.
    info["ChainerX"] = "Not Available"
    registries.backends.load_all()
    for name in registries.backends.names():
        if name == "numpy":
            continue
        try:
            backend = registries.backends.get(name)
        except EntryLoadError as error:
            info[_label(name)] = f"Not Available ({error})"
            continue
        reason = backend.unavailable_reason()
        info[_label(name)] = backend.version() if reason is None else f"Not Available ({reason})"
    return info


def _label(backend: str) -> str:
    return {"cupy": "CuPy", "ideep": "iDeep"}.get(backend, f"Backend {backend}")


def print_runtime_info(out: TextIO | None = None) -> None:
    """Prints the versions of Chainer, Python, NumPy and the array backends.

    Args:
        out: Text stream to print to; ``sys.stdout`` by default.

    Example:
        >>> chainer.print_runtime_info()  # doctest: +ELLIPSIS
        Platform: ...
        Python: ...
        Chainer: ...
        NumPy: ...
    """
    stream = sys.stdout if out is None else out
    for name, value in runtime_info().items():
        stream.write(f"{name}: {value}\n")
    stream.flush()
