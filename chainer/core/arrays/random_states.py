"""Seeds and states of the global random generators of Python, NumPy and the backends."""

from __future__ import annotations

import base64
import json
import random
import sys
from collections.abc import Iterator
from typing import Any, cast

import numpy

from chainer.core.arrays.protocol import Backend
from chainer.core.registry import registries

#: numpy.random takes seeds below this number; other generators take more.
_SEED_LIMIT = 2**32


def seed(n: int) -> None:
    """Seeds every global random generator that Chainer draws from.

    These are Python's module ``random``, ``numpy.random``, and the generator of each backend whose
    library is imported, on its current device. CuPy's starts with a seed from Python's if it is
    used for the first time later. Iterators take the seed of their orders from ``numpy.random``
    when they are made.

    Args:
        n (int): The seed, from 0 to 2**32 - 1.

    Raises:
        TypeError: If ``n`` is not an integer.
        ValueError: If ``n`` is out of range.

    Example:
        >>> chainer.utils.seed(0)
        >>> first = np.random.rand()
        >>> chainer.utils.seed(0)
        >>> first == np.random.rand()
        True
    """
    if isinstance(n, bool) or not isinstance(n, (int, numpy.integer)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"n must be an integer, got {n!r}")
    n = int(n)
    if not 0 <= n < _SEED_LIMIT:
        raise ValueError(f"n must be from 0 to 2**32 - 1, got {n}")
    random.seed(n)
    numpy.random.seed(n)
    for backend in _backends_in_use():
        backend.seed_random(n, backend.device())


def random_states() -> numpy.ndarray[Any, Any]:
    """Returns the states of the generators that :func:`seed` seeds.

    The state of some generators, such as CuPy's, cannot be read. Such a generator draws a number
    and is seeded with it. The number is then its state.

    Returns:
        numpy.ndarray: A JSON text as an array of uint8, which files of all formats can store.
    """
    version, words, gauss = random.getstate()
    states = {
        "python": [version, _pack(numpy.asarray(words, numpy.uint32)), gauss],
        "numpy": numpy.random.get_state(legacy=False),
        "backends": {
            backend.name: backend.random_state(backend.device()) for backend in _backends_in_use()
        },
    }
    return numpy.frombuffer(json.dumps(states, default=_pack).encode(), numpy.uint8)


def set_random_states(states: numpy.ndarray[Any, Any]) -> None:
    """Sets the generators to what :func:`random_states` returned.

    Backends that are not in use now are left out.

    Args:
        states (numpy.ndarray): The states.
    """
    loaded = json.loads(states.tobytes().decode(), object_hook=_unpack)
    version, words, gauss = loaded["python"]
    random.setstate((version, tuple(words.tolist()), gauss))
    numpy.random.set_state(loaded["numpy"])
    for backend in _backends_in_use():
        state = loaded["backends"].get(backend.name)
        if state is not None:
            backend.set_random_state(state, backend.device())


def _backends_in_use() -> Iterator[Backend]:
    """Yields the backends with a generator of their own whose libraries are imported."""
    registries.backends.load_all()
    for name in registries.backends.names():
        backend = registries.backends.get(name)
        libraries = {kind.partition(":")[0] for kind in backend.array_types if type(kind) is str}
        if not all(library.partition(".")[0] in sys.modules for library in libraries):
            continue
        if backend.unavailable_reason() is not None:
            continue
        if backend.random(backend.device()) is not numpy.random:
            yield backend


def _pack(value: Any) -> Any:
    """Converts a NumPy array or number to a value that JSON can store."""
    if isinstance(value, numpy.generic):
        return cast("Any", value).item()
    # As decimal digits the numbers would take three times the space.
    data = base64.b64encode(value.tobytes()).decode()
    return {"array": data, "dtype": value.dtype.str}


def _unpack(entry: dict[str, Any]) -> Any:
    if entry.keys() == {"array", "dtype"}:
        array: Any = numpy.frombuffer(base64.b64decode(entry["array"]), entry["dtype"])
        return array
    return entry
