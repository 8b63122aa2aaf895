"""Checkpoints of all processes, from which a run continues exactly."""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import time
import warnings
import zipfile
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy

from chainer.serializers import DictionarySerializer, NpzDeserializer
from chainer.training.extension import Extension
from chainermn.communicators.communicator_base import CommunicatorBase
from chainermn.sharding.whole import whole_models

if TYPE_CHECKING:
    from chainer.training import Trainer

#: Entry of a file that tells number of processes and states of random number generators.
META = "chainermn.checkpoint"

#: More files than this beyond ``cp_interval`` are removed.
SPARE_FILES = 5


def create_multi_node_checkpointer(
    name: str,
    comm: CommunicatorBase,
    cp_interval: int = 5,
    gc_interval: int = 5,
    path: str | None = None,
) -> MultiNodeCheckpointer:
    """Makes an extension by which all processes save their trainers, each in a file of its own.

    A run that was killed continues from the latest checkpoint that all processes have and that is
    intact, with the parameters, the states of the optimizer, the positions in the datasets and the
    random numbers (of NumPy and of Python) that it would have had.

    Args:
        name (str): Name of the run.
        comm (CommunicatorBase): Communicator.
        cp_interval (int): Number of checkpoints to keep.
        gc_interval (int): Has no effect.
        path (str): Folder of the files; the output folder of the trainer if None.

    Returns:
        MultiNodeCheckpointer: The extension. Give it a trigger, the same in all processes.

    Raises:
        AssertionError: If a number is not positive.

    Example:
        >>> import chainermn
        >>> from chainer import training
        >>> comm = chainermn.create_communicator("naive")
        >>> data = [(np.ones(2, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> optimizer = chainer.optimizers.SGD().setup(L.Classifier(L.Linear(2, 2)))
        >>> iterator = chainer.iterators.SerialIterator(data, 4)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (1, "epoch"))
        >>> checkpointer = chainermn.create_multi_node_checkpointer("digits", comm)
        >>> trainer.extend(checkpointer, trigger=(1, "iteration"))
        >>> checkpointer.maybe_load(trainer)  # goes on where a run was killed, if one was
        >>> trainer.run()
        >>> updater.iteration
        2
    """
    return MultiNodeCheckpointer(name, comm, cp_interval, gc_interval, path)


