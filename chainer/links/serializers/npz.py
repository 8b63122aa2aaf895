"""Serialization in NumPy NPZ format."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Mapping
from typing import IO, Any, Literal

import numpy

from chainer.core.arguments import require_attribute, wrong_type
from chainer.core.misuse import expect_flags, warn_once
from chainer.core.typing import FilePath, HostArray
from chainer.core.utils.atomic_file import replacing
from chainer.links import serializer as serializer_module
from chainer.links.link import Link
from chainer.links.serializer import EntryValue, Serializable
from chainer.links.serializers.file_format import describe_source
from chainer.links.serializers.npz_archive import NpzArchive, write_npz
from chainer.links.serializers.pickled_none import is_pickled_none
from chainer.links.serializers.positions import warn_of_position
from chainer.links.serializers.rollback import LoadJournal, unchanged_on_error
from chainer.links.serializers.values import check_declared, restore, to_host_array

#: Number of entries of a file that an error message lists.
_MAX_SHOWN_NAMES = 4

IgnoreNames = str | Callable[[str], bool] | Iterable[str | Callable[[str], bool]] | None


class DictionarySerializer(serializer_module.Serializer):
    """Serializer for dictionary.

    This is the standard serializer in Chainer. The hierarchy of objects is simply mapped to a flat
    dictionary with keys representing the paths to objects in the hierarchy.

    .. note::
        Despite its name, this serializer *does not* serialize the object into external files. It
        just builds a flat dictionary of arrays that can be fed into :func:`numpy.savez` and
        :func:`numpy.savez_compressed`; :func:`save_npz` does both. NumPy arrays are put into the
        dictionary as they are, not copied. None is an object array of shape ``()``.

    Args:
        target (dict): The dictionary that this serializer saves the objects to. If None, a new one
            is created.
        path (str): The base path in the hierarchy that this serializer indicates.

    Attributes:
        target (dict): The target dictionary.
        path (str): The base path.

    .. admonition:: Example

        >>> from chainer.serializers import DictionarySerializer
        >>> serializer = DictionarySerializer()
        >>> _ = serializer['l1']('b', 0.5)
        >>> serializer.target
        {'l1/b': array(0.5)}
    """

    def __init__(self, target: dict[str, HostArray] | None = None, path: str = "") -> None:
        self.target = {} if target is None else target
        self.path = path

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self.target)} entries, at {self.path!r}>"

    def __getitem__(self, key: str) -> DictionarySerializer:
        """Gets a child serializer.

        Args:
            key (str): Name of the child.
        """
        return DictionarySerializer(self.target, self.path + key.strip("/") + "/")

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
        key = self.path + key.lstrip("/")
        self.target[key] = to_host_array(key, value)
        return value


class NpzDeserializer(serializer_module.Deserializer):
    """Deserializer for NPZ format.

    This is the standard deserializer in Chainer. It can read an object serialized by
    :func:`save_npz`, by this release or another one.

    Args:
        npz: Result of :func:`numpy.load` for an NPZ file, or any mapping of keys to arrays.
        path (str): The base path that the deserialization starts from.
        strict (bool): If True, the deserializer raises an error when an expected value is not
            found. Otherwise, it ignores the value and skips deserialization.
        ignore_names (str, callable or list of them): Names of entries that are skipped: a full key
            such as ``'predictor/l1/W'``, a function of the full key that returns True where it is
            to be skipped, or a list of such strings and functions.

    .. admonition:: Example

        >>> import numpy as np
        >>> from chainer.serializers import NpzDeserializer
        >>> W = np.zeros(2)
        >>> _ = NpzDeserializer({'l1/W': np.array([1., 2.])})['l1']('W', W)
        >>> W
        array([1., 2.])
    """

    def __init__(
        self,
        npz: Mapping[str, Any],
        path: str = "",
        strict: bool = True,
        ignore_names: IgnoreNames = None,
    ) -> None:
        self.npz = npz
        self.path = path
        self.strict = strict
        self.ignore_names: IgnoreNames = [] if ignore_names is None else ignore_names
        self._ignores = _make_predicate(ignore_names)
        #: Set by load_npz(), which undoes a load that fails.
        self._journal: LoadJournal | None = None
        #: Names that were asked for, to find entries that nothing asked for.
        self._asked: set[str] = set()
        self._source = "the mapping"
        archive: Any = getattr(npz, "zip", None)  # of what numpy.load returns
        if archive is not None:
            self._source = describe_source(archive.fp)

    def __getitem__(self, key: str) -> NpzDeserializer:
        """Gets a child deserializer.

        Args:
            key (str): Name of the child.
        """
        child = NpzDeserializer.__new__(type(self))
        child.__dict__.update(self.__dict__)
        child.path = self.path + key.strip("/") + "/"
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
            ValueError: If the shape does not match, or ``ignore_names`` is not what it must be.
            TypeError: If the dtype cannot be converted.
        """
        key = self.path + key.lstrip("/")
        self._asked.add(key)
        if self._ignores(key):
            return value
        if key not in self.npz:
            if isinstance(self.npz, NpzArchive):
                self.npz.check_names()
            if not self.strict:
                return value
            raise KeyError(
                f"{key!r} is not in {self._source}{_what_is_there(key, self.npz)}; "
                "with strict=False missing entries are skipped"
            )
        if isinstance(self.npz, NpzArchive):
            check_declared(key, *self.npz.declared(key), value, self._source)
        stored = _get(self.npz, key)
        if self._journal is not None:
            # Arrays of an archive belong to this load: they can take the former contents.
            if isinstance(self.npz, NpzArchive) and self._journal.exchange(key, value, stored):
                return value
            self._journal.record(key, value)
        if type(value) is int and stored.dtype.kind == "f":
            # As in release 7. The object would get a float, or lose the fraction, otherwise.
            raise TypeError(
                f"Cannot safely deserialize from numpy array with dtype={stored.dtype} into a "
                f"variable of type {type(value)}.\n{key!r} in {self._source} is {stored}; "
                "initialize the attribute by a float if it is one"
            )
        return restore(key, stored, value, self._source)

    def describe(self, key: str) -> str:
        """Returns which entry of which file a name means.

        Args:
            key (str): Name of the entry.
        """
        return f"{self.path + key.lstrip('/')!r} in {self._source}"


