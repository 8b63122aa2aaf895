"""Contents of ``chainer.backends.cuda`` where CuPy cannot be used.

The classes exist for ``isinstance``. As in earlier releases they can be instantiated, and an object
of ``Device`` is a context manager that does nothing. Everything else raises an error that says what
is missing.
"""

from __future__ import annotations

from typing import Any, NoReturn

from chainer.backends.cupy import library
from chainer.core.utils.repr_texts import ShowsArguments


class UnavailableError(RuntimeError, AttributeError):
    """Raised for an attribute of something that is missing, so that ``hasattr`` says False."""


class _Placeholder:
    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        reason = library.find()[1]
        raise UnavailableError(f"CUDA environment is not correctly set up: {reason}")


class MissingModule(_Placeholder):
    """Placeholder for a module of CuPy.

    Args:
        name: Name of the module.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"<{self._name}, not available>"


class _MissingClass(_Placeholder):
    """Base of the placeholders for classes of CuPy."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass


class _MissingDevice(_MissingClass):
    def __enter__(self) -> None:
        pass

    def __exit__(self, *args: object) -> None:
        pass


def missing_class(name: str, module: str) -> type:
    """Returns a placeholder for a class of CuPy.

    Args:
        name: Name of the class: ``'Device'``, ``'Event'``, ``'Stream'`` or ``'ndarray'``.
        module: Name of the module that contains it.
    """
    base = _MissingDevice if name == "Device" else _MissingClass
    return type(name, (base,), {"__module__": module})


class DummyDeviceType(ShowsArguments):
    """Placeholder for a CUDA device that represents the CPU; its methods do nothing.

    Example:
        >>> from chainer.backends import cuda
        >>> with cuda.DummyDevice as device:  # as a CUDA device, and does nothing
        ...     print(device.id)
        -1
    """

    id = -1

    def __init__(self, device: Any = None) -> None:
        pass

    def __int__(self) -> int:
        return -1

    def __enter__(self) -> DummyDeviceType:
        return self

    def __exit__(self, *args: Any) -> None:
        pass

    def use(self) -> None:
        """Does nothing."""

    def synchronize(self) -> None:
        """Does nothing."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DummyDeviceType)

    def __hash__(self) -> int:
        return hash(DummyDeviceType)
