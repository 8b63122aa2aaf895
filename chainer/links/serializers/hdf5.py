"""Serialization in HDF5 format."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import IO, Any

import numpy

from chainer.core.arguments import require_attribute
from chainer.core.installation import install_command
from chainer.core.misuse import expect_flags
from chainer.core.typing import FilePath, HostArray
from chainer.core.utils import installed
from chainer.core.utils.atomic_file import replacing
from chainer.links import serializer as serializer_module
from chainer.links.errors import MissingGroupError
from chainer.links.serializer import EntryValue, Serializable
from chainer.links.serializers.file_format import (
    MAX_DEFLATE_RATIO,
    FileFormatError,
    check_fits_memory,
    check_trailer,
    checksum_trailer,
    describe_source,
    format_errors,
)
from chainer.links.serializers.hdf5_heaps import check_heaps
from chainer.links.serializers.hdf5_superblock import check_superblock
from chainer.links.serializers.npz import entry_prefix
from chainer.links.serializers.npz_archive import is_none
from chainer.links.serializers.positions import warn_of_position
from chainer.links.serializers.rollback import LoadJournal, unchanged_on_error
from chainer.links.serializers.values import check_declared, restore, to_host_array

#: Soft links that are followed to find one entry, as in the HDF5 library.
_MAX_LINKS = 16

#: Bytes of a dataset that a file need not store. HDF5 files say what fills parts that were never
#: written, and a dataset of any size can consist of such parts.
_MAX_FILLED_BYTES = 1 << 26


class MissingH5pyError(ImportError, RuntimeError):
    """h5py is not installed. A RuntimeError, too, as in earlier releases."""


def _h5py() -> ModuleType:
    # Tests of programs set _available to see what happens without h5py.
    if globals().get("_available") is False:
        raise MissingH5pyError("h5py is not available: hdf5._available is False")
    try:
        import h5py
    except ImportError as error:
        raise MissingH5pyError(
            f"h5py is required for serialization in HDF5 format: {install_command('chainer[hdf5]')}"
        ) from error
    return h5py


def _empty() -> Any:
    """Returns what represents None in a file.

    Raises:
        RuntimeError: If h5py is too old for it.
    """
    h5py = _h5py()
    if h5py.version.version_tuple < (2, 7, 0):
        raise RuntimeError(
            f"h5py 2.7 or newer is required to serialize None, this is {h5py.version.version}"
        )
    return h5py.Empty("f")


class HDF5Serializer(serializer_module.Serializer):
    """Serializer for HDF5 format.

    The chain hierarchy is simply mapped to HDF5 hierarchical groups. None is an empty dataset,
    strings are variable-length UTF-8 strings.

    Args:
        group (h5py.Group): The group that this serializer represents.
        compression (int): Gzip compression level, 0 to 9. Scalars and empty arrays are not
            compressed.

    Raises:
        ImportError: If h5py is not installed.
        ValueError: If the compression level is not one of 0 to 9.

    Example:
        Two objects in one file:

        >>> import h5py
        >>> with h5py.File("both.h5", "w") as file:
        ...     for name, link in {"a": L.Linear(2, 1), "b": L.Linear(3, 1)}.items():
        ...         chainer.serializers.HDF5Serializer(file.create_group(name)).save(link)
        ...     print(sorted(file), file["b/W"].shape)
        ['a', 'b'] (1, 3)
    """

    def __init__(self, group: Any, compression: int | None = 4) -> None:
        _h5py()
        if compression is not None and compression not in range(10):
            raise ValueError(f"compression must be a level from 0 to 9, got {compression!r}")
        self.group = group
        self.compression = compression

    def __getitem__(self, key: str) -> HDF5Serializer:
        """Gets a child serializer.

        Args:
            key (str): Name of the child.
        """
        name = self.group.name.rstrip("/") + "/" + key.strip("/")
        return HDF5Serializer(self.group.require_group(name), self.compression)

    def __call__(self, key: str, value: EntryValue) -> Any:
        """Saves a value by given name.

        Args:
            key (str): Name of the serialization entry.
            value (scalar, array, None, or str): Object to be serialized.

        Returns:
            The value.

        Raises:
            TypeError: If the value is something else.
        """
        name = key.lstrip("/")
        array = to_host_array(name, value)
        if is_none(array):
            self.group.create_dataset(name, data=_empty())
        elif array.dtype.kind == "U":
            dtype = _h5py().string_dtype()
            self.group.create_dataset(name, data=array.astype(object), dtype=dtype)
        elif array.size <= 1:  # HDF5 cannot compress scalars, nor does a single element gain
            self.group.create_dataset(name, data=array)
        else:
            self.group.create_dataset(name, data=array, compression=self.compression)
        return value


class HDF5Deserializer(serializer_module.Deserializer):
    """Deserializer for HDF5 format.

    This is the standard deserializer for files made by :class:`HDF5Serializer`. Links that lead out
    of the file are refused.

    Args:
        group (h5py.Group): The group that the deserialization starts from.
        strict (bool): If True, the deserializer raises an error when an expected value is not found
            in the given HDF5 file. Otherwise, it ignores the value and skips deserialization.

    Raises:
        ImportError: If h5py is not installed.

    Example:
        >>> import h5py
        >>> with h5py.File("both.h5", "w") as file:
        ...     group = file.create_group("a")
        ...     chainer.serializers.HDF5Serializer(group).save(L.Linear(2, 1, initialW=1))
        >>> model = L.Linear(2, 1)
        >>> with h5py.File("both.h5") as file:
        ...     chainer.serializers.HDF5Deserializer(file["a"]).load(model)
        >>> model.W.array
        array([[1., 1.]], dtype=float32)
    """

    def __init__(self, group: Any, strict: bool = True) -> None:
        _h5py()
        self.group = group
        self.strict = strict
        #: Set by load_hdf5(), which undoes a load that fails.
        self._journal: LoadJournal | None = None
        #: What the names of the entries begin with in the journal. The name of the group may be
        #: another one, where a link of the file leads to it.
        self._path = ""
        #: Which group of the file is missing, for the message of an entry in it.
        self._missing: str | None = None

    @property
    def _source(self) -> str:
        return "the HDF5 file" if self.group is None else repr(self.group.file.filename)

    def __getitem__(self, key: str) -> HDF5Deserializer:
        """Gets a child deserializer.

        Args:
            key (str): Name of the child. If there is no such group, the child is empty: a file
                need not have groups for objects that save nothing.
        """
        name = key.strip("/")
        group = self._look_up(name)
        if group is not None and not isinstance(group, _h5py().Group):
            raise FileFormatError(f"{group.name!r} of {self._source} must be a group, not an array")
        child = HDF5Deserializer(group, self.strict)
        child._journal = self._journal
        child._path = f"{self._path}{name}/"
        if group is None:
            child._missing = self._missing or self._place(name)
        return child

    def __call__(self, key: str, value: EntryValue) -> Any:
        """Loads a value by given name.

        Args:
            key (str): Name of the serialization entry.
            value (scalar, array, None, or str): Current value of the object. The elements of an
                array are overwritten. For other values the result has the same type. For None the
                array of the file is returned.

        Returns:
            Deserialized value; None if None was saved. The given value if it is skipped.

        Raises:
            KeyError: If there is no such entry and the deserializer is strict.
            ValueError: If the shape does not match.
            TypeError: If the dtype cannot be converted.
        """
        name = key.lstrip("/")
        dataset = self._look_up(name)
        if dataset is None:
            if self.strict:
                raise (MissingGroupError if self._missing else KeyError)(
                    f"{self._missing or self._place(name)}; "
                    "with strict=False missing entries are skipped"
                )
            return value
        if not isinstance(dataset, _h5py().Dataset):
            raise FileFormatError(
                f"{dataset.name!r} of {self._source} must be an array, not a group"
            )
        path = self._path + name
        with _hdf5_errors(f"{dataset.name!r} of {self._source} is damaged"):
            shape, dtype = dataset.shape, dataset.dtype
        if shape is None:
            if self._journal is not None:
                self._journal.record(path, value)
            return None
        where = dataset.name if len(getattr(value, "shape", ())) else name
        check_declared(where, shape, dtype, value, self._source)
        stored = self._read(dataset)
        if self._journal is not None:
            # The array was read for this load: it can take the former contents.
            if self._journal.exchange(path, value, stored):
                return value
            self._journal.record(path, value)
        return restore(name, stored, value, self._source)

    def describe(self, key: str) -> str:
        """Returns which entry of which file a name means.

        Args:
            key (str): Name of the entry.
        """
        where = "" if self.group is None else self.group.name
        path = f"{where}/{key.lstrip('/')}".lstrip("/")
        return f"{path!r} in {self._source}"

    def _place(self, name: str) -> str:
        """Returns the message that there is no such entry in this group."""
        where = "/" if self.group is None else self.group.name
        return f"{name!r} is not in group {where!r} of {self._source}"

    def _look_up(self, name: str) -> Any:
        """Returns the dataset or group of a name; None if it is missing."""
        node: Any = self.group
        parts, links = name.split("/")[::-1], 0
        while parts:
            part = parts.pop()
            if part in ("", ".") and links:  # in the path of a link
                continue
            if not isinstance(node, _h5py().Group):
                return None
            with _hdf5_errors(f"{name!r} of {self._source} cannot be read"):
                path = self._path_of_link(node, part, name)
                if path is None:
                    node = node.get(part)
                    continue
            # Followed here. The library would open other files to which a link of a link leads.
            links += 1
            if links > _MAX_LINKS:
                raise FileFormatError(
                    f"{name!r} of {self._source} is a link to a link, more than {_MAX_LINKS} times"
                )
            if path.startswith("/"):
                node = node.file["/"]
            parts.extend(path.split("/")[::-1])
        return node

    def _path_of_link(self, group: Any, part: str, name: str) -> str | None:
        """Returns where a soft link leads; None if a name is not one.

        Args:
            group: Group of the link.
            part: Name in the group.
            name: Name of the entry, for messages.
        """
        links, key, kinds = group.id.links, part.encode(), _h5py().h5l
        # Not `part in group`, which opens the file that an external link names.
        if not part or not links.exists(key):
            return None
        kind = links.get_info(key).type
        if kind == kinds.TYPE_SOFT:
            return links.get_val(key).decode()
        if kind != kinds.TYPE_HARD:
            raise FileFormatError(
                f"{name!r} of {self._source} is a link to another file, which is not followed"
            )
        return None

    def _read(self, dataset: Any) -> HostArray:
        what = f"{dataset.name!r} of {self._source}"
        with _hdf5_errors(f"{what} is damaged"):
            if dataset.external or dataset.is_virtual:
                raise FileFormatError(f"{what} is in another file, which is not read")
            check_fits_memory(dataset.nbytes, what)
            _check_storage(dataset.nbytes, dataset.id.get_storage_size(), what)
            if _h5py().check_string_dtype(dataset.dtype) is not None and dataset.dtype.kind == "O":
                return numpy.asarray(numpy.asarray(dataset.asstr()[()], dtype=object).astype(str))
            if dataset.dtype.hasobject:
                raise FileFormatError(
                    f"{what} has elements of dtype {dataset.dtype}, expected numbers or strings"
                )
            return numpy.asarray(dataset[()])


def __getattr__(name: str) -> bool:
    if name == "_available":  # read by programs that skip HDF5 where it is missing
        return installed.is_installed("h5py")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def save_hdf5(
    filename: FilePath | bytes | IO[bytes],
    obj: Serializable | dict[str, EntryValue],
    compression: int | None = 4,
) -> None:
    """Saves an object to the file in HDF5 format.

    This is a short-cut function to save only one object into an HDF5 file. If you want to save
    multiple objects to one HDF5 file, use :class:`HDF5Serializer` directly by passing appropriate
    ``h5py.Group`` objects. A file given by name is replaced as a whole once everything is written.
    The file is made in memory first. After its end, where the HDF5 library does not read, it has a
    checksum, which :func:`load_hdf5` compares.

    Args:
        filename (str or file-like): Target file name, or a seekable binary file open for reading
            and writing.
        obj: Object to be serialized. It must support serialization protocol. It may also be a
            dictionary of arrays, scalars, strings and None, which is saved as it is; slashes in
            names make groups.
        compression (int): Gzip compression level, 0 to 9.

    Raises:
        ImportError: If h5py is not installed.
        TypeError: If something is to be saved that is not an array, scalar, string or None.
        OSError: If the file cannot be written.

    .. seealso:: :func:`chainer.serializers.load_hdf5`

    Example:
        >>> model = L.Linear(2, 1)
        >>> chainer.serializers.save_hdf5("model.h5", model)
        >>> copy = L.Linear(2, 1)
        >>> chainer.serializers.load_hdf5("model.h5", copy)
        >>> bool((copy.W.array == model.W.array).all())
        True
    """
    # Written to memory first. If the disk becomes full while the HDF5 library writes, the library
    # crashes the process when it closes the file.
    if not isinstance(filename, (str, bytes, os.PathLike)):
        require_attribute("filename", filename, "seek", "a path or a binary file object")
    memory = io.BytesIO()
    with _h5py().File(memory, "w") as file:
        _save(HDF5Serializer(file, compression), obj)
    contents = memory.getbuffer()
    trailer = checksum_trailer(contents)
    if isinstance(filename, (str, bytes, os.PathLike)):
        with replacing(os.fsdecode(filename)) as temporary, open(temporary, "wb") as target:
            target.write(contents)
            target.write(trailer)
    else:
        filename.seek(0)
        filename.truncate()
        filename.write(contents)
        filename.write(trailer)


def _save(serializer: HDF5Serializer, obj: Serializable | dict[str, EntryValue]) -> None:
    if isinstance(obj, dict):
        for name, value in obj.items():
            serializer(name, value)
    else:
        serializer.save(obj)


def load_hdf5(
    filename: FilePath | bytes | IO[bytes],
    obj: Serializable,
    strict: bool = True,
    *,
    path: str = "",
) -> None:
    """Loads an object from the file in HDF5 format.

    A file may contain several objects, each in a group of its own: call this function for each of
    them with its ``path``. If loading fails, the object is left as it was.

    Args:
        filename (str or file-like): Name of the file to be loaded, or a seekable binary file.
        obj: Object to be deserialized. It must support serialization protocol.
        strict (bool): See :class:`HDF5Deserializer`.
        path (str): The group of the file that has the object, such as ``'updater/model:main'``.
            Default: the file itself.

    Raises:
        ImportError: If h5py is not installed.
        FileFormatError: (a ValueError) If the file is damaged, truncated or not an HDF5 file.
        KeyError: If a value or the group is missing and ``strict`` is True.
        ValueError: If the shape of a value does not match.
        OSError: If the file cannot be opened.

    .. seealso:: :func:`chainer.serializers.save_hdf5`

    Example:
        >>> chainer.serializers.save_hdf5("model.h5", L.Linear(2, 1, initialW=1))
        >>> model = L.Linear(2, 1)
        >>> chainer.serializers.load_hdf5("model.h5", model)
        >>> model.W.array
        array([[1., 1.]], dtype=float32)
    """
    h5py = _h5py()
    # load_npz() takes the path in this place.
    expect_flags("load_hdf5", strict=strict)
    path = entry_prefix(path)
    warn_of_position(obj, path)
    source = describe_source(filename)
    if isinstance(filename, (str, bytes, os.PathLike)):
        # The system's own error for a missing or unreadable file.
        with open(filename, "rb") as stream:
            _check_structure(stream, source)
    else:
        _check_structure(filename, source)
    damaged = (
        f"{source} is not a complete HDF5 file. It may have been truncated while it "
        "was written or copied, or be of another format"
    )
    with _hdf5_errors(damaged):
        file = h5py.File(filename, "r")
    with file, unchanged_on_error(obj, path) as journal:
        deserializer = HDF5Deserializer(file, strict)
        deserializer._journal = journal
        (deserializer[path] if path else deserializer).load(obj)


def _check_structure(stream: IO[bytes], source: str) -> None:
    """Refuses a file that differs from its checksum, or for which the library takes all memory."""
    check_trailer(stream, source)
    check_superblock(stream, source)
    check_heaps(stream, source)


def _check_storage(nbytes: int, stored: int, what: str) -> None:
    """Refuses a dataset that declares much more than the file has of it."""
    if nbytes > stored * MAX_DEFLATE_RATIO + _MAX_FILLED_BYTES:
        raise FileFormatError(
            f"{what} declares {nbytes:,} bytes, of which the file stores {stored:,}: it was not "
            "completely written"
        )


@contextmanager
def _hdf5_errors(message: str) -> Iterator[None]:
    """Turns what h5py raises for damaged bytes into a FileFormatError.

    Args:
        message: Begin of the message.
    """
    with format_errors(message):
        try:
            yield
        except (OSError, RuntimeError) as error:
            # The HDF5 library reports damage as an error of reading.
            raise FileFormatError(f"{message}: {error}") from error
