"""Snapshots of the trainer and of other objects."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from string import Formatter
from typing import TYPE_CHECKING, Any, TypeAlias

from chainer.core.arguments import wrong_type
from chainer.core.config.configuration import config
from chainer.core.foreign_names import keyword_hint
from chainer.core.misuse import expect_flags, warn_once
from chainer.links.serializers import npz
from chainer.links.serializers.file_format import FileFormatError
from chainer.links.serializers.npz_archive import check_npz
from chainer.training.extension import Extension
from chainer.training.extensions import snapshot_writers
from chainer.training.extensions.snapshot_files import (
    find_snapshots,
    old_snapshots,
    remove_old_snapshots,
)
from chainer.training.extensions.snapshot_state import take_state

if TYPE_CHECKING:
    from types import TracebackType

    from chainer.links.serializer import Serializable
    from chainer.training.trainer import Trainer

FileName: TypeAlias = "str | Callable[[Trainer], str]"
"""A format string, or a function of the trainer."""

WriterLike: TypeAlias = Callable[[str, str, Any], Any]
"""A :class:`~chainer.training.extensions.snapshot_writers.Writer` or any callable like it."""


#: Number of snapshots to keep that means all.
KEEP_ALL = -1


class Snapshot(Extension):
    """Trainer extension to take snapshots; see :func:`snapshot` and :func:`snapshot_object`.

    Args:
        target: Object to serialize; None for the trainer.
        filename: Format string or function that makes the name of the file.
        writer: Writes the file.
        condition: Called without arguments; if it returns False, no snapshot is taken.
        snapshot_on_error: Whether to take a snapshot when the training loop fails.
        n_retains: Number of snapshots to keep; all if it is not positive.
        autoload: Whether the latest snapshot is loaded at the beginning of the training.
        random_states: Whether the states of the random generators are kept in the snapshot of a
            trainer.

    Attributes:
        autoload (bool): See above.
        condition (callable): See above.
        filename: See above.
        n_retains (int): See above.
        writer: See above.

    Example:
        >>> extension = training.extensions.snapshot(n_retains=2)
        >>> isinstance(extension, training.extensions.Snapshot)
        True
    """

    trigger = (1, "epoch")
    priority = -100
    #: Release 7 registers these extensions by the name of their class.
    name_in_release_7 = "_Snapshot"

    def __init__(
        self,
        target: Serializable | None,
        filename: FileName,
        writer: WriterLike,
        condition: Callable[[], bool] | None = None,
        snapshot_on_error: bool = False,
        n_retains: int = KEEP_ALL,
        autoload: bool = False,
        random_states: bool = True,
    ) -> None:
        if not isinstance(filename, str) and autoload:
            raise TypeError(
                f"autoload needs a file name that is a string, got {type(filename).__name__}"
            )
        if isinstance(filename, str):
            _check_fields(filename)
        expect_flags("snapshot", autoload=autoload, snapshot_on_error=snapshot_on_error)
        if n_retains < 1 and n_retains != KEEP_ALL:
            warn_once(
                "n_retains",
                "snapshot",
                f"n_retains should be positive, or {KEEP_ALL} to keep all, got {n_retains!r}: all "
                "are kept",
            )
        self._target = target
        self.filename = filename
        self.writer = writer
        self.condition = _always if condition is None else condition
        self._snapshot_on_error = snapshot_on_error
        self.n_retains = n_retains
        self.autoload = autoload
        self._random_states = random_states
        # Called after a save, if the writer does not do it.
        self._clean_up: Callable[[], None] | None = None
        self._prepared_for: str | None = None

    @property
    def default_name(self) -> str:
        """``'snapshot'`` for snapshots of the trainer, otherwise ``'snapshot_object'``."""
        return "snapshot" if self._target is None else "snapshot_object"

    @property
    def written_name(self) -> str | None:
        """Name, or pattern of the names, of the files; another process may not write them."""
        return self.filename if isinstance(self.filename, str) else None

    def restore(self, trainer: Trainer) -> None:
        """Loads the latest snapshot that is intact, if ``autoload`` was asked for.

        Called before the initialization of the extensions, which rely on what is loaded.

        Args:
            trainer (Trainer): Trainer object that runs the training loop.
        """
        if not self.autoload or not isinstance(self.filename, str):
            return
        target = trainer if self._target is None else self._target
        misfit: Exception | None = None
        skipped = False
        for _, name in reversed(find_snapshots(self.filename, trainer.out)):
            path = os.path.join(trainer.out, name)
            try:
                # The whole file is checked before any of it is loaded.
                check_npz(path)
                npz.load_npz(path, target)
            except FileFormatError as error:
                warnings.warn(f"snapshot {name} is skipped: {error}", stacklevel=2)
                skipped = True
                continue
            except Exception as error:
                # The file is intact, but it does not fit the objects of this program, whose own
                # methods may raise anything.
                warnings.warn(
                    f"snapshot {name} is skipped: {type(error).__name__}: {error}", stacklevel=2
                )
                misfit = misfit or error
                skipped = True
                continue
            if config.debug:
                print(f"Snapshot loaded from {path}")
            if self.n_retains > 0 and not skipped:
                # A process that was killed may have finished a snapshot and not removed what is
                # too old; after the last snapshot of a training nothing else would.
                remove_old_snapshots(self.filename, trainer.out, self.n_retains)
            return
        # Snapshots of other shapes belong to another program in the same directory, as before.
        if misfit is not None and not isinstance(misfit, ValueError):
            # Training from the beginning would replace snapshots that another version of the
            # program can still load.
            misfit.add_note(
                f"No snapshot in {trainer.out!r} fits this program; with autoload, move them away "
                "to start from the beginning."
            )
            raise misfit
        if config.debug:
            print(f"No snapshot file that matches {self.filename} was found")

    def initialize(self, trainer: Trainer) -> None:
        """Does the same as :meth:`restore` if a program calls it, without a running trainer.

        Args:
            trainer (Trainer): Trainer whose state is loaded.
        """
        # A running trainer has called restore() before, if it was not interrupted.
        if getattr(trainer, "_started", False) is not True:
            self.restore(trainer)

    def _prepare(self, trainer: Trainer) -> None:
        """Arranges that old snapshots are removed after a save, once for an output directory."""
        # A function as the file name does not tell which files are snapshots: all are kept.
        if self.n_retains <= 0 or not isinstance(self.filename, str):
            return
        if self._prepared_for == trainer.out:
            return
        self._prepared_for = trainer.out
        clean_up = partial(remove_old_snapshots, self.filename, trainer.out, self.n_retains)
        add_hook = getattr(self.writer, "_add_cleanup_hook", None)
        if add_hook is None:
            self._clean_up = clean_up
        else:
            # The writer may still be writing when its call returns. It knows when the file is
            # complete.
            add_hook(clean_up)

    def __call__(self, trainer: Trainer) -> None:
        """Takes a snapshot.

        Args:
            trainer (Trainer): Trainer object that calls this operator.
        """
        if self.condition():
            self._take(trainer)

    def _take(self, trainer: Trainer) -> None:
        filename = self.filename
        name = filename.format(trainer) if isinstance(filename, str) else filename(trainer)
        target = trainer if self._target is None else self._target
        self._prepare(trainer)
        state = take_state(target)
        if not self._random_states:
            state.pop("random_states", None)
        self.writer(name, trainer.out, state)
        if self._clean_up is not None:
            self._clean_up()

    def on_error(self, trainer: Trainer, exc: Exception, tb: TracebackType | None) -> None:
        """Takes a snapshot if ``snapshot_on_error`` was asked for.

        Args:
            trainer (Trainer): Trainer object that runs the training loop.
            exc (Exception): The exception.
            tb (traceback): Its traceback.
        """
        if self._snapshot_on_error:
            self._take(trainer)

    def finalize(self) -> None:
        """Waits until everything is written."""
        finalize = getattr(self.writer, "finalize", None)
        if finalize is not None:
            finalize()


#: Name of the class in release 7.
_Snapshot = Snapshot


def _always() -> bool:
    return True


#: Keyword arguments of snapshot() and snapshot_object() that Snapshot takes as they are.
_OPTIONS = ("condition", "snapshot_on_error", "autoload", "random_states")


def _make(
    target: Serializable | None,
    filename: FileName,
    savefun: Callable[..., Any] | None,
    options: dict[str, Any],
    function: str,
) -> Snapshot:
    """Makes the extension from the arguments of :func:`snapshot` or :func:`snapshot_object`."""
    if isinstance(target, (str, os.PathLike)):
        raise wrong_type("target", "an object to be saved; the name of the file follows it", target)
    writer: WriterLike | None = options.pop("writer", None)
    if writer is None:
        writer = snapshot_writers.SimpleWriter(savefun or npz.save_npz)
    elif not callable(writer):
        # Otherwise the training would run until the first snapshot, and fail there.
        raise TypeError(f"writer must be a snapshot writer or another callable, got {writer!r}")
    elif savefun is not None and savefun is not npz.save_npz:
        raise TypeError(
            "savefun and writer arguments cannot be specified together; give savefun to the writer"
        )
    n_retains = options.pop("n_retains", KEEP_ALL)
    if "num_retain" in options:
        warnings.warn(
            "num_retain is deprecated, use n_retains instead", DeprecationWarning, stacklevel=3
        )
        n_retains = options.pop("num_retain")
    arguments = {name: options.pop(name) for name in _OPTIONS if name in options}
    if options:
        names = ", ".join(map(repr, options))
        name, value = next(iter(options.items()))
        hint = keyword_hint(name, value, ("savefun", "filename", "target", "writer", *_OPTIONS))
        text = f"{function}() got unexpected keyword argument(s) {names}"
        raise TypeError(f"{text}; {hint}" if hint else text)
    return Snapshot(target, filename, writer, n_retains=n_retains, **arguments)


def snapshot(
    savefun: Callable[..., Any] | None = None,
    filename: FileName = "snapshot_iter_{.updater.iteration}",
    *,
    target: Serializable | None = None,
    **kwargs: Any,
) -> Snapshot:
    """Returns a trainer extension to take snapshots of the trainer.

    This extension serializes the trainer object and saves it to the output directory. It is used to
    support resuming the training loop from the saved state.

    This extension is called once per epoch by default. To take a snapshot at a different interval,
    pass a trigger to :meth:`~chainer.training.Trainer.extend`. The default priority is -100, which
    is lower than the priority of most built-in extensions.

    .. note::
       The snapshot is written in a temporary directory, whose name begins with a dot, inside the
       output directory. Then it is moved. If the program is killed in the middle, the file of the
       target name is complete or does not exist. The temporary directory is removed when a trainer
       starts with this output directory again.

    Args:
        savefun: Function to save the trainer, :func:`~chainer.serializers.save_npz` by default. It
            gets two arguments: the path of the file, and a dictionary of arrays by name, which
            forwards other attributes to the trainer.
        filename (str): Name of the file into which the trainer is serialized. It can be a format
            string, where the trainer object is passed to the :meth:`str.format` method, or a
            function of the trainer that returns the name.
        target: Object to serialize instead of the trainer.
        condition (callable): Called without arguments; if it returns False, no snapshot is taken.
        writer: One of :mod:`chainer.training.extensions.snapshot_writers`, which writes the file,
            possibly in the background. It is used instead of ``savefun``.
        snapshot_on_error (bool): Whether to take a snapshot when the training loop fails.
        n_retains (int): Number of snapshots to keep: older files that fit ``filename`` are removed
            after each save. The default keeps all, and so does a function as ``filename``.
        num_retain (int): Deprecated name of ``n_retains``.
        autoload (bool): If True, the latest snapshot in the output directory is loaded at the
            beginning of the training: the one with the latest time of modification. One that is
            damaged, or that does not fit the objects of the program, is skipped with a warning, and
            the one before is loaded. If all are damaged, the training starts from the beginning. If
            there are intact ones and none fits, a missing entry or another dtype raises the error
            of the latest one; other shapes are warned of only. Snapshots
            must have been written by :func:`~chainer.serializers.save_npz`.
        random_states (bool): Whether the states of the global random generators are in the snapshot
            (:func:`chainer.utils.seed` lists them). A training that is resumed with them draws the
            numbers that it would have drawn without the interruption.

    Returns:
        The extension.

    Raises:
        TypeError: If ``savefun`` and ``writer`` are both given, or ``autoload`` with a function as
            ``filename``.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> trainer.extend(extensions.snapshot(n_retains=1, autoload=True))
        >>> trainer.run()
        >>> import os
        >>> [name for name in os.listdir("result") if name.startswith("snapshot")]
        ['snapshot_iter_4']
    """
    return _make(target, filename, savefun, kwargs, "snapshot")


def snapshot_object(
    target: Serializable,
    filename: FileName,
    savefun: Callable[..., Any] | None = None,
    **kwargs: Any,
) -> Snapshot:
    """Returns a trainer extension to take snapshots of a given object.

    This extension serializes the given object and saves it to the output directory, as
    :func:`snapshot` does with the trainer.

    This extension is called once per epoch by default. To take a snapshot at a different interval,
    pass a trigger to :meth:`~chainer.training.Trainer.extend`. The default priority is -100, which
    is lower than the priority of most built-in extensions.

    Args:
        target: Object to serialize.
        filename (str): Name of the file into which the object is serialized. It can be a format
            string, where the trainer object is passed to the :meth:`str.format` method. For
            example, ``'snapshot_{.updater.iteration}'`` is converted to ``'snapshot_10000'`` at the
            10,000th iteration.
        savefun: Function to save the object; see :func:`snapshot`.
        kwargs: ``condition``, ``writer``, ``snapshot_on_error``, ``n_retains``, ``autoload``: see
            :func:`snapshot`.

    Returns:
        The extension.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> trainer.extend(extensions.snapshot_object(model, "model_{.updater.epoch}"))
        >>> trainer.run()
        >>> import os
        >>> sorted(os.listdir("result"))
        ['model_1', 'model_2']
    """
    return _make(target, filename, savefun, kwargs, "snapshot_object")


# Programs for release 7 import these functions from here.


def _find_snapshot_files(fmt: str, path: str) -> list[tuple[float, str]]:
    """Returns pairs of time and name of the files that fit a format string, sorted."""
    return find_snapshots(fmt, path)


def _find_latest_snapshot(fmt: str, path: str) -> str | None:
    """Returns the name of the latest file that fits a format string; None if there is none."""
    found = find_snapshots(fmt, path)
    return found[-1][1] if found else None


def _find_stale_snapshots(fmt: str, path: str, n_retains: int) -> Iterator[str]:
    """Iterates over the names of all but the latest files, the oldest first."""
    return iter(old_snapshots(fmt, path, n_retains))


def _check_fields(filename: str) -> None:
    """Raises ValueError for a field that is not of the trainer, which no save could fill in."""
    for _, field, _, _ in Formatter().parse(filename):
        if field and field[0] not in ".[" and not field.startswith(("0.", "0[")):
            raise ValueError(
                f"filename has the field {{{field}}}, but fields are attributes of the trainer, "
                f"such as {{.updater.iteration}}, got {filename!r}"
            )
    if re.search(r"%[-0-9.]*[ds]", filename):
        warn_once(
            "filename of a snapshot",
            filename,
            "filename should have fields of str.format(), such as {.updater.iteration}, got "
            f"{filename!r}: each snapshot replaces the one before",
        )
