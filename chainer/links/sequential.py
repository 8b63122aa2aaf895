"""Sequential: layers called one after the other (public module ``chainer.sequential``)."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.parameter import Parameter
from chainer.links.chain_list import ChainList
from chainer.links.errors import LayerIndexError
from chainer.links.link import Link, check_copy_mode

if TYPE_CHECKING:
    from typing import Self


def _layer_name(layer: Callable[..., Any]) -> str:
    """Returns the class name of a link, the name of a function."""
    if isinstance(layer, Link):
        return type(layer).__name__
    while isinstance(layer, partial):
        layer = layer.func
    return getattr(layer, "__name__", type(layer).__name__)


def _is_lambda(layer: Callable[..., Any]) -> bool:
    return getattr(layer, "__name__", None) == "<lambda>"


class Sequential(ChainList):
    """Sequential link: a list of callables, each called with the result of the previous one.

    Layers are links, functions, function nodes such as ``F.Reshape((1, 3, 224, 224))`` or any
    callables. The object is a mutable sequence of its layers, and it can be added to another one
    and repeated. ``print`` shows one layer per line.

    Args:
        layers: The layers in the order of their calls. If one returns a tuple, the next one is
            called with its elements as arguments.

    Example:
        >>> model = chainer.Sequential(L.Linear(10, 10), F.relu)
        >>> model = model + chainer.Sequential(L.Linear(10, 2), F.sigmoid)
        >>> model(np.zeros((3, 10), np.float32)).shape
        (3, 2)
        >>> len(model)
        4
    """

    _layers: list[Any]

    def __init__(self, *layers: Callable[..., Any]) -> None:
        super().__init__()
        self._layers = []
        for layer in layers:
            self.append(layer)

    def forward(self, *x: Any) -> Any:
        """Calls the layers one after the other.

        Args:
            x: Inputs of the first layer.

        Returns:
            The result of the last layer.

        Raises:
            RuntimeError: If there is no layer.
        """
        if not self._layers:
            raise RuntimeError("Sequential does not have any layer.")
        out: Any = x
        for layer in self._layers:
            # A function node belongs to one graph: each call applies a copy.
            out = copy.copy(layer).apply(x) if isinstance(layer, FunctionNode) else layer(*x)
            x = out if isinstance(out, tuple) else (out,)
        # A function node always returns a tuple.
        return out[0] if isinstance(self._layers[-1], FunctionNode) and len(out) == 1 else out

    # -- list interface ---------------------------------------------------------------------------

    def _check_layer(self, layer: object) -> None:
        if isinstance(layer, type) and issubclass(layer, Link):
            raise ValueError(
                f"layers must be links, got the class {layer.__name__}: write "
                f"{layer.__name__}(...), with its sizes"
            )
        if not callable(layer):
            raise ValueError(
                "All elements of the argument should be callable. "
                f"But given {layer!r} is not callable."
                + (" Write Sequential(*layers)." if isinstance(layer, (list, tuple)) else "")
            )

    # The numbers of child links are their names in files. Earlier releases insert a child behind
    # the first link that precedes it among the layers, so that appended links get numbers in
    # reversed order (all but the first one). The rule is kept so that files load.

    def _insert_child(self, i: int, link: Link) -> None:
        """Makes a link just inserted as the i-th layer a child."""
        position = 0
        if i > 0:
            before = (k for k in range(i) if isinstance(self._layers[k], Link))
            position = next(before, 0) + 1
        self._children.insert(position, link)
        self._rename()

    # A link may be a layer twice. It then is a child twice, and either entry may be removed. The
    # children before it keep their names, which differ from their numbers if they are layers of
    # another object, too.

    def _remove_child(self, layer: object) -> None:
        for k, child in enumerate(self._children):
            if child is layer:
                del self._children[k]
                self._rename(k)
                return

    def _replace_layers(self, layers: list[Any]) -> None:
        """Makes this object as if the layers had been appended to an empty one."""
        for layer in layers:
            self._check_layer(layer)
        self._layers = []
        self._children.clear()
        for layer in layers:
            self.append(layer)

    def __len__(self) -> int:
        """Returns the number of layers."""
        return len(self._layers)

    def __getitem__(self, i: Any) -> Any:
        """Returns the layer at given index.

        Args:
            i (int or slice): Index of the layer in the list.

        Returns:
            The layer; a list of layers for a slice.
        """
        return self._layers[i]

    def __setitem__(self, i: Any, layer: Any) -> None:
        if isinstance(i, slice):
            layers = self._layers.copy()
            layers[i] = layer
            self._replace_layers(layers)
            return
        self._check_layer(layer)
        if not -len(self) <= i < len(self):
            raise LayerIndexError(f"index {i} is out of range for {len(self)} layers")
        i %= len(self)
        if layer is not self._layers[i]:
            del self[i]
            self.insert(i, layer)

    def __delitem__(self, i: Any) -> None:
        if isinstance(i, slice):
            for k in sorted(range(len(self))[i], reverse=True):
                del self[k]
            return
        self._remove_child(self._layers.pop(i))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._layers)

    def __reversed__(self) -> Iterator[Any]:
        return reversed(self._layers)

    def __contains__(self, value: object) -> bool:
        return any(value is layer for layer in self._layers)

    def __add__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(
                "add (+) operator supports only objects of Sequential class, "
                f"but {type(other)} is given."
            )
        return Sequential(*self._layers, *other._layers)

    def __iadd__(self, other: Iterable[Any]) -> Self:
        if not isinstance(other, Sequential):
            raise ValueError(
                "add (+) operator supports only objects of Sequential class, "
                f"but {type(other)} is given."
            )
        self.extend(other)
        return self

    def append(self, layer: Callable[..., Any]) -> None:
        """Adds a layer to the tail of the list.

        Args:
            layer (Link or callable): The layer.
        """
        self.insert(len(self), layer)

    def insert(self, i: int, layer: Callable[..., Any]) -> None:
        """Inserts a layer before an index.

        Args:
            i (int): Position in the list, ``-len`` to ``len``.
            layer (Link or callable): The layer.

        Raises:
            IndexError: If the index is out of range.
            ValueError: If the layer is not callable.
        """
        if not -len(self) <= i <= len(self):
            raise IndexError(f"Index out of range: {i}")
        self._check_layer(layer)
        i = slice(i, None).indices(len(self))[0]  # counts a negative index from the end
        self._layers.insert(i, layer)
        if isinstance(layer, Link):
            self._insert_child(i, layer)

    def extend(self, sequential: Iterable[Any]) -> None:
        """Adds the layers of another :class:`Sequential` (or of an iterable) to the tail."""
        for layer in list(sequential):
            self.append(layer)

    def pop(self, i: int = -1) -> Any:
        """Removes the layer at an index and returns it."""
        layer = self._layers[i]
        del self[i]
        return layer

    def remove(self, layer: Callable[..., Any]) -> None:
        """Removes the first occurrence of a layer.

        Raises:
            ValueError: If the layer is not in the list.
        """
        del self[self.index(layer)]

    def clear(self) -> None:
        """Removes all layers."""
        del self[:]

    def index(
        self, layer: Callable[..., Any], start: int | None = None, end: int | None = None
    ) -> int:
        """Returns the position of a layer.

        Raises:
            ValueError: If the layer is not in the list (within the given range).
        """
        for i in range(len(self))[slice(start, end)]:
            if self._layers[i] is layer:
                return i
        raise ValueError(f"{_layer_name(layer)} is not in the Sequential")

    def count(self, layer: object) -> int:
        """Returns how often a layer occurs."""
        return sum(own is layer for own in self._layers)

    # -- layers by name ---------------------------------------------------------------------------

    def count_by_layer_type(self, type_name: str) -> int:
        """Counts the layers of a class or function name.

        Args:
            type_name (str): Name of a class of links or of a function: ``'Linear'``, ``'relu'``,
                ...
        """
        return sum(_layer_name(layer) == type_name for layer in self._layers)

    def remove_by_layer_type(self, type_name: str) -> None:
        """Removes the layers of a class or function name.

        Args:
            type_name (str): Name of a class of links or of a function: ``'Linear'``, ``'relu'``,
                ...
        """
        i = 0
        while i < len(self):
            if _layer_name(self._layers[i]) == type_name:
                del self[i]
            else:
                i += 1

    def flatten(self) -> Sequential:
        """Returns a :class:`Sequential` without nested ones.

        Example:
            >>> a = chainer.Sequential(L.Linear(None, 10), F.relu)
            >>> a.append(chainer.Sequential(L.Linear(None, 10), F.relu))
            >>> len(a), len(a.flatten())
            (3, 4)
        """
        flat = Sequential()
        for layer in self._layers:
            if isinstance(layer, Sequential):
                flat.extend(layer.flatten())
            else:
                flat.append(layer)
        return flat

    # -- link interface ---------------------------------------------------------------------------

    def copy(self, mode: str = "share") -> Self:
        """Copies the list and its links; see :meth:`chainer.Link.copy`.

        Args:
            mode (str): ``'init'``, ``'copy'`` or ``'share'``.
        """
        check_copy_mode(mode)
        # Layers are copied one by one, because callables that are not links may not be copied
        # deeply, and the children must be the copies of the layers.
        replica = self._copy_members(mode)
        members = vars(replica)
        members["_layers"] = []
        members["_children"] = []
        for layer in self._layers:
            # A function is its own copy; an object that is callable may have a state.
            own = layer.copy(mode) if isinstance(layer, Link) else copy.copy(layer)
            # The children get the order of appended layers, as in files of earlier releases.
            Sequential.insert(replica, len(members["_layers"]), own)
        replica.name = None
        return replica

    def _copy_members(self, mode: str) -> Self:
        """Copies what a subclass adds to the list: parameters and other attributes."""
        if mode == "share":
            return super(ChainList, self)._copy_shallow()  # without the children
        replica = copy.copy(self)
        members = vars(replica)
        own = {k: v for k, v in vars(self).items() if k not in ("_layers", "_children")}
        members.update(copy.deepcopy(own, {id(self): replica}))
        if mode == "init":
            for name in self._params:
                param = members[name]
                if isinstance(param, Parameter) and param.array is not None:
                    param.initialize(param.shape)
        return replica

    # copy.copy and copy.deepcopy would use __getstate__, which refuses lambdas. They can be copied.

    def __getstate__(self) -> dict[str, Any]:
        for i, layer in enumerate(self._layers):
            if _is_lambda(layer):
                raise ValueError(
                    "Sequential which has at least one lambda function as its member cannot be "
                    f"pickled (layer {i}); use functools.partial or a named function instead"
                )
        return vars(self)

    def __copy__(self) -> Self:
        replica = object.__new__(type(self))
        vars(replica).update(vars(self))
        return replica

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        replica = object.__new__(type(self))
        memo[id(self)] = replica
        vars(replica).update(copy.deepcopy(vars(self), memo))
        return replica

    def copyparams(self, link: Link, copy_persistent: bool = True) -> None:
        """Copies all parameters from another :class:`Sequential`, layer by layer.

        Args:
            link (Sequential): Source, of the same structure.
            copy_persistent (bool): Whether persistent values are copied, too.

        Raises:
            ValueError: If ``link`` is not a :class:`Sequential`.
        """
        if not isinstance(link, Sequential):
            raise ValueError(
                "Objects other than Sequential object cannot be copied to a Sequential object."
            )
        super().copyparams(link, copy_persistent)

    def _pairs(self, link: Link) -> Iterator[tuple[Link, Link]]:
        # Layers and children are numbered differently: functions are layers, but no children.
        for i, layer in enumerate(self._layers):
            if not isinstance(layer, Link):
                continue
            partner = link[i]  # type: ignore[index]
            if not isinstance(partner, Link):
                raise KeyError(
                    f"layer {i} of the source is {_layer_name(partner)}, which has no parameters; "
                    f"here it is {_layer_name(layer)}"
                )
            yield layer, partner

    def _printed_children(self) -> Iterator[tuple[str, str]]:
        for i, layer in enumerate(self._layers):
            yield str(i), _source(layer) if _is_lambda(layer) else str(layer)

    def __repr__(self) -> str:
        names = ", ".join(map(_layer_name, self._layers))
        return f"{type(self).__name__}({names})"


def _source(function: Callable[..., Any]) -> str:
    """Returns the source text of the lines that define a lambda, or its ``str``."""
    try:
        return inspect.getsource(function).strip().rstrip(",")
    except (OSError, TypeError):  # made by eval or in an interpreter
        return str(function)
