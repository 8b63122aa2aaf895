"""Marks of sources of random numbers whose state cannot be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chainer.core.arrays.device import Device
    from chainer.core.arrays.protocol import Backend


def drawn_seed(backend: Backend, device: Device) -> int:
    """Draws a number that can seed a source.

    Args:
        backend: The backend that has the source.
        device: Its device.
    """
    with backend.use(device):
        drawn = backend.random(device).randint(0, 2**31 - 1, size=(1,))
        return int(backend.to_host(drawn).item())


class SeededMarks:
    """Tells whether numbers were drawn, by the first number that follows a seed.

    Args:
        backend: The backend that has the sources.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        #: Device -> the last seed, and the first number after it.
        self._last: dict[Device, tuple[int, int]] = {}

    def mark(self, device: Device) -> int:
        """Returns the seed that the source has now: the same one if nothing was drawn.

        Args:
            device: Device of the backend.
        """
        next_number = drawn_seed(self._backend, device)
        seed, first = self._last.get(device, (None, None))
        if seed is None or next_number != first:
            seed = next_number
            self._backend.seed_random(seed, device)
            self._last[device] = seed, drawn_seed(self._backend, device)
        self._backend.seed_random(seed, device)
        return seed
