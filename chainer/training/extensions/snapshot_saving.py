"""The base class of snapshot writers: a file exists as a whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from typing import Any, TypeAlias

from chainer.core.typing import FilePath, HostArray
from chainer.core.utils.temporary_names import make_temporary_directory, unlock
from chainer.links.serializer import Serializable

SaveFunction: TypeAlias = Callable[..., Any]
"""``savefun(path, entries, **kwds)``."""

SnapshotTarget: TypeAlias = dict[str, HostArray] | Serializable
"""Entries by name, or an object that can be serialized: written to a snapshot."""


class Writer:
    """Base class of snapshot writers.

    A subclass defines :meth:`__call__`, which calls :meth:`save`, at once or later.
    """

    #: Functions that are called after each save.
    _hooks: tuple[Callable[[], object], ...] = ()

    def __call__(self, filename: str, outdir: FilePath, target: SnapshotTarget) -> None:
        """Writes a snapshot, or arranges that it is written.

        Args:
            filename (str): Name of the file.
            outdir (str): Directory of the file.
            target (dict or object): Arrays by name, or an object to serialize.
        """
        raise NotImplementedError(f"{type(self).__name__} must define __call__()")

    def finalize(self) -> None:
        """Waits until everything is written; errors of the background are raised here."""

    def __del__(self) -> None:
        # Nothing can be raised here. At the end of the program modules are gone, and with them the
        # names that they import, such as suppress.
        try:
            self.finalize()
        except Exception:
            pass

    def save(
        self,
        filename: str,
        outdir: FilePath,
        target: SnapshotTarget,
        savefun: SaveFunction,
        **kwds: Any,
    ) -> None:
        """Writes a file, which exists as a whole or not at all, and calls the hooks.

        Args:
            filename (str): Name of the file.
            outdir (str): Directory of the file.
            target (dict or object): Arrays by name, or an object to serialize.
            savefun: Function ``savefun(path, target)`` that writes it. The path has the given name,
                but is in a temporary directory.
            kwds: Further keyword arguments of ``savefun``.

        Raises:
            FileNotFoundError: If ``savefun`` has not made the file.
        """
        # Links are followed: what they refer to is replaced.
        path = os.path.realpath(os.path.join(outdir, filename))
        directory, name = os.path.split(path)
        # Some functions choose the format by the suffix of the name, so that the name is the
        # final one. Inside the same directory, the file can be moved in one step.
        # Where a directory was made: an interrupt may come before its name is returned.
        made: list[str] = []
        try:
            self._save_in(
                *make_temporary_directory(directory, name, made), path, target, savefun, kwds
            )
        finally:
            for temporary in made:
                shutil.rmtree(temporary, ignore_errors=True)
        self._post_save()

    @staticmethod
    def _save_in(
        temporary: str, descriptor: int, path: str, target: Any, savefun: SaveFunction, kwds: Any
    ) -> None:
        name = os.path.basename(path)
        try:
            written = os.path.join(temporary, name)
            savefun(written, target, **kwds)
            if not os.path.exists(written):
                raise FileNotFoundError(
                    f"the function that saves snapshots must write to the path it gets, but there "
                    f"is no file {name!r}; there are: {sorted(os.listdir(temporary))}"
                )
            os.replace(written, path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
            unlock(descriptor)

    def _post_save(self) -> None:
        for hook in self._hooks:
            hook()

    def _add_cleanup_hook(self, hook_fun: Callable[[], object]) -> None:
        """Registers a function without arguments that is called after each save."""
        self._hooks = (*self._hooks, hook_fun)