def _what_is_there(key: str, npz: Mapping[str, Any]) -> str:
    """Returns what a file has instead of an entry that is missing, for the message."""
    names = list(npz)
    # A model is looked for in the snapshot of a trainer.
    inner = next((name for name in names if name.endswith("/" + key)), None)
    if inner is not None:
        return f", which has {inner!r}: give path={inner.removesuffix(key)!r}"
    shown = ", ".join(map(repr, names[:_MAX_SHOWN_NAMES]))
    more = ", ..." if len(names) > _MAX_SHOWN_NAMES else ""
    return f", which has {len(names)} entries ({shown}{more})" if names else ", which is empty"


def entry_prefix(path: str) -> str:
    """Returns what the names of all entries under a path begin with: ``'a/b/'`` for ``'/a/b'``.

    Args:
        path: The path; blank for all entries.
    """
    if not isinstance(path, str):
        raise wrong_type("path", "a str: names begin with it", path)
    path = path.lstrip("/")
    # Without the slash, the entries of ``l10`` would look like entries of ``l1``.
    return path if not path or path.endswith("/") else path + "/"


def _make_predicate(ignore_names: IgnoreNames) -> Callable[[str], bool]:
    """Returns a function that tells by its full name whether an entry is ignored."""
    if ignore_names is None:
        return lambda key: False
    entries: list[Any]
    if isinstance(ignore_names, str) or not isinstance(ignore_names, Iterable):
        entries = [ignore_names]
    else:
        entries = list(ignore_names)
    names = {entry for entry in entries if isinstance(entry, str)}
    functions = [entry for entry in entries if not isinstance(entry, str)]

    def is_ignored(key: str) -> bool:
        # Only here, not when the deserializer is made, as in earlier releases.
        for function in functions:
            if not callable(function):
                raise ValueError(
                    "ignore_names must be a string, a callable or a list of them, "
                    f"got {ignore_names!r}"
                )
        return key in names or any(function(key) for function in functions)

    return is_ignored


