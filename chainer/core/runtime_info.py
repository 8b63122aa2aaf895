"""Versions of everything a bug report should name."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from typing import TextIO

import numpy

from chainer.core.arguments import require_attribute
from chainer.core.arrays.backend_status import backend_status
from chainer.core.registry import registries
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
        status = backend_status(name)
        info[_label(name)] = status.version or f"Not Available ({status.reason})"
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
    require_attribute("out", stream, "write", "a text stream")
    for name, value in runtime_info().items():
        stream.write(f"{name}: {value}\n")
    stream.flush()


@dataclass(frozen=True)
class RuntimeInfo:
    """Versions, as the object that release 7 returns; ``str`` is what is printed.

    Attributes:
        chainer_version: Version of Chainer.
        chainerx_available: Whether ChainerX is available: False.
        numpy_version: Version of NumPy.
        platform_version: Name and version of the operating system.
        cuda_info: Version of CuPy; None where it cannot be used.
        ideep_version: Version of iDeep; None where it cannot be used.
    """

    chainer_version: str
    chainerx_available: bool
    numpy_version: str
    platform_version: str
    cuda_info: str | None
    ideep_version: str | None
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "".join([f"{line}\n" for line in self.lines])


def _get_runtime_info() -> RuntimeInfo:  # pyright: ignore[reportUnusedFunction]
    """Returns the versions as an object; programs of release 7 call it by this name."""
    info = runtime_info()

    def available(name: str) -> str | None:
        version = info.get(name, "Not Available")
        return None if version.startswith("Not Available") else version

    return RuntimeInfo(
        chainer_version=info["Chainer"],
        chainerx_available=False,
        numpy_version=info["NumPy"],
        platform_version=info["Platform"],
        cuda_info=available("CuPy"),
        ideep_version=available("iDeep"),
        lines=tuple([f"{name}: {value}" for name, value in info.items()]),
    )
