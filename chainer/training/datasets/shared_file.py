"""Open files that threads, forked processes and pickles can share."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar


class _Closable(Protocol):
    def close(self) -> None: ...


_File = TypeVar("_File", bound=_Closable)


class ProcessLocalFile(Generic[_File]):
    """A file that each process opens for itself, at the first use.

    A forked process shares the position in an open file with its parent. Two processes that seek
    and read in turns would disturb each other.

    Args:
        opener: Opens the file. It can be pickled, for instance a :class:`functools.partial` of a
            function of a module.
    """

    def __init__(self, opener: Callable[[], _File]) -> None:
        self._opener = opener
        self._file: _File | None = None
        self._pid = 0
        self._is_closed = False

    def get(self) -> _File:
        """Returns the open file of this process.

        Raises:
            ValueError: If it was closed.
            OSError: If the file cannot be opened.
        """
        if self._is_closed:
            raise ValueError("I/O operation on closed file")
        if self._file is None or self._pid != os.getpid():
            inherited, self._file = self._file, self._opener()
            self._pid = os.getpid()
            if inherited is not None:
                # Closes the descriptor of this process only.
                inherited.close()
        return self._file

    def close(self) -> None:
        """Closes the file. May be called more than once."""
        self._is_closed = True
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def __del__(self) -> None:
        # Datasets are rarely closed. Python would warn of files that are garbage.
        self.close()

    def __reduce__(self) -> tuple[type[ProcessLocalFile[_File]], tuple[Callable[[], _File]]]:
        # The copy opens the file anew, even if the original was closed.
        return ProcessLocalFile, (self._opener,)
