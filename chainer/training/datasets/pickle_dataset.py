"""Datasets of pickled objects in a file."""

from __future__ import annotations

import io
import multiprocessing.util
import os
import pickle
import threading
from collections.abc import Callable
from typing import IO, Any, Protocol, Self, TypeAlias

from chainer.core.typing import FilePath
from chainer.core.utils.repr_texts import ShowsArguments
from chainer.training.dataset.dataset_mixin import DatasetMixin

#: The highest protocol that Python 3.7 reads, so that release 7 can read the files as well.
PROTOCOL = 4

BinaryFile: TypeAlias = "IO[bytes] | io.RawIOBase | io.BufferedIOBase"
"""A file object that is open in binary mode."""


class BinaryWriter(Protocol):
    """The methods of a file object that :class:`PickleDatasetWriter` calls."""

    def write(self, data: bytes, /) -> Any:
        """Writes bytes."""
        ...


class PickleDatasetWriter(ShowsArguments):
    """Writer of a file that :class:`PickleDataset` reads.

    The file consists of the pickles one after another, without an index.

    Args:
        writer (file object): File to write to, open in binary mode.
        protocol (int): Version of the pickle format.

    .. admonition:: Example

        >>> import io
        >>> from chainer.datasets import PickleDataset, PickleDatasetWriter
        >>> file = io.BytesIO()
        >>> writer = PickleDatasetWriter(file)
        >>> for example in ['a', ('b', 1), {'c': 2}]:
        ...     writer.write(example)
        >>> dataset = PickleDataset(file)
        >>> len(dataset), dataset[1]
        (3, ('b', 1))
    """

    def __init__(self, writer: BinaryWriter, protocol: int = PROTOCOL) -> None:
        self._writer = writer
        self._protocol = protocol

    def write(self, x: object) -> None:
        """Writes an example.

        Args:
            x: Any object that can be pickled.

        Raises:
            ValueError: If the file is closed.
        """
        # Pickled first: an object that cannot be pickled leaves no part of it in the file.
        self._writer.write(pickle.dumps(x, self._protocol))

    def flush(self) -> None:
        """Passes what was written on to the operating system, if the file has buffers."""
        flush: Callable[[], None] | None = getattr(self._writer, "flush", None)
        if flush is not None:
            flush()

    def close(self) -> None:
        """Closes the file. May be called more than once."""
        close: Callable[[], None] | None = getattr(self._writer, "close", None)
        if close is not None:
            close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class PickleDataset(DatasetMixin):
    """Dataset of the objects that :class:`PickleDatasetWriter` wrote into a file.

    The file is read once to learn where each object begins. After that, an example is read when it
    is asked for, so that the dataset may be larger than the memory.

    Several threads may use a dataset at once. If it was opened by :func:`open_pickle_dataset`, it
    can also be pickled and used in forked processes: each process opens the file for itself. A
    reader with a method ``after_fork()`` has it called in forked processes before the first use.

    .. warning::
        As with every pickle, reading a file executes what it contains. Open only files that you
        trust.

    Args:
        reader (file object): File to read from, open in binary mode.

    Raises:
        ValueError: If the file does not support random access.

    Example:
        >>> with chainer.datasets.open_pickle_dataset_writer("data.pkl") as writer:
        ...     writer.write((1, "one"))
        ...     writer.write((2, "two"))
        ...
        >>> with open("data.pkl", "rb") as file:
        ...     dataset = chainer.datasets.PickleDataset(file)
        ...     print(len(dataset), dataset[1])
        ...
        2 (2, 'two')
    """

    def __init__(self, reader: BinaryFile) -> None:
        if not hasattr(reader, "seekable"):
            raise TypeError(
                "reader must be a file that is open for reading bytes, got "
                f"{type(reader).__name__}; open_pickle_dataset() takes the name of a file"
            )
        if not reader.seekable():
            raise ValueError("reader must support random access")

        self._lock = threading.Lock()
        self._file = _SharedReader(reader)
        self._positions = _find_pickles(reader)

    @property
    def _reader(self) -> BinaryFile:
        """The file object, under the name of release 7."""
        return self._file.reader

    def __len__(self) -> int:
        """Returns the number of examples."""
        return len(self._positions)

    def get_example(self, index: int) -> Any:
        """Returns an example.

        Args:
            index (int): The index of the example; a negative one counts from the end.

        Returns:
            The example that was written.

        Raises:
            IndexError: If the index is out of range.
            ValueError: If the file is closed.
        """
        position = self._positions[index]
        # Between seek and load no other thread may move the position.
        with self._lock:
            file = self._file.get()
            file.seek(position)
            return pickle.load(file)

    def close(self) -> None:
        """Closes the file. May be called more than once."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        # A lock cannot be pickled, and a copy in another process needs one of its own.
        return {key: value for key, value in self.__dict__.items() if key != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()


class _SharedReader:
    """A file object, told when a process is forked.

    The multiprocessing module calls :meth:`get` in a new process. For processes that are forked in
    another way, each use compares the number of the process.

    Args:
        reader: File object of the user or a :class:`_FileReader`.
    """

    def __init__(self, reader: BinaryFile) -> None:
        self.reader = reader
        self._pid = os.getpid()
        multiprocessing.util.register_after_fork(self, _SharedReader.get)

    def get(self) -> BinaryFile:
        """Returns the file object, for use in this process."""
        if self._pid != os.getpid():
            self._pid = os.getpid()
            after_fork: Callable[[], None] | None = getattr(self.reader, "after_fork", None)
            if after_fork is not None:
                after_fork()
        return self.reader

    def close(self) -> None:
        """Closes the file object."""
        self.reader.close()

    def __reduce__(self) -> tuple[type[_SharedReader], tuple[BinaryFile]]:
        return _SharedReader, (self.reader,)


class _FileReader(io.RawIOBase):
    """Reader of a file that forked processes and pickles can share: each process opens it anew.

    A forked process shares the position in an open file with its parent. Two processes that seek
    and read in turns would disturb each other.

    Args:
        path: Path to the file.
    """

    def __init__(self, path: FilePath) -> None:
        super().__init__()
        self._path = os.fspath(path)
        self._fp: IO[bytes] | None = io.BufferedReader(io.FileIO(path))

    def _open_file(self) -> IO[bytes]:
        if self._fp is None:
            raise ValueError("I/O operation on closed file")
        return self._fp

    def after_fork(self) -> None:
        """Opens the file anew, in a process that inherited it."""
        if self._fp is not None:
            self._fp.close()  # the descriptor of this process only
            self._fp = io.BufferedReader(io.FileIO(self._path))

    def close(self) -> None:
        """Closes the file. May be called more than once."""
        file, self._fp = self.__dict__.get("_fp"), None
        if file is not None:
            file.close()
        super().close()

    def readable(self) -> bool:
        """Returns True."""
        return True

    def seekable(self) -> bool:
        """Returns True."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Moves to a position and returns it."""
        return self._open_file().seek(offset, whence)

    def tell(self) -> int:
        """Returns the position."""
        return self._open_file().tell()

    def read(self, size: int | None = -1, /) -> bytes:
        """Returns at most ``size`` bytes; all that is left if it is negative."""
        return self._open_file().read(-1 if size is None else size)

    def readline(self, size: int | None = -1, /) -> bytes:
        """Returns the bytes up to the next newline."""
        return self._open_file().readline(-1 if size is None else size)

    def readinto(self, buffer: Any, /) -> int:
        """Reads into a buffer and returns the number of bytes."""
        data = self._open_file().read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def __reduce__(self) -> tuple[type[_FileReader], tuple[FilePath]]:
        # The copy opens the file anew, even if the original was closed.
        return type(self), (self._path,)


