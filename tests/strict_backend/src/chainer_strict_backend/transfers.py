"""Counting what crosses the border between host and device."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass


@dataclass
class Transfers:
    """Numbers of transfers.

    Attributes:
        to_device: Host arrays copied to a device.
        to_host: Device arrays copied to the host.
        between_devices: Device arrays copied to another device.
        scalars: Single values read by the host: ``float(x)``, ``x.item()``, ``if x:``.
    """

    to_device: int = 0
    to_host: int = 0
    between_devices: int = 0
    scalars: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.to_device + self.to_host + self.between_devices + self.scalars


_counters: list[Transfers] = []


def note(kind: str) -> None:
    """Counts one transfer.

    Args:
        kind: Name of the attribute of :class:`Transfers`.
    """
    for counter in _counters:
        setattr(counter, kind, getattr(counter, kind) + 1)


@contextlib.contextmanager
def count_transfers() -> Generator[Transfers, None, None]:
    """Context manager that counts the transfers made inside."""
    counter = Transfers()
    _counters.append(counter)
    try:
        yield counter
    finally:
        _counters.remove(counter)
