"""Which backend the arrays of a class belong to."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.lazy import resolve
from chainer.core.registry import registries
from chainer.core.registry.registry import Entry, EntryLoadError
from chainer.core.typing import Array

if TYPE_CHECKING:
    from chainer.core.arrays.protocol import Backend

#: Family of the backends whose arrays are in host memory and may be mixed in one call.
HOST_FAMILY = "host"

# As Any: pyright calls an instance of numpy.generic "partially unknown".
_NumpyScalar: Any = numpy.generic

# Results of find_backend(). Looking up a class takes microseconds, and every operation does it.
_by_class: dict[type[Any], Backend] = {}
_classes_without_backend: set[type[Any]] = set()

_reported: set[Entry] = set()


#: Backends of array classes that no plugin names, see :func:`add_private_backend`.
_private: dict[type[Any], Backend] = {}


def _forget(*_: object) -> None:
    # New tables: a thread that is in find_backend() writes its result, which may be outdated, to
    # the tables that it began with.
    global _by_class, _classes_without_backend
    _by_class = dict(_private)
    _classes_without_backend = set()


registries.backends.add_listener(_forget)


def add_private_backend(cls: type[Any], backend: Backend) -> None:
    """Registers a backend for arrays of a class, but not under a name.

    Such a backend serves temporary arrays, such as the arrays of a recording.

    Args:
        cls: Class of the arrays; not one of its subclasses.
        backend: The backend.
    """
    _private[cls] = _by_class[cls] = backend


def get_backend(name: str) -> Backend:
    """Returns a backend by name.

    Args:
        name: Name of the backend, such as ``'numpy'``.

    Raises:
        LookupError: If no installed plugin supplies a backend of this name. The message names a
            distribution that supplies it, if one is known.

    Example:
        >>> chainer.backend.get_backend("numpy").xp is np
        True
    """
    return registries.backends.get(name)


def find_backend(cls: type[Any]) -> Backend | None:
    """Returns the backend whose arrays are of a class, or None.

    If several backends know a base of the class, the nearest base decides.

    Args:
        cls: The class.

    Example:
        >>> chainer.backend.find_backend(np.ndarray).name
        'numpy'
        >>> chainer.backend.find_backend(list) is None
        True
    """
    backend = _by_class.get(cls)
    if backend is not None or cls in _classes_without_backend:
        return backend
    if cls.__module__ == "builtins":
        _classes_without_backend.add(cls)
        return None
    found, missing = _by_class, _classes_without_backend
    backend, distance = _search(cls)
    # A class that is not itself registered may belong to a plugin that is not loaded yet. Loading
    # all plugins takes time, and this function is also called for initializers, labels and the
    # like. So the plugins are loaded only for classes that look like arrays.
    if distance > 0 and hasattr(cls, "shape") and not issubclass(cls, _NumpyScalar):
        registries.backends.load_all()
        found, missing = _by_class, _classes_without_backend
        backend, _ = _search(cls)
    if backend is None:
        missing.add(cls)
    else:
        found[cls] = backend
    return backend


def backends_in_use() -> list[Backend]:
    """Returns the backends whose arrays have been seen in this process."""
    return list({id(backend): backend for backend in list(_by_class.values())}.values())


def backend_of(array: Array) -> Backend:
    """Returns the backend of an array.

    Args:
        array: The array.

    Raises:
        TypeError: If the object is not an array of a known backend.

    Example:
        >>> chainer.backend.backend_of(np.zeros(3)).name
        'numpy'
    """
    backend = _by_class.get(array.__class__) or find_backend(array.__class__)
    if backend is None:
        raise TypeError(not_an_array_message(array))
    return backend


def is_array(obj: object) -> bool:
    """Returns whether an object is an array of a known backend.

    Args:
        obj: Any object.

    Example:
        >>> chainer.backend.is_array(np.zeros(2)), chainer.backend.is_array([0.0])
        (True, False)
    """
    return find_backend(obj.__class__) is not None


def is_array_type(candidate: type | str, cls: type) -> bool:
    """Returns whether arrays of class ``cls`` count as arrays of another class.

    They do if ``cls`` derives from it, unless another backend has a nearer base of ``cls``.

    Args:
        candidate: The other class, or its lazy name ``'module:Class'``.
        cls: Class of the arrays.

    Example:
        >>> chainer.backend.is_array_type("numpy:ndarray", np.ndarray)
        True
    """
    distance = _distance(candidate, cls)
    return distance is not None and distance <= _search(cls)[1]


def array_classes(backend: Backend) -> tuple[type, ...]:
    """Returns the classes of the arrays of a backend; imports the libraries that define them.

    Args:
        backend: A backend that is available.
    """
    return tuple([_load_class(candidate) for candidate in backend.array_types])


def _load_class(candidate: type | str) -> type:
    try:
        return resolve(candidate)
    except AttributeError:
        # The class is not an attribute of the module of its lazy name, see _distance().
        package, _, name = str(candidate).partition(":")
        for module in list(sys.modules):
            cls = getattr(sys.modules[module], name, None) if module.startswith(package) else None
            if isinstance(cls, type) and _distance(candidate, cls) == 0:
                return cls
        raise


def not_an_array_message(obj: object) -> str:
    """Returns the text of the error raised for an object that is not an array.

    Args:
        obj: The object.

    Example:
        >>> "list" in chainer.backend.not_an_array_message([1.0])
        True
    """
    text = f"numpy.ndarray or cuda.ndarray are expected.\nActual: {type(obj)}"
    cls = type(obj)
    if hasattr(cls, "array") and hasattr(cls, "backward"):
        text += "\nGive its attribute 'array'."  # a Variable; a Series of pandas has 'array', too
    elif isinstance(obj, (int, float, list, tuple)) or hasattr(cls, "__array__"):
        # Columns of pandas, tensors of other libraries and NumPy's scalars have __array__.
        text += "\nConvert it by numpy.asarray(x, numpy.float32); ids and labels to numpy.int32."
    return text


def _search(cls: type[Any]) -> tuple[Backend | None, int]:
    """Returns the backend of the nearest base of ``cls``, and how many classes are before it."""
    best: Backend | None = None
    nearest = len(cls.__mro__)
    for backend in _importable():
        for candidate in backend.array_types:
            distance = _distance(candidate, cls)
            if distance is not None and distance < nearest:
                best, nearest = backend, distance
    return best, nearest


def _importable() -> Iterator[Backend]:
    """Yields the registered backends. One that cannot be imported is reported once and left out.

    A broken plugin must not prevent the use of arrays that have nothing to do with it.
    """
    for entry in registries.backends.entries():
        try:
            yield entry.load()
        except EntryLoadError as error:
            if entry not in _reported:
                _reported.add(entry)
                warnings.warn(f"backend is not used: {error}", RuntimeWarning, stacklevel=2)


def _distance(candidate: type | str, cls: type) -> int | None:
    """Returns the position of a class among the bases of ``cls``: 0 for ``cls`` itself, or None.

    A class is given by itself or by its lazy name, so that its library need not be imported. A
    library may define its class in a submodule of the module that the name mentions.
    """
    mro = cls.__mro__
    if isinstance(candidate, type):
        return mro.index(candidate) if candidate in mro else None
    module, _, name = candidate.partition(":")
    for distance, base in enumerate(mro):
        if base.__qualname__ == name and (
            base.__module__ == module or base.__module__.startswith(module + ".")
        ):
            return distance
    return None