class MultiNodeCheckpointer(Extension):
    """See :func:`create_multi_node_checkpointer`."""

    #: After the other extensions, whose states are saved.
    priority = -100

    def __init__(
        self,
        name: str,
        comm: CommunicatorBase,
        cp_interval: int,
        gc_interval: int,
        path: str | None,
    ) -> None:
        if cp_interval <= 0 or gc_interval <= 0:
            raise AssertionError(
                f"cp_interval and gc_interval must be positive, got {cp_interval} and {gc_interval}"
            )
        self.name = name
        self.comm = comm
        self.cp_interval = cp_interval
        self.gc_interval = gc_interval
        self.path = path
        self._run_name = name
        self._seconds: list[float] = []
        # Files of the process that has most; agreed on by all, so that all clean up together.
        self._count: int | None = None
        self._failed = False
        self._folder = path

    # -- saving -----------------------------------------------------------------------------------

    def __call__(self, trainer: Trainer) -> None:
        """Saves the trainer.

        Args:
            trainer (~chainer.training.Trainer): The trainer.
        """
        self._folder = self.path if self.path is not None else trainer.out
        self.save(trainer, trainer.updater.iteration)

    def save(self, target: Any, iteration: int) -> None:
        """Saves an object. Collective.

        Args:
            target: Trainer or another object with a method ``serialize``.
            iteration (int): Iteration, which becomes a part of the name of the file.
        """
        begin = time.perf_counter()
        folder = self._folder if self._folder is not None else "."
        os.makedirs(folder, exist_ok=True)
        serializer = DictionarySerializer()
        with whole_models(target):
            serializer.save(target)
        meta = {"size": self.comm.size, "rank": self.comm.rank, "random": _random_states()}
        serializer.target[META] = numpy.asarray(json.dumps(meta))
        _write(os.path.join(folder, self._file(iteration)), serializer.target)
        self._seconds.append(time.perf_counter() - begin)
        if self._count is None:
            self._count = max(self.comm.allgather_obj(len(self._iterations(folder))))
        else:
            self._count += 1
        assert self._count is not None
        if self._count > self.cp_interval + SPARE_FILES:
            self._remove_old(folder)
            self._count = self.cp_interval

    def _file(self, iteration: int) -> str:
        return f"{self._run_name}.{self.comm.rank}.{iteration}"

    def _iterations(self, folder: str) -> list[int]:
        """Returns the iterations of the files of this process."""
        found: list[int] = []
        try:
            names = os.listdir(folder)
        except FileNotFoundError:
            return found
        for name in names:
            # From the right: the name of the run may have dots.
            parts = name.rsplit(".", 2)
            is_own = parts[:2] == [self._run_name, str(self.comm.rank)]
            if is_own and len(parts) == 3 and parts[2].isdigit():
                found.append(int(parts[2]))
        return sorted(found)

    def _remove_old(self, folder: str) -> None:
        own = self._iterations(folder)
        common = self._common(own)
        kept = set(common[-self.cp_interval :])
        newest = common[-1] if common else -1
        for iteration in own:
            # One that others have not written yet may become common.
            if iteration not in kept and iteration < newest:
                os.remove(os.path.join(folder, self._file(iteration)))

    def _common(self, own: list[int]) -> list[int]:
        return sorted(set.intersection(*map(set, self.comm.allgather_obj(own))))

    # -- loading ----------------------------------------------------------------------------------

    def maybe_load(
        self, trainer: Trainer, optimizer: Any = None, path: str | None = None
    ) -> int | None:
        """Loads the latest checkpoint that all processes have. Collective.

        Call it before ``trainer.run()``, when all extensions are registered. Without checkpoints
        nothing is done. A damaged file is skipped, with the checkpoints of that iteration of all
        processes. Afterwards multi-node optimizers go on without a broadcast of parameters.

        Args:
            trainer (~chainer.training.Trainer): The trainer.
            optimizer: Has no effect; the optimizers of the trainer are known.
            path (str): Folder of the files; by default the constructor's, else the trainer's.

        Returns:
            int: The iteration; None if nothing was loaded.

        Raises:
            ValueError: If the checkpoints were written by another number of processes.
        """
        folder = path if path is not None else self.path
        folder = trainer.out if folder is None else folder
        own = self._iterations(folder)
        metas = {
            iteration: _read_meta(os.path.join(folder, self._file(iteration))) for iteration in own
        }
        self._check_size(folder, [meta.get("size") for meta in metas.values() if meta is not None])
        for iteration in reversed(self._common(own)):
            file = os.path.join(folder, self._file(iteration))
            problems = self.comm.allgather_obj(_damage(file))
            if any(problems):
                rank, problem = next((r, p) for r, p in enumerate(problems) if p)
                warnings.warn(
                    f"checkpoint {iteration} of {self._run_name!r} is skipped: the file of rank "
                    f"{rank} is damaged ({problem})",
                    stacklevel=2,
                )
                continue
            with whole_models(trainer), numpy.load(file, allow_pickle=False) as arrays:
                NpzDeserializer(arrays).load(trainer)
            meta = metas[iteration]
            if meta is not None and "random" in meta:
                _set_random_states(meta["random"])
            for each in _optimizers(trainer):
                # All have loaded one generation, so their parameters are equal.
                take = getattr(each, "take_parameters_as_equal", None)
                if take is not None:
                    take()
            return iteration
        return None

    def _check_size(self, folder: str, own: list[Any]) -> None:
        known = {
            size for sizes in self.comm.allgather_obj(own) for size in sizes if size is not None
        }
        wrong = sorted(known - {self.comm.size})
        if wrong:
            raise ValueError(
                f"the checkpoints {self._run_name!r} in {folder} were written by "
                f"{' and '.join(map(str, wrong))} processes, but this run has {self.comm.size}. "
                f"Start it with {wrong[-1]} processes, or remove the checkpoints. A snapshot of "
                "multi_node_snapshot can be resumed by another number of processes"
            )

    def get_stats(self) -> str:
        """Returns a line about the durations of the saves, in seconds."""
        if not self._seconds:
            return f"checkpoint {self._run_name!r}: nothing was saved"
        seconds = numpy.array(self._seconds)
        return (
            f"checkpoint {self._run_name!r}: {len(seconds)} saves, mean {seconds.mean():.3f} s, "
            f"minimum {seconds.min():.3f} s, maximum {seconds.max():.3f} s"
        )

    # -- the end ----------------------------------------------------------------------------------

    def initialize(self, trainer: Trainer) -> None:
        """Notes where the files are.

        Args:
            trainer (~chainer.training.Trainer): The trainer.
        """
        self._failed = False
        self._folder = self.path if self.path is not None else trainer.out

    def on_error(self, trainer: Trainer, exc: Exception, tb: TracebackType | None) -> None:
        """Notes that the files are needed.

        Args:
            trainer (~chainer.training.Trainer): The trainer.
            exc (Exception): The exception.
            tb (traceback): Its traceback.
        """
        self._failed = True

    def finalize(self) -> None:
        """Removes the files, if the training came to its end. Collective then.

        After an exception, a signal or Ctrl-C they stay.
        """
        if self._failed or sys.exc_info()[0] is not None or self._folder is None:
            return
        # No file is removed before all processes have come here.
        self.comm.barrier()
        for iteration in self._iterations(self._folder):
            os.remove(os.path.join(self._folder, self._file(iteration)))


