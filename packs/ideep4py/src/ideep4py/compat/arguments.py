"""Checks of arguments for the original's functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ideep4py._mdarray import mdarray

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray


def need_mdarray(**arrays: Any) -> None:
    """Raises TypeError for the first argument that is not an mdarray."""
    for name, array in arrays.items():
        if not isinstance(array, mdarray):
            raise TypeError(
                f"{name} must be an ideep4py.mdarray, got {type(array).__name__}: "
                "use ideep4py.array()"
            )


def need_type(name: str, value: AnyArray, expected: type) -> None:
    """Raises TypeError unless ``value`` is of the type."""
    if not isinstance(value, expected):
        raise TypeError(f"{name} must be a {expected.__name__}, got {type(value).__name__}")


def need_shape(name: str, actual: tuple[int, ...], expected: tuple[int, ...]) -> None:
    """Raises ValueError unless the shapes agree."""
    if tuple(actual) != tuple(expected):
        raise ValueError(f"{name} must be {tuple(expected)}, got {tuple(actual)}")
