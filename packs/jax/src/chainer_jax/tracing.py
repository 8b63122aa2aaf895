"""The observer of a trace: which boxes it reads, writes and makes."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Self

from chainer.backends.recorder import NotRecordableError

from chainer_jax import boxes
from chainer_jax.boxes import Box, Observer, Stale

if TYPE_CHECKING:
    from chainer.typing import Array


class Trace(Observer):
    """The arrays that one run of a function on tracers reads, writes and makes.

    Attributes:
        inputs: Boxes that existed before and are read, in order.
        written: Boxes that existed before and are written, in order.
        made: Boxes that the run made, as far as something refers to them.
    """

    def __init__(self) -> None:
        self.inputs: dict[Box, None] = {}
        self.written: dict[Box, None] = {}
        self.made: weakref.WeakSet[Box] = weakref.WeakSet()
        self._before: dict[Box, Any] = {}

    def __enter__(self) -> Self:
        if boxes.state.observer is not None:
            raise NotRecordableError("another step is being recorded")
        boxes.state.observer = self
        return self

    def __exit__(self, *_: object) -> None:
        boxes.state.observer = None
        for box, value in self._before.items():
            box.value = value
        # Tracers that outlive their trace would raise an error of JAX about leaked tracers.
        for box in self.made:
            box.value = Stale()

    def put(self, box: Box, value: Array) -> None:
        """Gives a box a tracer until the end of the trace.

        Args:
            box: The box.
            value: The tracer.
        """
        self._before.setdefault(box, box.value)
        box.value = value

    def has_tracer(self, box: Box) -> bool:
        """Returns whether a box got a tracer from :meth:`put`."""
        return box in self._before

    def created(self, box: Box) -> None:
        """See :class:`Observer`."""
        self.made.add(box)

    def read(self, box: Box) -> None:
        """See :class:`Observer`."""
        if box not in self.made and box not in self.written:
            self.inputs[box] = None

    def wrote(self, box: Box) -> None:
        """See :class:`Observer`."""
        if box not in self.made:
            self._before.setdefault(box, box.value)
            self.written[box] = None


class StepTrace(Trace):
    """The trace of a step, which may read arguments and known state only."""

    def read(self, box: Box) -> None:
        """See :class:`Observer`."""
        if box not in self.inputs and box not in self.made and not self.has_tracer(box):
            raise NotRecordableError(
                "it reads an array that is neither an argument nor state of the targets"
            )
        super().read(box)
