"""Serialization in the format safetensors, which other frameworks read as well."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO

import numpy

from chainer.core.typing import FilePath, HostArray
from chainer.core.utils.atomic_file import replacing
from chainer.core.version import __version__
from chainer.links.serializer import Serializable
from chainer.links.serializers.file_format import FileFormatError, describe_source
from chainer.links.serializers.npz import (
    IgnoreNames,
    NpzDeserializer,
    entry_prefix,
    serialize,
)
from chainer.links.serializers.npz_archive import is_none
from chainer.links.serializers.positions import resolve_positions, warn_of_position
from chainer.links.serializers.rollback import unchanged_on_error
from chainer.links.serializers.safetensors_archive import read_safetensors, write_safetensors

#: Name of the metadata with the values that are not arrays of numbers.
_OTHERS = "chainer_values"


def save_safetensors(
    file: FilePath, obj: Serializable, metadata: Mapping[str, str] | None = None
) -> None:
    """Saves an object to a file in the format safetensors.

    It uses the same names as :func:`save_npz`. The file has the class of the object and the version
    of Chainer as metadata. An existing file is replaced only once everything is written.

    Args:
        file (str): Path of the file.
        obj: Object to be serialized. It must support serialization protocol.
        metadata (dict): Further texts by name.

    Raises:
        TypeError: If something is to be saved that the format has no type for.
        OSError: If the file cannot be written.

    .. seealso:: :func:`chainer.serializers.load_safetensors`

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), 'model.safetensors')
        >>> model, other = L.Linear(2, 3), L.Linear(2, 3)
        >>> chainer.serializers.save_safetensors(path, model)
        >>> chainer.serializers.load_safetensors(path, other)
        >>> bool((model.W.array == other.W.array).all())
        True
    """
    arrays: dict[str, HostArray] = {}
    others: dict[str, str | None] = {}
    for key, array in serialize(obj).items():
        if is_none(array):
            others[key] = None
        elif array.dtype.kind in "US":
            others[key] = str(array)
        else:
            arrays[key] = array
    texts = {
        "format": "np",
        "framework": "chainer",
        "chainer_version": __version__,
        "class": f"{type(obj).__module__}.{type(obj).__qualname__}",
        **(metadata or {}),
    }
    if others:
        texts[_OTHERS] = json.dumps(others)
    with replacing(file) as temporary:
        write_safetensors(temporary, arrays, texts)


def load_safetensors(
    file: FilePath | IO[bytes],
    obj: Serializable,
    path: str = "",
    strict: bool = True,
    ignore_names: IgnoreNames = None,
    names: Mapping[str, str] | None = None,
) -> None:
    """Loads an object from a file in the format safetensors.

    Tensors are mapped into memory and copied one by one, so that no second copy of the model
    exists. If loading fails, the object gets its former values back.

    Args:
        file (str or file object): The file.
        obj: Object to be deserialized. It must support serialization protocol.
        path (str): The path in the hierarchy of the file under which the data is.
        strict (bool): If True, an error is raised when a value is not found.
        ignore_names (str, callable or list of them): Names of entries that are skipped.
        names (dict): Name in the object -> name in the file, for files of other frameworks. Entries
            that it lacks have the same name. ``[1]/W`` denotes the second layer of a Sequential,
            whose links have names in another order than their calls.

    Raises:
        FileFormatError: (a ValueError) If the file is damaged, truncated or of another format.
        KeyError: If a value is missing and ``strict`` is True.
        ValueError: If the shape of a value does not match, or ``names`` counts the links of a
            Sequential from 0.
        OSError: If the file cannot be read.

    .. seealso:: :func:`chainer.serializers.save_safetensors`

    Example:
        >>> model, other = L.Linear(2, 1), L.Linear(2, 1)
        >>> chainer.serializers.save_safetensors("model.safetensors", model)
        >>> chainer.serializers.load_safetensors("model.safetensors", other)
        >>> bool((other.W.array == model.W.array).all())
        True
    """
    path = entry_prefix(path)
    warn_of_position(obj, path)
    arrays, metadata = read_safetensors(file)
    for key, value in _others(metadata, describe_source(file)).items():
        arrays[key] = numpy.array(value, dtype=object if value is None else None)
    # All at once: a name of the file may be a name of another entry of the object.
    arrays |= {
        own: arrays[theirs]
        for own, theirs in resolve_positions(obj, names or {}).items()
        if theirs in arrays
    }
    deserializer = NpzDeserializer(arrays, path, strict, ignore_names)
    deserializer._source = describe_source(file)
    with unchanged_on_error(obj, path) as journal:
        deserializer._journal = journal
        deserializer.load(obj)


def _others(metadata: Mapping[str, str], source: str) -> dict[str, str | None]:
    """Returns the values of a file that are not arrays of numbers."""
    try:
        values = json.loads(metadata.get(_OTHERS, "{}"))
        return {key: None if value is None else str(value) for key, value in values.items()}
    except (ValueError, AttributeError) as error:
        raise FileFormatError(f"{source} has metadata that cannot be read: {error}") from error
