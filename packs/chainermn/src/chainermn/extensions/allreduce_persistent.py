"""Means of persistent values, such as running statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainer
from chainer.backend import find_backend
from chainer.training.extension import PRIORITY_WRITER, Extension
from chainermn.communicators.communicator_base import CommunicatorBase

if TYPE_CHECKING:
    from chainer.training import Trainer


class AllreducePersistent(Extension):
    """Extension that replaces persistent arrays by their means over all processes.

    Batch normalization keeps running statistics of the batches of its own process. This is for
    them, before an evaluation or a snapshot. Numbers are left alone.

    Args:
        model (~chainer.Link): The model.
        comm (CommunicatorBase): Communicator.
    """

    trigger = (1, "epoch")
    #: Before evaluators.
    priority = PRIORITY_WRITER + 1
    name: str | None = None

    def __init__(self, model: chainer.Link, comm: CommunicatorBase) -> None:
        self.model = model
        self.comm = comm

    def __call__(self, trainer: Trainer | None = None) -> None:
        """Averages the arrays. Collective.

        Args:
            trainer (~chainer.training.Trainer): Not used; may be left out.
        """
        for _, link in sorted(self.model.namedlinks()):
            for name in sorted(link._persistent):
                value = getattr(link, name)
                is_array = find_backend(type(value)) is not None
                if is_array and value.dtype.kind == "f":
                    self.comm.mean_array(value)
