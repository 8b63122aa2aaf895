"""Tensors of a file in the format safetensors, read when they are used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chainer.core.typing import DType, FilePath, HostArray, Shape
from chainer.links.serializers.file_format import describe_source, format_errors
from chainer.links.serializers.safetensors_archive import (
    Entry,
    dtype_of_type,
    map_file,
    parse_header,
    view_tensor,
)


class SafetensorsFile(Mapping[str, HostArray]):
    """The tensors of a file by name; see :func:`~chainer.serializers.open_safetensors`.

    Attributes:
        metadata (dict): Texts by name.
        name (str): Description of the file, for messages.

    Example:
        >>> chainer.serializers.save_safetensors("model.safetensors", L.Linear(2, 1))
        >>> with chainer.serializers.open_safetensors("model.safetensors") as file:
        ...     print(sorted(file), file.shape("W"))
        ['W', 'b'] (1, 2)
    """

    def __init__(self, file: FilePath, writable: bool = False) -> None:
        self.name = describe_source(file)
        data = map_file(file, "c" if writable else "r")
        with format_errors(f"{self.name} is not a file of safetensors"):
            self._header = parse_header(data)
        self._data: HostArray | None = data
        self.metadata = self._header.metadata

    def __repr__(self) -> str:
        state = "closed" if self._data is None else f"{len(self)} tensors"
        return f"<{type(self).__name__} {self.name}: {state}>"

    def __getitem__(self, name: str) -> HostArray:
        """Returns a tensor, as a view of the mapped file."""
        entry = self._entry(name)
        if self._data is None:
            raise ValueError(f"{self.name} was closed")
        return view_tensor(self._data, self._header, name, entry)

    def __iter__(self) -> Iterator[str]:
        return iter(self._header.entries)

    def __len__(self) -> int:
        return len(self._header.entries)

    def __enter__(self) -> SafetensorsFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def shape(self, name: str) -> Shape:
        """Returns the shape of a tensor; nothing is read.

        Args:
            name (str): Name of the tensor.
        """
        return self._entry(name).shape

    def dtype(self, name: str) -> DType:
        """Returns the data type of a tensor; nothing is read.

        Args:
            name (str): Name of the tensor.
        """
        return dtype_of_type(name, self._entry(name).type_name)

    def close(self) -> None:
        """Lets go of the file; tensors that were taken stay valid."""
        self._data = None

    def _entry(self, name: str) -> Entry:
        try:
            return self._header.entries[name]
        except KeyError:
            raise KeyError(f"{self.name} has no tensor {name!r}") from None


def open_safetensors(file: FilePath, writable: bool = False) -> SafetensorsFile:
    """Opens a file in the format safetensors without reading its tensors.

    The file is mapped into memory: a tensor, or a slice of one, is read when its elements are used,
    and no copy is made. The header is checked completely. The checksum of files that Chainer wrote
    is not, because that needs all bytes; :func:`load_safetensors` checks it.

    Args:
        file (str): Path of the file.
        writable (bool): If True, the arrays may be changed in memory. The file is never changed.

    Returns:
        SafetensorsFile: A mapping of names to arrays, and a context manager. ``shape(name)`` and
        ``dtype(name)`` look at the header only, and ``metadata`` has the texts of the file.

    Raises:
        FileFormatError: (a ValueError) If the file is damaged, truncated or of another format.
        OSError: If the file cannot be read.
        ImportError: When a tensor of bfloat16 or float8 is taken and ml_dtypes is not installed.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), 'model.safetensors')
        >>> chainer.serializers.save_safetensors(path, L.Linear(2, 3))
        >>> with chainer.serializers.open_safetensors(path) as tensors:
        ...     sorted(tensors), tensors.shape('W'), tensors['W'][1:].shape
        (['W', 'b'], (3, 2), (2, 2))
    """
    return SafetensorsFile(file, writable)
