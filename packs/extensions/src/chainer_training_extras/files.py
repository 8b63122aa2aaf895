"""Writing files that are complete or not there."""

from __future__ import annotations

import os
import tempfile


def replace_file(path: str, content: bytes) -> None:
    """Writes a file under a temporary name, which begins with a dot, and gives it its own."""
    directory, name = os.path.split(path)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=directory or ".")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        os.chmod(temporary, _mode_of(path))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _mode_of(path: str) -> int:
    """Returns the permissions of a file; those that any new file would get if there is none."""
    try:
        return os.stat(path).st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def append(path: str, content: bytes) -> None:
    """Adds to the end of a file by one write, so that readers see all of it or nothing."""
    with open(path, "ab", buffering=0) as file:
        written = file.write(content)
    if written != len(content):
        raise OSError(f"{path}: only {written} of {len(content)} bytes were written")