def _find_pickles(file: BinaryFile) -> list[int]:
    """Returns the positions in a file at which pickles begin."""
    positions: list[int] = []
    position = 0
    file.seek(0)
    while True:
        try:
            pickle.load(file)
        except EOFError:
            # A pickle that was cut off ends here as well and is left out.
            return positions
        positions.append(position)
        position = file.tell()


def open_pickle_dataset(path: FilePath) -> PickleDataset:
    """Opens a dataset that :class:`PickleDatasetWriter` wrote.

    Args:
        path (str): Path to the file.

    Returns:
        PickleDataset: The dataset. It can be used in a ``with`` statement, which closes the file.

    Raises:
        OSError: If the file cannot be read.

    Example:
        >>> with chainer.datasets.open_pickle_dataset_writer("data.pkl") as writer:
        ...     writer.write((1, "one"))
        ...     writer.write((2, "two"))
        ...
        >>> with chainer.datasets.open_pickle_dataset("data.pkl") as dataset:
        ...     print(len(dataset), dataset[1])
        ...
        2 (2, 'two')
    """
    reader = _FileReader(path)
    try:
        return PickleDataset(reader)
    except BaseException:
        reader.close()
        raise


def open_pickle_dataset_writer(path: FilePath, protocol: int = PROTOCOL) -> PickleDatasetWriter:
    """Creates a file for a :class:`PickleDataset`.

    Args:
        path (str): Path to the file, which is overwritten if it exists.
        protocol (int): Version of the pickle format.

    Returns:
        PickleDatasetWriter: The writer. Use it in a ``with`` statement, which closes the file.

    Raises:
        OSError: If the file cannot be created.

    Example:
        >>> with chainer.datasets.open_pickle_dataset_writer("data.pkl") as writer:
        ...     writer.write((1, "one"))
        ...     writer.write((2, "two"))
        >>> with chainer.datasets.open_pickle_dataset("data.pkl") as dataset:
        ...     dataset[1]
        (2, 'two')
    """
    return PickleDatasetWriter(open(path, "wb"), protocol)