def _get(npz: Any, key: str) -> HostArray:
    if isinstance(npz, NpzArchive):
        return npz[key]
    try:
        return numpy.asarray(npz[key])
    except ValueError:
        # numpy.load refuses object arrays; the one that represents None is harmless.
        archive = getattr(npz, "zip", None)
        if archive is None:
            raise
        with archive.open(key + ".npy") as stream:
            head, _, body = stream.read(4096).partition(b"\n")
        if b"'shape': ()" in head and is_pickled_none(body):
            return numpy.array(None, dtype=object)
        raise


def serialize(obj: Serializable) -> dict[str, HostArray]:
    """Collects what an object serializes.

    Args:
        obj: Object to be serialized. It must support serialization protocol.

    Returns:
        dict: Arrays in host memory by name, see :class:`DictionarySerializer`.

    Raises:
        TypeError: If the object serializes something that is not an array, scalar, string or None.

    .. admonition:: Example

        >>> sorted(chainer.serializers.npz.serialize(L.Linear(2, 3)))
        ['W', 'b']
    """
    serializer = DictionarySerializer()
    serializer.save(obj)
    return serializer.target


def save_npz(
    file: FilePath | bytes | IO[bytes],
    obj: Serializable | dict[str, EntryValue],
    compression: bool = True,
) -> None:
    """Saves an object to the file in NPZ format.

    This is a short-cut function to save only one object into an NPZ file. A file given by name is
    replaced as a whole once everything is written, so that there never is an incomplete file.

    Args:
        file (str or file-like): Target file to write to. No suffix is appended to the name.
        obj: Object to be serialized. It must support serialization protocol. It may also be a
            dictionary of arrays, scalars, strings and None, such as :func:`npz.serialize
            <chainer.serializers.npz.serialize>` returns; that is saved as it is.
        compression (bool): If True, compression in the resulting zip file is enabled.

    Raises:
        TypeError: If something is to be saved that is not an array, scalar, string or None.
        OSError: If the file cannot be written.

    .. seealso:: :func:`chainer.serializers.load_npz`

    Example:
        >>> model = L.Linear(2, 1)
        >>> chainer.serializers.save_npz("model.npz", model)
        >>> with np.load("model.npz") as file:
        ...     print(sorted(file))
        ...
        ['W', 'b']
    """
    expect_flags("save_npz", compression=compression)
    if isinstance(obj, dict):
        arrays = {key: to_host_array(key, value) for key, value in obj.items()}
    else:
        arrays = serialize(obj)
    if isinstance(file, (str, bytes, os.PathLike)):
        with replacing(os.fsdecode(file)) as temporary:
            write_npz(temporary, arrays, compression)
    else:
        require_attribute("file", file, "write", "a path or a binary file object")
        write_npz(file, arrays, compression)


