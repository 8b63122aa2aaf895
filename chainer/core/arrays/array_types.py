"""Classes of arrays, for ``isinstance``, and whether arrays may be used together."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from chainer.core.arrays.lookup import HOST_FAMILY, array_classes, find_backend
from chainer.core.arrays.protocol import Backend
from chainer.core.registry import registries
from chainer.core.registry.registry import EntryLoadError
from chainer.core.typing import Array


def get_array_types() -> tuple[type, ...]:
    """Returns the classes of the arrays of all backends that work on this machine.

    ``numpy.ndarray`` comes first. The call imports the libraries of Chainer's own backends. It does
    not import libraries of plugins: as long as such a library is not imported, no array of its
    backend exists.

    Returns:
        tuple of type: The classes.

    Example:
        >>> isinstance(np.zeros(2), chainer.get_array_types())
        True
    """
    return _types_of(_available())


def get_cpu_array_types() -> tuple[type, ...]:
    """Returns the classes of the arrays in host memory that may be mixed in one call.

    Returns:
        tuple of type: ``numpy.ndarray`` and, where iDeep works, ``ideep4py.mdarray``.

    Example:
        >>> np.ndarray in chainer.get_cpu_array_types()
        True
    """
    return _types_of(backend for backend in _available() if backend.family == HOST_FAMILY)


def is_arrays_compatible(arrays: Iterable[Array | None]) -> bool:
    """Returns whether arrays may be used together in one call.

    Args:
        arrays: Arrays of any backends; None is ignored.

    Returns:
        bool: True if all objects are arrays and their backends belong to one family, so that all
            are in host memory or all are CuPy arrays. False if something is not an array.

    Example:
        >>> chainer.is_arrays_compatible([np.zeros(2), None, np.ones(3)])
        True
    """
    families: set[str | None] = set()
    for array in arrays:
        if array is not None:
            backend = find_backend(array.__class__)
            families.add(None if backend is None else backend.family)
    return None not in families and len(families) <= 1


def _available() -> Iterator[Backend]:
    """Yields the backends that work on this machine, NumPy's first."""
    from chainer.core.arrays.backend_status import backend_status  # `import chainer` is faster

    registries.backends.load_all()
    for name in sorted(registries.backends.names(), key=lambda name: name != "numpy"):
        if not _may_have_arrays(name):
            continue
        # A broken plugin is reported when its backend is used.
        status = backend_status(name)
        if status.backend is not None and status.reason is None:
            yield status.backend


def _may_have_arrays(name: str) -> bool:
    """Returns whether arrays of a backend may exist.

    They may for Chainer's own backends, and for others once their library is imported.
    """
    entry = registries.backends.entry(name)
    if entry.provenance is not None and entry.provenance.distribution == "chainer":
        return True
    try:
        kinds = entry.load().array_types
    except EntryLoadError:
        return False
    libraries = [kind.partition(":")[0].partition(".")[0] for kind in kinds if type(kind) is str]
    return all([library in sys.modules for library in libraries])


def _types_of(backends: Iterable[Backend]) -> tuple[type, ...]:
    return tuple(cls for backend in backends for cls in array_classes(backend))
