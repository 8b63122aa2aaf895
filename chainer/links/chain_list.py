"""Chain lists: links whose children are the elements of a list."""

from __future__ import annotations

from collections.abc import Iterator, MutableSequence
from typing import TYPE_CHECKING, Any, cast

from chainer.core.autograd.parameter import Parameter
from chainer.links.composite import Composite
from chainer.links.link import Link

if TYPE_CHECKING:
    from typing import Self


class ChainList(Composite, MutableSequence[Any]):
    """Composable link with list-like interface.

    The object is a mutable sequence of links: it can be indexed, sliced, extended and so on. The
    name of a child is its position.

    Args:
        links: Child links.

    Example:
        >>> model = chainer.ChainList(L.Linear(2, 3), L.Linear(3, 4))
        >>> len(model), [path for path, _ in model.namedparams()]
        (2, ['/0/W', '/0/b', '/1/W', '/1/b'])
        >>> del model[0]
        >>> model[0].name
        '0'
    """

    _children: list[Link]

    def __init__(self, *links: Link) -> None:
        super().__init__()
        self._children = []
        for link in links:
            self.add_link(link)

    # Methods that change the list end in _rename(), because the name of a child in files is its
    # position. MutableSequence defines the other ones by these.

    def __setattr__(self, name: str, value: object) -> None:
        if self._within_init_scope and isinstance(value, Link):
            raise TypeError(
                'cannot register a new link within a "with chainlist.init_scope():" block.'
            )
        super().__setattr__(name, value)

    def __getitem__(self, index: Any) -> Any:
        """Returns the child at given index.

        Args:
            index (int or slice): Index of the child in the list.

        Returns:
            Link: The index-th child link, or a list of links for a slice.
        """
        return self._children[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            # The values may come from a generator; all are checked before the list changes.
            links = list(value)
            for link in links:
                self._check_link(link)
            self._children[index] = links
            self._rename()
        elif hasattr(index, "__index__"):
            self._check_link(value)
            self._children[index] = value
            value.name = str(range(len(self._children))[index])
        else:
            raise TypeError(
                f"ChainList indices must be integers or slices, not {type(index).__name__}"
            )

    def __delitem__(self, index: Any) -> None:
        del self._children[index]
        self._rename()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._children)

    def __reversed__(self) -> Iterator[Any]:
        return reversed(self._children)

    def __contains__(self, value: object) -> bool:
        return any(value is child for child in self._children)

    def __len__(self) -> int:
        """Returns the number of children."""
        return len(self._children)

    def _check_link(self, link: object) -> None:
        if not isinstance(link, Link):
            raise TypeError(f"children of a ChainList must be links, got {type(link).__name__}")

    def _rename(self, start: int = 0) -> None:
        for i, link in enumerate(self._children[start:], start):
            link.name = str(i)

    def append(self, link: Link | None = None, *, value: Link | None = None) -> None:
        """Registers a child link and adds it to the tail of the list.

        Args:
            link (Link): The link.
            value (Link): The link, by the name of the argument in release 7.
        """
        child = value if link is None else link
        self._check_link(child)
        self.insert(len(self), cast("Link", child))

    def add_link(self, link: Link) -> None:
        """Registers a child link and adds it to the tail of the list; same as :meth:`append`.

        Args:
            link (Link): The link.
        """
        self.append(link)

    def insert(self, index: int, link: Link) -> None:
        """Registers a child link before an index.

        Args:
            index (int): Position in the list.
            link (Link): The link.
        """
        self._check_link(link)
        # The others keep their names at the end: a link in two lists may have the name of another.
        start = len(self._children) if index == len(self._children) else 0
        self._children.insert(index, link)
        self._rename(start)

    def _named_children(self) -> Iterator[tuple[str, Link]]:
        for i, child in enumerate(self._children):
            yield str(i), child

    def children(self) -> Iterator[Link]:
        """Returns a generator of all child links in order of their indices."""
        # Without names: params() asks for the children at each update.
        yield from self._children

    def _pairs(self, link: Link) -> Iterator[tuple[Link, Link]]:
        for i, child in enumerate(self._children):
            yield child, link[i]  # type: ignore[index]

    def _draw_parameters(self) -> None:
        for name in sorted(self._params):
            param = vars(self)[name]
            if isinstance(param, Parameter) and param.is_initialized:
                param.initialize(param.shape)
        for child in self._children:
            child._draw_parameters()

    def copy(self, mode: str = "share") -> Self:
        """Copies the list and its links; see :meth:`chainer.Link.copy`.

        Args:
            mode (str): ``'init'``, ``'copy'`` or ``'share'``.

        Returns:
            ChainList: The copy, without a name.
        """
        replica = super().copy(mode)
        replica.name = None
        return replica

    def _copy_shallow(self) -> Self:
        replica = super()._copy_shallow()
        children: list[Link] = []
        for i, child in enumerate(self._children):
            child = child.copy("share")
            child.name = str(i)
            children.append(child)
        vars(replica)["_children"] = children
        return replica
