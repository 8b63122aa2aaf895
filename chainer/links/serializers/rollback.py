"""A load that fails leaves its target as it was."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import numpy

from chainer.core.arrays.backend import copyto, find_backend
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, HostArray
from chainer.links.link import Link
from chainer.links.serializer import Deserializer, EntryValue, Serializable

if TYPE_CHECKING:
    from chainer.core.autograd.parameter import Parameter

#: Elements that are swapped at a time: few enough for the cache of a processor.
_EXCHANGED_AT_ONCE = 1 << 16


class LoadJournal:
    """Remembers the values that a deserializer replaces, to put them back if loading fails.

    Arrays are copied to host memory before they are overwritten. Nothing is asked of the object
    that is loaded, so an object may be loaded whose present state cannot be saved.
    """

    def __init__(self) -> None:
        self._arrays: list[tuple[Array, HostArray]] = []
        #: Arrays whose contents were exchanged; after an interrupt, of the last one a part.
        self._exchanges: list[_Exchange] = []
        self._values: dict[str, EntryValue] = {}

    def record(self, key: str, value: EntryValue) -> None:
        """Remembers a value before it is replaced.

        Args:
            key: Full name of the entry.
            value: Value in the object: an array that will be overwritten, a scalar, a string or
                None.
        """
        # Of an entry that is loaded twice, the first value is the one from before.
        self._values.setdefault(key, value)
        backend = find_backend(value.__class__)
        if backend is not None:
            copy = backend.to_host(value)
            self._arrays.append((value, copy.copy() if copy is value else copy))

    def exchange(self, key: str, value: EntryValue, stored: HostArray) -> bool:
        """Swaps the contents of an array and of a file entry, so that no copy is needed.

        Args:
            key: Full name of the entry.
            value: Value in the object.
            stored: Value in the file. Afterwards it has the former contents of ``value``.

        Returns:
            bool: False if nothing was done: ``value`` is not an array of the same dtype in host
            memory, or it is not contiguous.
        """
        if type(value) is not numpy.ndarray or value.dtype != stored.dtype or not value.ndim:
            return False
        flags = value.flags
        if not (flags.c_contiguous and flags.writeable and stored.flags.c_contiguous):
            return False
        self._values.setdefault(key, value)
        # First, so that Ctrl-C in the middle leaves a record of the part that was exchanged.
        exchange = _Exchange(value.reshape(-1), stored.reshape(-1))
        self._exchanges.append(exchange)
        exchange.run()
        return True

    def undo(self, obj: Serializable, path: str) -> None:
        """Puts the remembered values back.

        Args:
            obj: Object that was being loaded.
            path: Path in the hierarchy at which loading began.
        """
        # Backwards, so that an array that was overwritten twice gets its first contents.
        for array, copy in reversed(self._arrays):
            copyto(array, copy)
        for exchange in reversed(self._exchanges):
            exchange.undo()
        if self._values:
            # Scalars are attributes of the object, which only its own method can set. The error
            # that is being handled is the one to report, not another one of the same object.
            with suppress(Exception):
                _PreviousValues(self._values, path).load(obj)


class _Exchange:
    """The exchange of the contents of two arrays of one axis, a window at a time.

    Args:
        ours: Array of the object.
        theirs: Array of the file.
    """

    __slots__ = ("_done", "_ours", "_theirs")

    def __init__(self, ours: HostArray, theirs: HostArray) -> None:
        self._ours = ours
        self._theirs = theirs
        #: Number of elements that were exchanged.
        self._done = 0

    def run(self) -> None:
        """Exchanges the elements."""
        ours, theirs = self._ours, self._theirs
        for start in range(0, ours.size, _EXCHANGED_AT_ONCE):
            window = slice(start, start + _EXCHANGED_AT_ONCE)
            former = ours[window].copy()
            done = start + len(former)
            # Without a call: Python looks for signals after calls, so all or nothing is done.
            ours[window] = theirs[window]
            theirs[window] = former
            self._done = done

    def undo(self) -> None:
        """Puts the former contents back."""
        done = self._done
        self._ours[:done] = self._theirs[:done]


class unchanged_on_error:
    """Context that puts an object back into its former state if the block raises.

    Parameters that were not initialized before become uninitialized again. The context is not a
    generator: if Ctrl-C arrives while a complete load is left, a generator would take the load back
    later, when it is destroyed.

    Args:
        obj: Object that is loaded in the block.
        path: Path in the hierarchy at which loading begins.
    """

    def __init__(self, obj: Serializable, path: str = "") -> None:
        self._obj = obj
        self._path = path
        self._journal = LoadJournal()
        # Programs may put arrays in the place of parameters.
        self._uninitialized = [
            param
            for param in _parameters(obj)
            if isinstance(param, Variable) and param.array is None
        ]

    def __enter__(self) -> LoadJournal:
        """Returns the journal in which the deserializer has to record what it replaces."""
        return self._journal

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            return
        self._journal.undo(self._obj, self._path)
        for param in self._uninitialized:
            if param.array is not None:
                # In this order: without an array, None would be the gradient that it begins with.
                param.grad = None
                param.array = None


class _PreviousValues(Deserializer):
    """Gives an object the values back that it had; other entries stay as they are."""

    def __init__(self, values: dict[str, EntryValue], path: str) -> None:
        self._values = values
        self._path = path

    def __getitem__(self, key: str) -> _PreviousValues:
        return _PreviousValues(self._values, self._path + key.strip("/") + "/")

    def __call__(self, key: str, value: EntryValue) -> Any:
        return self._values.get(self._path + key.lstrip("/"), value)


def _parameters(obj: Serializable) -> list[Parameter]:
    """Returns the parameters below a link, an optimizer, an updater or a trainer."""
    optimizers: list[Any] = [obj]
    updater = getattr(obj, "updater", obj)
    # Updaters of programs need not define the method. Other objects, such as mocks, may answer to
    # any name; they have no links.
    with suppress(NotImplementedError):
        found = getattr(updater, "get_all_optimizers", dict[str, Any])()
        if isinstance(found, dict):
            optimizers += cast("dict[str, Any]", found).values()
    links = [obj, *[getattr(optimizer, "target", None) for optimizer in optimizers]]
    return [param for link in links if isinstance(link, Link) for param in link.params()]
