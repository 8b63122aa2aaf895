"""What the links of convolutions share."""

from __future__ import annotations

from typing import Any

DETERMINISTIC_REMOVED = (
    "deterministic argument is not supported anymore. Use "
    "chainer.using_config('cudnn_deterministic', value) context where value is either `True` or "
    "`False`."
)


def normalize_sizes(
    link: Any, in_channels: Any, out_channels: Any, ksize: Any
) -> tuple[Any, Any, Any]:
    """Returns numbers of channels and size of filters; two given ones are the last two.

    Raises:
        TypeError: If the number of output channels is missing.
    """
    if ksize is None:
        in_channels, out_channels, ksize = None, in_channels, out_channels
    if out_channels is None or ksize is None:
        raise TypeError(f"{type(link).__name__} needs out_channels and ksize")
    return in_channels, out_channels, ksize


def check_groups(groups: int, **channels: int) -> None:
    """Raises unless the number of groups divides the numbers of channels."""
    if groups < 1:
        raise ValueError(f"groups must be positive, got {groups}")
    for name, number in channels.items():
        if number % groups != 0:
            raise ValueError(
                f"the number of groups must divide {name}, got groups={groups} and {name}={number}"
            )
