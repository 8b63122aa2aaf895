"""What the links of convolutions share."""

from __future__ import annotations

from typing import Any

DETERMINISTIC_REMOVED = (
    "deterministic argument is not supported anymore. Use "
    "chainer.using_config('cudnn_deterministic', value) context where value is either `True` or "
    "`False`."
)


def pair(value: Any) -> tuple[int, int]:
    """Returns ``value`` as a tuple if it is a sequence, else a pair of it."""
    return tuple(value) if hasattr(value, "__getitem__") else (value, value)  # type: ignore[return-value]


def as_tuple(value: Any, ndim: int, name: str) -> tuple[int, ...]:
    """Returns ``value`` as a tuple of ``ndim`` elements."""
    if not hasattr(value, "__getitem__"):
        return (value,) * ndim
    if len(value) != ndim:
        raise ValueError(f"{name} must be an int or {ndim} ints, got {value}")
    return tuple(value)


def check_groups(groups: int, **channels: int) -> None:
    """Raises unless the number of groups divides the numbers of channels."""
    for name, number in channels.items():
        if number % groups != 0:
            raise ValueError(
                f"the number of groups must divide {name}, got groups={groups} and {name}={number}"
            )
