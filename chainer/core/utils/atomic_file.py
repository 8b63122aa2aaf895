"""Writing files so that they are never incomplete (public module ``chainer.utils.atomic_file``)."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress

from chainer.core.utils.temporary_names import make_temporary, remove_leftovers, unlock

__all__ = ["remove_leftovers", "replacing"]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Generator[str, None, None]:
    """Yields the name of a temporary file, which replaces ``path`` if the block does not raise.

    The temporary file is in the same directory, so that the final rename is atomic. Whenever the
    process is killed, and whenever another process reads, ``path`` is either the old file or the
    complete new one. The contents are flushed to the disk before the rename. If the block raises,
    the temporary file is removed and ``path`` is not changed. Symbolic links are followed. A path
    that is not a regular file (``/dev/stdout``, a named pipe) is written directly. A killed process
    leaves its temporary file; :func:`remove_leftovers`, which trainers call when they start,
    removes it.

    Args:
        path: File to write.

    Yields:
        Name of the (empty, existing) file to write to.

    Raises:
        FileNotFoundError: If the directory of ``path`` does not exist.
        IsADirectoryError: If ``path`` is a directory.
        PermissionError: If ``path`` exists and is not writable.

    .. admonition:: Example

        >>> import pathlib, tempfile
        >>> from chainer.utils.atomic_file import replacing
        >>> path = pathlib.Path(tempfile.mkdtemp(), 'log')
        >>> with replacing(path) as temporary:
        ...     _ = pathlib.Path(temporary).write_text('complete')
        >>> path.read_text()
        'complete'
    """
    target: str = os.path.realpath(os.fspath(path))
    directory, name = os.path.split(target)
    mode = _existing_mode(target, path)
    if mode is not None and not stat.S_ISREG(mode):
        yield target
        return
    # Where files were made: an interrupt may come before their names are returned. One `try` for
    # everything, since Python leaves a gap where another one begins.
    made: list[str] = []
    descriptor: int | None = None
    try:
        temporary, descriptor = _make(directory, name, path, made)
        if mode is not None:
            os.fchmod(descriptor, stat.S_IMODE(mode))
        yield temporary
        os.fsync(descriptor)
        os.replace(temporary, target)
    except BaseException:
        for temporary in made:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
        raise
    finally:
        if descriptor is not None:
            unlock(descriptor)
    _sync_directory(directory)


def _make(
    directory: str, name: str, path: str | os.PathLike[str], made: list[str]
) -> tuple[str, int]:
    try:
        return make_temporary(directory, name, _create, made)
    except FileNotFoundError as error:
        raise FileNotFoundError(
            error.errno, f"directory {directory!r} does not exist, cannot write", os.fspath(path)
        ) from None


def _create(path: str) -> int:
    return os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)


def _existing_mode(target: str, path: str | os.PathLike[str]) -> int | None:
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(21, "is a directory, cannot write a file", os.fspath(path))
    effective = os.access in os.supports_effective_ids
    if not os.access(target, os.W_OK, effective_ids=effective):
        raise PermissionError(13, "file exists and is not writable", os.fspath(path))
    return mode


def _sync_directory(directory: str) -> None:
    """Makes a rename durable, where directories can be opened (POSIX)."""
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except OSError:  # not readable, or no directory handles on this system: the file itself is safe
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
