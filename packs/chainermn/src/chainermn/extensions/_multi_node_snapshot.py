"""Snapshots of sets of processes that have the same state."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import chainer
from chainer.training.extension import Extension
from chainer.training.extensions.snapshot_files import find_snapshots
from chainermn.communicators.communicator_base import CommunicatorBase
from chainermn.sharding.whole import whole_models

if TYPE_CHECKING:
    from chainer.training import Trainer


def multi_node_snapshot(
    comm: CommunicatorBase, snapshot: Any, replica_sets: Sequence[int | Iterable[int]]
) -> MultiNodeSnapshot:
    """Makes an extension that writes one snapshot for each set of processes of equal state.

    ``.<rank>`` is added to the name of the file, the lowest rank of the set.

    Args:
        comm (CommunicatorBase): Communicator.
        snapshot (~chainer.training.Extension): Result of
            :func:`chainer.training.extensions.snapshot`. With ``autoload`` the latest file is
            loaded by all processes of its set, whatever their number is now.
        replica_sets (list): Sets of ranks: each a rank or an iterable of ranks. The ranks that are
            in none of them form one more set. ``[]`` is one set of all; ``[0]`` is rank 0, which
            usually has the reporting extensions, and the others.

    Returns:
        MultiNodeSnapshot: The extension. Give it a trigger; the trigger of ``snapshot`` is not
            used.

    Raises:
        AssertionError: If a rank does not exist or is in two sets.

    Example:
        ::

            snapshot = extensions.snapshot(n_retains=2, autoload=True)
            trainer.extend(multi_node_snapshot(comm, snapshot, [0]), trigger=(1, "epoch"))
    """
    return MultiNodeSnapshot(comm, snapshot, replica_sets)


def sets_of(size: int, replica_sets: Sequence[int | Iterable[int]]) -> list[list[int]]:
    """Returns all sets, including the set of the remaining ranks; see
    :func:`multi_node_snapshot`.
    """
    sets = [[each] if isinstance(each, int) else sorted(each) for each in replica_sets]
    named = [rank for each in sets for rank in each]
    for rank in named:
        if not 0 <= rank < size:
            raise AssertionError(f"replica_sets must have ranks below {size}, got {rank}")
    if len(set(named)) < len(named):
        raise AssertionError(f"replica_sets must not overlap, got {sets}")
    rest = [rank for rank in range(size) if rank not in named]
    return [each for each in [*sets, rest] if each]


class MultiNodeSnapshot(Extension):
    """See :func:`multi_node_snapshot`.

    Attributes:
        snapshot: The wrapped extension.
        comm (CommunicatorBase): Communicator.
        is_master (bool): Whether this process writes.
    """

    def __init__(
        self,
        comm: CommunicatorBase,
        snapshot: Any,
        replica_sets: Sequence[int | Iterable[int]],
    ) -> None:
        self.comm = comm
        self.snapshot = snapshot
        sets = sets_of(comm.size, replica_sets)
        self._set = next(each for each in sets if comm.rank in each)
        self.master = self._set[0]
        self.is_master = comm.rank == self.master
        filename = snapshot.filename
        if callable(filename):
            snapshot.filename = lambda trainer: f"{filename(trainer)}.{self.master}"
        else:
            snapshot.filename = f"{filename}.{self.master}"

    @property
    def default_name(self) -> str:
        """Name of the wrapped extension."""
        return self.snapshot.default_name

    def __call__(self, trainer: Trainer) -> None:
        """Takes a snapshot, in the processes that write one.

        Args:
            trainer (~chainer.training.Trainer): The trainer.
        """
        with whole_models(trainer, states=True):
            if self.is_master:
                self.snapshot(trainer)

    def restore(self, trainer: Trainer) -> None:
        """Loads the latest snapshot, if ``autoload`` was asked for. Collective in the set.

        Args:
            trainer (~chainer.training.Trainer): The trainer.
        """
        if not self.snapshot.autoload:
            return
        with whole_models(trainer, states=True):
            self._restore(trainer)

    def _restore(self, trainer: Trainer) -> None:
        # The loaded state has to reach the others, whose files may be on another host.
        data: bytes | None = None
        target = trainer if self.snapshot._target is None else self.snapshot._target
        if self.is_master:
            if find_snapshots(self.snapshot.filename, trainer.out):
                self.snapshot.restore(trainer)
                file = io.BytesIO()
                chainer.serializers.save_npz(file, target, compression=False)
                data = file.getvalue()
            for rank in self._set[1:]:
                self.comm.send_obj(data, rank, 0)
        else:
            data = self.comm.recv_obj(self.master, tag=0)
            if data is not None:
                chainer.serializers.load_npz(io.BytesIO(data), target)

    def initialize(self, trainer: Trainer) -> None:
        """Initializes the wrapped extension, in the processes that write.

        Args:
            trainer (~chainer.training.Trainer): The trainer.
        """
        if self.is_master:
            self.snapshot.initialize(trainer)

    def on_error(self, trainer: Trainer, exc: Exception, tb: TracebackType | None) -> None:
        """Lets the wrapped extension handle an error, in the processes that write.

        Args:
            trainer (~chainer.training.Trainer): The trainer.
            exc (Exception): The exception.
            tb (traceback): Its traceback.
        """
        if self.is_master:
            self.snapshot.on_error(trainer, exc, tb)

    def finalize(self) -> None:
        """Finalizes the wrapped extension, in the processes that write."""
        if self.is_master:
            self.snapshot.finalize()