def load_npz(
    file: FilePath | bytes | IO[bytes],
    obj: Serializable,
    path: str = "",
    strict: bool = True,
    ignore_names: IgnoreNames = None,
    *,
    unused: Literal["warn", "error", "ignore"] = "warn",
) -> None:
    """Loads an object from the file in NPZ format.

    This is a short-cut function to load from an .npz file that contains only one object. Files of
    earlier releases can be read. Entries are read one by one, and only if the object asks for them.
    Before that their declared shape and dtype are compared with the object. If loading fails,
    the object gets its former values back. Besides the object, loading needs memory of its size.
    Nothing is ever unpickled.

    Args:
        file (str or file-like): File to be loaded.
        obj: Object to be deserialized. It must support serialization protocol.
        path (str): The path in the hierarchy of the serialized data under which the data is to be
            loaded, such as ``'updater/model:main/'``. The default behavior (blank) will load all
            data under the root path.
        strict (bool): If True, an error is raised when an expected value is not found in the given
            NPZ file. Otherwise, the value is ignored and its deserialization skipped.
        ignore_names (str, callable or list of them): See :class:`NpzDeserializer`.
        unused (str): What to do about entries under ``path`` that the object does not have:
            ``'warn'`` (if the object is a link), ``'error'`` or ``'ignore'``. They may be the
            weights of layers that the model lacks.

    Raises:
        FileFormatError: (a ValueError) If the file is damaged, truncated or not an NPZ file.
        KeyError: If a value is missing and ``strict`` is True, or the file has entries that the
            object does not have and ``unused`` is ``'error'``.
        ValueError: If the shape of a value does not match, or ``ignore_names`` is of another type.
        TypeError: If the dtype of a value cannot be converted.
        OSError: If the file cannot be read.

    .. seealso:: :func:`chainer.serializers.save_npz`

    Example:
        >>> model, other = L.Linear(2, 1), L.Linear(2, 1)
        >>> chainer.serializers.save_npz("model.npz", model)
        >>> chainer.serializers.load_npz("model.npz", other)
        >>> bool((other.W.array == model.W.array).all())
        True
    """
    if unused not in ("warn", "error", "ignore"):
        raise ValueError(f"unused must be 'warn', 'error' or 'ignore', got {unused!r}")
    path = entry_prefix(path)
    warn_of_position(obj, path)
    if isinstance(file, bytes):
        file = os.fsdecode(file)
    if not isinstance(file, (str, os.PathLike)):
        require_attribute("file", file, "read", "a path or a file object (before the object)")
    if not isinstance(file, (str, os.PathLike)) and not _is_seekable(file):
        # The directory of a zip archive is at its end.
        file = io.BytesIO(file.read())
    with NpzArchive(file) as archive:
        deserializer = NpzDeserializer(archive, path, strict, ignore_names)
        deserializer._source = archive.source
        with unchanged_on_error(obj, path) as journal:
            deserializer._journal = journal
            deserializer.load(obj)
            # Snapshots of trainers also have entries for extensions that a program has left out.
            if unused == "error" or (unused == "warn" and _has_own_entries(obj)):
                _report_unused(deserializer, unused == "error")
            if unused != "ignore":
                _report_ignored(deserializer)


def _has_own_entries(obj: Serializable) -> bool:
    """Returns whether a file should have no more entries: of a link, or an optimizer of one."""
    return isinstance(obj, Link) or isinstance(getattr(obj, "target", None), Link)


def _report_unused(deserializer: NpzDeserializer, as_error: bool) -> None:
    """Warns of entries of a file that nothing asked for, or raises KeyError."""
    names = [
        name
        for name in deserializer.npz
        if name.startswith(deserializer.path)
        and name not in deserializer._asked
        and not deserializer._ignores(name)
    ]
    if not names:
        return
    entries = "1 entry" if len(names) == 1 else f"{len(names)} entries"
    text = f"{deserializer._source} has {entries} that the object does not have: {_shown(names)}"
    if as_error:
        raise KeyError(text)
    warn_once(
        "unused entries",
        f"{deserializer._source} {len(names)}",
        f"{text}; unused='ignore' says nothing, unused='error' refuses them",
        stacklevel=3,
    )


def _report_ignored(deserializer: NpzDeserializer) -> None:
    """Warns of names to be ignored that nothing has, and of a file with nothing for the object."""
    asked, saved = deserializer._asked, deserializer.npz
    given = deserializer.ignore_names
    ignored = given if isinstance(given, (list, tuple)) else [given]
    names = [n for n in ignored if isinstance(n, str) and n not in asked and n not in saved]
    if names:
        warn_once(
            "ignore_names",
            f"{names}",
            f"ignore_names has {', '.join(map(repr, names))}, which neither the file nor the "
            f"object has; the object asks for {_shown(sorted(asked))}",
        )
    if asked and not any([name in saved for name in asked]):
        warn_once(
            "nothing loaded",
            f"{deserializer._source} {deserializer.path}",
            f"nothing was loaded: {deserializer._source} has none of the entries that the object "
            f"asks for, such as {min(asked)!r}",
        )


def _shown(names: list[str]) -> str:
    more = ", ..." if len(names) > _MAX_SHOWN_NAMES else ""
    return ", ".join(map(repr, names[:_MAX_SHOWN_NAMES])) + more


def _is_seekable(file: Any) -> bool:
    seekable = getattr(file, "seekable", None)
    return seekable is None or seekable()
