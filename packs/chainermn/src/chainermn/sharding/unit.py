"""Parameters that one process owns together, and that travel together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import Parameter
from chainer.backend import backend_of
from chainermn.communicators.communicator_base import CommunicatorBase, Request

if TYPE_CHECKING:
    from chainer.typing import Array


class Unit:
    """The parameters of a layer, of one dtype and device. One process owns them.

    The owner has them in one flat array. The other processes have that array only while the unit is
    open. Between, their parameters show arrays of NaN that take no memory.

    Args:
        comm: Communicator.
        named: Names and parameters.
        owner: Rank of the owner.
        releases: Whether other processes drop the parameters when the unit is closed (ZeRO,
            stage 3).

    Attributes:
        named: Names and parameters.
        owner: Rank of the owner.
        is_open: Whether the parameters have their values here.
        is_recomputed: Whether it was opened by a call that is computed again in backward.
        active: How many calls of its links are running.
    """

    def __init__(
        self,
        comm: CommunicatorBase,
        named: list[tuple[str, Parameter]],
        owner: int,
        releases: bool,
    ) -> None:
        self.named = named
        self.owner = owner
        self.active = 0
        self.is_open = True
        self.is_recomputed = False
        self.is_own = comm.rank == owner
        self._comm = comm
        self._is_sharded = releases
        self._params = [param for _, param in named]
        self._shapes = [param.shape for param in self._params]
        array = self._params[0].array
        self._backend = backend_of(array)
        self._device = self._backend.device_of(array)
        self._dtype = array.dtype
        self._buffer: Array | None = None
        self._opening: Request | None = None
        self._gradients: dict[int, Array] = {}
        # Sums and the requests that make them, at the owner; elsewhere what is being sent.
        self._sent: list[tuple[Array, Request]] = []
        self._total: Array | None = None
        self._flatten()

    @property
    def nbytes(self) -> int:
        """Size of the parameters in bytes."""
        return self._size * self._dtype.itemsize

    @property
    def _size(self) -> int:
        return sum(int(numpy.prod(shape)) for shape in self._shapes)

    def _parts(self, buffer: Array) -> list[Array]:
        parts: list[Array] = []
        start = 0
        for shape in self._shapes:
            stop = start + int(numpy.prod(shape))
            parts.append(buffer[start:stop].reshape(shape))
            start = stop
        return parts

    def _empty(self, dtype: Any) -> Array:
        with self._backend.use(self._device):
            return self._backend.xp.empty(self._size, dtype)

    def _flatten(self) -> None:
        buffer = self._empty(self._dtype)
        for param, part in zip(self._params, self._parts(buffer), strict=True):
            part[...] = param.array
            param.array = part
        self._buffer = buffer

    @property
    def is_trained(self) -> bool:
        """Whether all of its parameters get gradients."""
        return all(param.requires_grad for param in self._params)

    # -- values -----------------------------------------------------------------------------------

    def start_opening(self) -> None:
        """Starts to fetch the parameters from their owner. Collective."""
        if self.is_open or self._opening is not None:
            return
        if self._buffer is None:
            self._buffer = self._empty(self._dtype)
        self._opening = self._comm.start_bcast(self._buffer, self.owner)

    def open(self) -> None:
        """Gives the parameters their values. Collective, if the unit is closed."""
        self.start_opening()
        if self._opening is not None:
            self._opening.wait()
            self._opening = None
        if not self.is_open and not self.is_own:
            assert self._buffer is not None
            for param, part in zip(self._params, self._parts(self._buffer), strict=True):
                param.array = part
        self.is_open = True

    def close(self) -> None:
        """Drops the parameters of other processes, in stage 3."""
        if not self._is_sharded:
            return
        if self._opening is not None:
            self._opening.wait()
            self._opening = None
        self.is_open = self.is_recomputed = False
        if self.is_own:
            return
        xp = self._backend.xp
        with self._backend.use(self._device):
            # A use of them outside of a call of the link makes results NaN, not slightly wrong.
            nan = xp.full((), numpy.nan, self._dtype)
            for param, shape in zip(self._params, self._shapes, strict=True):
                param.array = xp.broadcast_to(nan, shape)
        self._buffer = None

    def start_refreshing(self) -> None:
        """Starts to fetch parameters that their owner has updated; :meth:`open` waits. Collective.

        For stage 2, in which all processes keep all parameters.
        """
        assert self._buffer is not None
        self._opening = self._comm.start_bcast(self._buffer, self.owner)

    # -- gradients --------------------------------------------------------------------------------

    def add_gradient(self, param: Parameter, gradient: Array) -> bool:
        """Takes a gradient that is complete.

        Returns:
            bool: Whether the gradients of all parameters are there.
        """
        before = self._gradients.get(id(param))
        gradient = self._backend.to_xp(gradient)
        # Others may share the memory of the gradient, so it is not added to in place.
        self._gradients[id(param)] = gradient if before is None else before + gradient
        return all(id(p) in self._gradients for p in self._params if p.requires_grad)

    def take_stored_gradients(self) -> None:
        """Takes gradients that an inner backward pass has stored (see ``F.forget``)."""
        for param in self._params:
            if param.grad is not None:
                self.add_gradient(param, param.grad)
                param.cleargrad()

    @property
    def has_gradients(self) -> bool:
        """Whether there are gradients that were not sent."""
        return bool(self._gradients)

    def send_gradients(self) -> None:
        """Starts the mean of the gradients at the owner. Collective.

        Missing gradients count as zeros.
        """
        # MPI has no float16, and sums in float16 would overflow.
        wide = numpy.dtype("float32") if self._dtype.itemsize == 2 else self._dtype
        gradient: Any = self._gradients.get(id(self._params[0]))
        if not self.is_own and len(self._params) == 1 and _can_be_sent(gradient, wide):
            # Read only, so the memory that functions may share is sent as it is.
            self._gradients = {}
            self._sent.append(
                (gradient, self._comm.start_mean_at(gradient.reshape(-1), self.owner))
            )
            return
        buffer = self._empty(wide)
        for param, part in zip(self._params, self._parts(buffer), strict=True):
            gradient = self._gradients.get(id(param))
            part[...] = 0 if gradient is None else gradient
        self._gradients = {}
        self._settle(at_once=False)
        self._sent.append((buffer, self._comm.start_mean_at(buffer, self.owner)))

    def _settle(self, at_once: bool) -> None:
        """Adds what has arrived to the sum of the owner.

        Args:
            at_once: Whether to wait for what has not arrived.
        """
        while self._sent and (at_once or self._sent[0][1].test()):
            buffer, request = self._sent.pop(0)
            request.wait()
            if self.is_own:
                self._total = buffer if self._total is None else self._total + buffer

    def test(self) -> None:
        """Lets MPI make progress: it does so only while it is called."""
        self._settle(at_once=False)

    def settle(self) -> None:
        """Waits for the gradients that were sent, and frees the memory of the messages."""
        self._settle(at_once=True)

    def finish_gradients(self, scale: float) -> None:
        """Waits, and gives the parameters of the owner their gradients.

        Args:
            scale: Factor of the sums.
        """
        self._settle(at_once=True)
        if self._total is None:
            return
        if scale != 1:
            self._total *= self._total.dtype.type(scale)
        for param, part in zip(self._params, self._parts(self._total), strict=True):
            if param.requires_grad:
                param.grad = part.astype(self._dtype, copy=False)
        self._total = None


def _can_be_sent(gradient: Any, dtype: Any) -> bool:
    return type(gradient) is numpy.ndarray and (
        gradient.dtype == dtype and gradient.flags.c_contiguous
    )
