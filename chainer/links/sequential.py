"""Sequential: layers called one after the other (public module ``chainer.sequential``)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.parameter import Parameter
from chainer.links.base_link import Link, check_mode
from chainer.links.chain import Chain, ChainList

if TYPE_CHECKING:
    from typing import Self


def _layer_name(layer: Any) -> str:
    """Name of a layer: the class of a link, the name of a function."""
    if isinstance(layer, Link):
        return type(layer).__name__
    while isinstance(layer, partial):
        layer = layer.func
    return getattr(layer, "__name__", type(layer).__name__)


class Sequential(ChainList):
    """Sequential link: a list of callables, each fed with what the one before returned.

    Layers are links, functions, function nodes such as ``F.Reshape((1, 3, 224, 224))`` or any
    callables. The object is a list as well: it can be indexed,
    sliced, extended, added to another one and repeated. ``print`` shows one layer per line.

    Args:
        layers: The layers in the order of their calls. One that returns a tuple feeds the next with
            several arguments.

    Example:
        >>> model = chainer.Sequential(L.Linear(10, 10), F.relu)
        >>> model = model + chainer.Sequential(L.Linear(10, 2), F.sigmoid)
        >>> model(np.zeros((3, 10), np.float32)).shape
        (3, 2)
        >>> len(model)
        4
    """

    _layers: list[Any]

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        self._layers = []
        for layer in layers:
            self.append(layer)

    def __call__(self, *x: Any) -> Any:
        """Feeds the input through the layers.

        Args:
            x: Input variables of the first layer.

        Returns:
            The output of the final layer (or the arguments if there is no layer).
        """
        return self.forward(*x)

    def forward(self, *x: Any) -> Any:
        """Feeds the input through the layers; see :meth:`__call__`."""
        for layer in self._layers:
            # A function node belongs to one graph: each call applies a copy.
            out = copy.copy(layer).apply(x) if isinstance(layer, FunctionNode) else layer(*x)
            x = out if isinstance(out, tuple) else (out,)
        return x if len(x) > 1 else x[0] if x else None

    # -- list interface ---------------------------------------------------------------------------

    def _check_layer(self, layer: Any) -> None:
        if not callable(layer):
            raise ValueError(
                "All elements of the argument should be callable. "
                f"But given {layer!r} is not callable."
            )

    # The numbers of child links are their names in files. Earlier releases number them in a way of
    # their own (all but the first in reversed order, mostly), which is kept so that files load.

    def _insert_child(self, i: int, link: Link) -> None:
        """Makes a link just inserted as the i-th layer a child."""
        position = 0
        if i > 0:
            before = (k for k in range(i) if isinstance(self._layers[k], Link))
            position = next(before, 0) + 1
        self._children.insert(position, link)
        self._rename()

    def _remove_child(self, layer: Any) -> None:
        for k, child in enumerate(self._children):
            if child is layer:
                del self._children[k]
                break
        self._rename()

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
            raise IndexError(f"index {i} is out of range for {len(self)} layers")
        i %= len(self)
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

    def __contains__(self, layer: Any) -> bool:
        return any(layer is own for own in self._layers)

    def __add__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(
                "add (+) operator supports only objects of Sequential class, "
                f"but {type(other)} is given."
            )
        return Sequential(*self._layers, *other._layers)

    def __iadd__(self, other: Iterable[Any]) -> Self:
        self.extend(other)
        return self

    def append(self, layer: Any) -> None:
        """Adds a layer to the tail of the list.

        Args:
            layer (Link or callable): The layer.
        """
        self.insert(len(self), layer)

    def add_link(self, link: Any) -> None:
        """Adds a layer to the tail of the list; same as :meth:`append`.

        Args:
            link (Link or callable): The layer.
        """
        self.append(link)

    def insert(self, i: int, layer: Any) -> None:
        """Inserts a layer before an index.

        Args:
            i (int): Position in the list.
            layer (Link or callable): The layer.
        """
        self._check_layer(layer)
        i = slice(i, None).indices(len(self))[0]  # as in lists
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

    def remove(self, layer: Any) -> None:
        """Removes the first occurrence of a layer.

        Raises:
            ValueError: If the layer is not in the list.
        """
        del self[self.index(layer)]

    def clear(self) -> None:
        """Removes all layers."""
        del self[:]

    def index(self, layer: Any, start: int | None = None, end: int | None = None) -> int:
        """Returns the position of a layer.

        Raises:
            ValueError: If the layer is not in the list (within the given range).
        """
        for i in range(len(self))[slice(start, end)]:
            if self._layers[i] is layer:
                return i
        raise ValueError(f"{_layer_name(layer)} is not in the Sequential")

    def count(self, layer: Any) -> int:
        """Returns how often a layer occurs."""
        return sum(own is layer for own in self._layers)

    def reverse(self) -> None:
        """Reverses the order of the layers."""
        self._replace_layers(self._layers[::-1])

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
        for i in reversed(range(len(self))):
            if _layer_name(self._layers[i]) == type_name:
                del self[i]

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
        check_mode(mode)
        replica = self._copy_members(mode)
        members = replica.__dict__
        layers: list[Any] = []
        copies: dict[int, list[Link]] = {}
        for layer in self._layers:
            if isinstance(layer, Link):
                layers.append(layer.copy(mode))
                copies.setdefault(id(layer), []).append(layers[-1])
            else:
                layers.append(_copy_layer(layer, mode))
        members["_layers"] = layers
        members["_children"] = [copies[id(child)].pop(0) for child in self._children]
        replica._rename()
        replica.name = None
        return replica

    def _copy_members(self, mode: str) -> Self:
        """Copies what a subclass adds to the list: parameters and other attributes."""
        if mode == "share":
            return super(ChainList, self)._copy_shallow()  # without the children
        replica = copy.copy(self)
        members = replica.__dict__
        own = {k: v for k, v in self.__dict__.items() if k not in ("_layers", "_children")}
        members.update(copy.deepcopy(own, {id(self): replica}))
        if mode == "init":
            for name in self._params:
                param = members[name]
                if isinstance(param, Parameter) and param.array is not None:
                    param.initialize(param.shape)
        return replica

    def __getstate__(self) -> dict[str, Any]:
        for i, layer in enumerate(self._layers):
            if getattr(layer, "__name__", None) == "<lambda>":
                raise ValueError(
                    "Sequential which has at least one lambda function as its member cannot be "
                    f"pickled (layer {i}); use functools.partial or a named function instead"
                )
        return self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __copy__(self) -> Self:
        replica = object.__new__(type(self))
        replica.__dict__.update(self.__dict__)
        return replica

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        replica = object.__new__(type(self))
        memo[id(self)] = replica
        replica.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return replica

    def __str__(self) -> str:
        return "".join(f"{i}\t{_describe(layer)}\n" for i, layer in enumerate(self._layers))

    def __repr__(self) -> str:
        names = ", ".join(map(_layer_name, self._layers))
        return f"Sequential({names})"


def _copy_layer(layer: Callable[..., Any], mode: str) -> Callable[..., Any]:
    return layer if mode == "share" else copy.deepcopy(layer)


def _describe(layer: Any) -> str:
    """One line on a layer: its name, and parameters with their shapes."""
    name = _layer_name(layer)
    if isinstance(layer, Sequential):
        return f"{name}\twhich has {len(layer)} layers"
    if isinstance(layer, Chain):
        return f"{name}\tThe structure behind a Chain is determined at runtime."
    if isinstance(layer, ChainList):
        return f"{name}\twhich has {len(layer)} links"
    if isinstance(layer, Link):
        shapes = [
            f"{path[1:]}{param.shape if param.array is not None else '(None)'}\t"
            for path, param in layer.namedparams()
        ]
        return f"{name}\t{''.join(shapes)}"
    if isinstance(layer, partial):
        return str(layer)
    return name
