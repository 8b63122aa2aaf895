"""Dataset of the lines of text files."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any, TextIO, TypeAlias

from chainer.core.typing import FilePath
from chainer.training.dataset.dataset_mixin import DatasetMixin
from chainer.training.datasets.shared_file import ProcessLocalFile

OptionPerFile: TypeAlias = str | Sequence[str | None] | None
"""An option of ``open`` for all files, or one for each file."""


class TextDataset(DatasetMixin):
    """Dataset of the lines of a text file, or of the corresponding lines of several files.

    The files are read once to learn where each line begins. After that, a line is read when it is
    asked for, so that the files may be larger than the memory. They must not be changed meanwhile.

    Several threads may use a dataset at once. It can be pickled and used in forked processes: each
    process opens the files for itself.

    Args:
        paths (str or list of strs): Path to a file: an example is a line, including the newline
            character at its end. Or a list of several paths: an example is a tuple of one line of
            each file.
        encoding (str or list of strs): Encoding of the files, as for :func:`open`, or a list with
            one for each file.
        errors (str or list of strs): How errors of the encoding are handled, as for :func:`open`,
            or a list with one for each file.
        newline (str or list of strs): End of a line, as for :func:`open`, or a list with one for
            each file.
        filter_func (callable): Takes the line of each file as positional arguments. Rows for which
            it returns a false value are left out.

    Raises:
        ValueError: If there are no paths, a list has the wrong length, or the files have different
            numbers of lines.
        OSError: If a file cannot be read.

    .. admonition:: Example

        >>> import os, tempfile
        >>> from chainer.datasets import TextDataset
        >>> path = os.path.join(tempfile.mkdtemp(), 'words.txt')
        >>> with open(path, 'w') as f:
        ...     _ = f.write('one\\n\\nthree\\n')
        >>> dataset = TextDataset(path, filter_func=str.strip)
        >>> dataset[:]
        ['one\\n', 'three\\n']
        >>> dataset.close()
    """

    def __init__(
        self,
        paths: FilePath | Sequence[FilePath],
        encoding: OptionPerFile = None,
        errors: OptionPerFile = None,
        newline: OptionPerFile = None,
        filter_func: Callable[..., object] | None = None,
    ) -> None:
        files = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
        if not files:
            raise ValueError("paths must have at least one text file, got none")
        # As in release 7, a list of one path makes no tuples.
        self._has_single_lines = len(files) == 1
        options = [
            _one_per_file(name, option, len(files))
            for name, option in (("encoding", encoding), ("errors", errors), ("newline", newline))
        ]
        self._files = [
            ProcessLocalFile(functools.partial(_open, os.fspath(path), *opened_with))
            for path, *opened_with in zip(files, *options)
        ]
        self._lock = threading.Lock()
        self._is_closed = False
        try:
            #: For each row, the position of its line in each file.
            self._positions = self._find_lines(filter_func)
        except BaseException:
            self.close()
            raise

    @property
    def _fps(self) -> list[TextIO] | None:
        """The open files of this process, under the name of release 7; None after closing."""
        return None if self._is_closed else [file.get() for file in self._files]

    def _find_lines(self, filter_func: Callable[..., object] | None) -> list[tuple[int, ...]]:
        files = [file.get() for file in self._files]
        rows: list[tuple[int, ...]] = []
        for count in itertools.count():
            positions = tuple([file.tell() for file in files])
            lines = [file.readline() for file in files]
            if not all(lines):
                if any(lines):
                    raise ValueError(
                        "number of lines in files does not match: "
                        f"one has {count} lines, and one has more"
                    )
                break
            if filter_func is None or filter_func(*lines):
                rows.append(positions)
        return rows

    def __len__(self) -> int:
        """Returns the number of rows."""
        return len(self._positions)

    def get_example(self, idx: int) -> str | tuple[str, ...]:
        """Returns a line, or a tuple of the corresponding lines of all files.

        Args:
            idx (int): The index of the example. Negative ones are not accepted.

        Raises:
            IndexError: If the index is out of range.
            ValueError: If the dataset is closed.
        """
        if not 0 <= idx < len(self):
            raise IndexError(f"index {idx} is out of range for {len(self)} lines")
        # Between seek and readline no other thread may move the positions.
        with self._lock:
            lines: list[str] = []
            for process_file, position in zip(self._files, self._positions[idx]):
                file = process_file.get()
                file.seek(position)
                lines.append(file.readline())
        return lines[0] if self._has_single_lines else tuple(lines)

    def close(self) -> None:
        """Closes all files. May be called more than once.

        If closing a file raises an exception, the others are closed before it is passed on.
        """
        self._is_closed = True
        with contextlib.ExitStack() as stack:
            for file in self._files:
                stack.callback(file.close)

    def __getstate__(self) -> dict[str, Any]:
        # A lock cannot be pickled, and a copy in another process needs one of its own.
        return {key: value for key, value in self.__dict__.items() if key != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()


def _one_per_file(name: str, option: OptionPerFile, count: int) -> Sequence[str | None]:
    if option is None or isinstance(option, str):
        return [option] * count
    if len(option) != count:
        raise ValueError(
            f"{name} must be one value or one for each of the {count} files, got {len(option)}"
        )
    return option


def _open(path: str, encoding: str | None, errors: str | None, newline: str | None) -> TextIO:
    return open(path, encoding=encoding, errors=errors, newline=newline)
