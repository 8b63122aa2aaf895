"""Temporary directories."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Generator


@contextlib.contextmanager
def tempdir(*, ignore_errors: bool = False, **kwargs: str | None) -> Generator[str]:
    """Context manager of a new directory, which is removed at the end.

    Args:
        ignore_errors (bool): Whether errors of the removal are ignored.
        **kwargs: Arguments of :func:`tempfile.mkdtemp`.

    Example:
        >>> import os
        >>> with chainer.utils.tempdir() as path:
        ...     os.path.isdir(path)
        True
    """
    path: str = tempfile.mkdtemp(**kwargs)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=ignore_errors)