def _optimizers(trainer: Trainer) -> list[Any]:
    updater = getattr(trainer, "updater", None)
    return [] if updater is None else list(updater.get_all_optimizers().values())


def _write(path: str, arrays: dict[str, Any]) -> None:
    """Writes a file so that its name exists only when it is complete and on the disk."""
    folder = os.path.dirname(path) or "."
    descriptor, temporary = tempfile.mkstemp(prefix="tmp-" + os.path.basename(path), dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            numpy.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _damage(path: str) -> str | None:
    """Returns what is wrong with a file; None if all its checksums are right."""
    try:
        with zipfile.ZipFile(path) as file:
            bad = file.testzip()
        return None if bad is None else f"wrong checksum of {bad}"
    except (OSError, zipfile.BadZipFile, EOFError, ValueError) as error:
        return str(error) or type(error).__name__


def _read_meta(path: str) -> dict[str, Any] | None:
    """Returns what a file tells about its run; None if it is damaged or of an earlier release."""
    try:
        # Opened here: of a damaged file numpy.load would leave it open.
        with open(path, "rb") as file, numpy.load(file, allow_pickle=False) as arrays:
            return json.loads(str(arrays[META])) if META in arrays else None
    except (OSError, zipfile.BadZipFile, EOFError, ValueError):
        return None


def _random_states() -> dict[str, Any]:
    _, keys, position, has_gauss, gauss = numpy.random.get_state(legacy=True)
    version, state, gauss_next = random.getstate()
    return {
        "numpy": [numpy.asarray(keys).tolist(), int(position), int(has_gauss), float(gauss)],
        "python": [version, list(state), gauss_next],
    }


def _set_random_states(states: dict[str, Any]) -> None:
    keys, position, has_gauss, gauss = states["numpy"]
    numpy.random.set_state(("MT19937", numpy.array(keys, numpy.uint32), position, has_gauss, gauss))
    version, state, gauss_next = states["python"]
    random.setstate((version, tuple(state), gauss_next))
