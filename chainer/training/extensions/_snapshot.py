"""Snapshots of the trainer and of other objects."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from chainer.links.serializers.npz import load_npz, save_npz
from chainer.training.extension import Extension
from chainer.training.extensions import snapshot_writers
from chainer.training.extensions.snapshot_files import find_snapshots, remove_old_snapshots

if TYPE_CHECKING:
    from types import TracebackType

    from chainer.training.trainer import Trainer

FileName = str | Callable[[Any], str]


class Snapshot(Extension):
    """Trainer extension to take snapshots; see :func:`snapshot` and :func:`snapshot_object`."""

    trigger = (1, "epoch")
    priority = -100
    #: Release 7 registers these extensions by the name of their class.
    name_in_release_7 = "_Snapshot"

    def __init__(
        self,
        target: Any,
        filename: FileName,
        writer: snapshot_writers.Writer,
        condition: Callable[[], bool] | None,
        snapshot_on_error: bool,
        n_retains: int,
        autoload: bool,
    ) -> None:
        if not isinstance(filename, str) and (autoload or n_retains > 0):
            raise TypeError(
                "autoload and n_retains need a file name that is a string, "
                f"got {type(filename).__name__}"
            )
        self._target = target
        self._filename = filename
        self._writer = writer
        self._condition = condition
        self._snapshot_on_error = snapshot_on_error
        self._n_retains = n_retains
        self._autoload = autoload

    @property
    def default_name(self) -> str:
        """``'snapshot'`` for snapshots of the trainer, otherwise ``'snapshot_object'``."""
        return "snapshot" if self._target is None else "snapshot_object"

    def restore(self, trainer: Trainer) -> None:
        """Loads the latest snapshot that is intact, if ``autoload`` was asked for.

        Called before the initialization of the extensions, which rely on what is loaded.

        Args:
            trainer (Trainer): Trainer object that runs the training loop.
        """
        if not self._autoload or not isinstance(self._filename, str):
            return
        target = trainer if self._target is None else self._target
        for name in reversed(find_snapshots(self._filename, trainer.out)):
            try:
                load_npz(os.path.join(trainer.out, name), target)
            except ValueError as error:
                warnings.warn(f"snapshot {name} is skipped: {error}", stacklevel=2)
                continue
            return

    def __call__(self, trainer: Trainer) -> None:
        """Takes a snapshot.

        Args:
            trainer (Trainer): Trainer object that calls this operator.
        """
        if self._condition is None or self._condition():
            self._take(trainer)

    def _take(self, trainer: Trainer) -> None:
        filename = self._filename
        name = filename.format(trainer) if isinstance(filename, str) else filename(trainer)
        target = trainer if self._target is None else self._target
        self._writer(name, trainer.out, target)
        if self._n_retains > 0 and isinstance(filename, str):
            remove_old_snapshots(filename, trainer.out, self._n_retains)

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
        self._writer.finalize()


def _make(
    target: Any, filename: FileName, savefun: Callable[..., Any] | None, options: dict[str, Any]
) -> Snapshot:
    writer = options.pop("writer", None)
    if writer is None:
        writer = snapshot_writers.SimpleWriter(savefun or save_npz)
    elif savefun is not None and savefun is not save_npz:
        raise TypeError(
            "savefun and writer cannot be specified together; give savefun to the writer"
        )
    n_retains = options.pop("n_retains", options.pop("num_retain", -1))
    arguments = {
        "condition": options.pop("condition", None),
        "snapshot_on_error": options.pop("snapshot_on_error", False),
        "autoload": options.pop("autoload", False),
    }
    if options:
        raise TypeError(
            f"snapshot got unexpected keyword argument(s) {', '.join(map(repr, options))}"
        )
    return Snapshot(target, filename, writer, n_retains=n_retains, **arguments)


def snapshot(
    savefun: Callable[..., Any] | None = save_npz,
    filename: FileName = "snapshot_iter_{.updater.iteration}",
    *,
    target: Any = None,
    **kwargs: Any,
) -> Snapshot:
    """Returns a trainer extension to take snapshots of the trainer.

    This extension serializes the trainer object and saves it to the output directory. It is used to
    support resuming the training loop from the saved state.

    This extension is called once per epoch by default. To take a snapshot at a different interval,
    pass a trigger to :meth:`~chainer.training.Trainer.extend`. The default priority is -100, which
    is lower than that of most built-in extensions.

    .. note::
       The snapshot is written to a temporary file, whose name begins with a dot, which then gets
       the target file name. If the program is killed in the middle, the temporary file may be left
       in the output directory, but the file of the target name is complete or not there.

    Args:
        savefun: Function to save the trainer. It takes two arguments: the output file path and the
            trainer object.
        filename (str): Name of the file into which the trainer is serialized. It can be a format
            string, where the trainer object is passed to the :meth:`str.format` method, or a
            function of the trainer that returns the name.
        target: Object to serialize instead of the trainer.
        condition (callable): Called without arguments; no snapshot is taken where it returns False.
        writer: One of :mod:`chainer.training.extensions.snapshot_writers`, which writes the file,
            possibly in the background. It takes the place of ``savefun``.
        snapshot_on_error (bool): Whether to take a snapshot when the training loop fails.
        n_retains (int): Number of snapshots to keep: older files that fit the name are removed. The
            default keeps all.
        autoload (bool): If True, the latest snapshot in the output directory is loaded at the
            beginning of the training. A damaged one is skipped with a warning in favour of the one
            before. It must have been written by :func:`~chainer.serializers.save_npz`.

    Returns:
        The extension.

    Example:
        >>> extension = chainer.training.extensions.snapshot(n_retains=2, autoload=True)
    """
    return _make(target, filename, savefun, kwargs)


def snapshot_object(
    target: Any,
    filename: FileName,
    savefun: Callable[..., Any] | None = save_npz,
    **kwargs: Any,
) -> Snapshot:
    """Returns a trainer extension to take snapshots of a given object.

    This extension serializes the given object and saves it to the output directory, as
    :func:`snapshot` does with the trainer.

    This extension is called once per epoch by default. To take a snapshot at a different interval,
    pass a trigger to :meth:`~chainer.training.Trainer.extend`. The default priority is -100, which
    is lower than that of most built-in extensions.

    Args:
        target: Object to serialize.
        filename (str): Name of the file into which the object is serialized. It can be a format
            string, where the trainer object is passed to the :meth:`str.format` method. For
            example, ``'snapshot_{.updater.iteration}'`` is converted to ``'snapshot_10000'`` at the
            10,000th iteration.
        savefun: Function to save the object. It takes two arguments: the output file path and the
            object to serialize.
        kwargs: ``condition``, ``writer``, ``snapshot_on_error``, ``n_retains``, ``autoload``: see
            :func:`snapshot`.

    Returns:
        The extension.
    """
    return _make(target, filename, savefun, kwargs)
