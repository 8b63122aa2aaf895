"""Links made of links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from chainer.core.autograd.parameter import Parameter
from chainer.links.base_link import Link

if TYPE_CHECKING:
    from typing import Self


def _indent(text: str) -> str:
    return text.replace("\n", "\n  ")


class _Composite(Link):
    """What chains and chain lists share: everything that goes through named children."""

    def _named_children(self) -> Iterator[tuple[str, Link]]:
        raise NotImplementedError

    def __str__(self) -> str:
        lines = [f"  ({name}): {_indent(str(child))},\n" for name, child in self._named_children()]
        body = "\n" + "".join(lines) if lines else ""
        return f"{type(self).__name__}({body})"

    def children(self) -> Iterator[Link]:
        """Returns a generator of all child links, in registration order."""
        for _, child in self._named_children():
            yield child

    def namedparams(self, include_uninit: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Returns a generator of all (path, param) pairs under the hierarchy.

        Args:
            include_uninit (bool): Whether uninitialized parameters are included.
        """
        yield from super().namedparams(include_uninit)
        for name, child in self._named_children():
            prefix = "/" + name
            for path, param in child.namedparams(include_uninit):
                yield prefix + path, param

    def links(self, skipself: bool = False) -> Iterator[Link]:
        """Returns a generator of all links under the hierarchy.

        Args:
            skipself (bool): Whether this link is left out.
        """
        if not skipself:
            yield self
        for child in self.children():
            yield from child.links()

    def namedlinks(self, skipself: bool = False) -> Iterator[tuple[str, Link]]:
        """Returns a generator of all (path, link) pairs under the hierarchy.

        Args:
            skipself (bool): Whether this link is left out.
        """
        if not skipself:
            yield "/", self
        for name, child in self._named_children():
            prefix = "/" + name
            yield prefix, child
            for path, link in child.namedlinks(skipself=True):
                yield prefix + path, link

    # Children move by the method the caller asked for: user links override one of them to take
    # arrays along that are not registered.

    def to_device(self, device: Any) -> Self:
        """Copies parameters and persistent values of the hierarchy to a device."""
        super().to_device(device)
        for child in self.children():
            child.to_device(device)
        return self

    def to_cpu(self) -> Self:
        """Copies parameters and persistent values of the hierarchy to CPU."""
        super().to_cpu()
        for child in self.children():
            child.to_cpu()
        return self

    def to_gpu(self, device: Any = None) -> Self:
        """Copies parameters and persistent values of the hierarchy to GPU, but for links there."""
        super().to_gpu(device)
        for child in self.children():
            child.to_gpu(device)
        return self

    def to_intel64(self) -> Self:
        """Copies parameters and persistent values of the hierarchy to ``ideep4py.mdarray``."""
        super().to_intel64()
        for child in self.children():
            child.to_intel64()
        return self

    def serialize(self, serializer: Any) -> None:
        """Serializes the hierarchy: own values, then each child under its name.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        super().serialize(serializer)
        for name, child in self._named_children():
            child.serialize(serializer[name])


class Chain(_Composite):
    """Composable link with object-like interface.

    Child links are attributes: assigning a link within :meth:`init_scope` registers it under the
    name of the attribute. Links and chains form a tree whose nodes are identified by paths such as
    ``/predictor/l1``.

    Args:
        links: Child links; the keywords are their names.

    Example:
        >>> class MLP(chainer.Chain):
        ...     def __init__(self, n_hidden, n_out):
        ...         super().__init__()
        ...         with self.init_scope():
        ...             self.l1 = L.Linear(None, n_hidden)
        ...             self.l2 = L.Linear(n_hidden, n_out)
        ...     def forward(self, x):
        ...         return self.l2(F.relu(self.l1(x)))
        >>> [path for path, _ in MLP(5, 2).namedlinks(skipself=True)]
        ['/l1', '/l2']
    """

    _children: dict[str, None]

    def __init__(self, **links: Link) -> None:
        super().__init__()
        self._children = {}
        for name, link in links.items():
            self.add_link(name, link)

    def __getitem__(self, name: str) -> Link:
        """Equivalent to getattr."""
        return getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if self._within_init_scope and isinstance(value, Link):
            if hasattr(self, name):
                raise AttributeError(f"cannot register a new link {name}: attribute exists")
            value.name = name
            self._children[name] = None
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self._children.pop(name, None)
        super().__delattr__(name)

    def add_link(self, name: str, link: Link) -> None:
        """Registers a child link to this chain.

        Args:
            name (str): Name of the child link and of the attribute.
            link (Link): The link.

        Raises:
            AttributeError: If the chain has an attribute of this name.
            TypeError: If ``link`` is not a link, or the name not a string.
        """
        if name in self.__dict__:
            raise AttributeError(f"cannot register a new link {name}: attribute exists")
        if not isinstance(link, Link):
            raise TypeError(
                f"cannot register a non-link object as a child: {name!r} is {type(link).__name__}"
            )
        with self.init_scope():
            setattr(self, name, link)

    def _named_children(self) -> Iterator[tuple[str, Link]]:
        members = self.__dict__
        for name in self._children:
            yield name, members[name]

    def _copy_shallow(self) -> Self:
        replica = super()._copy_shallow()
        members = replica.__dict__
        members["_children"] = dict(self._children)
        for name in self._children:
            child = members[name].copy("share")
            child.name = name
            members[name] = child
        return replica


class ChainList(_Composite):
    """Composable link with list-like interface.

    Child links are named by their position and accessed by index.

    Args:
        links: Child links.

    Example:
        >>> model = chainer.ChainList(L.Linear(2, 3), L.Linear(3, 4))
        >>> len(model), [path for path, _ in model.namedparams()]
        (2, ['/0/W', '/0/b', '/1/W', '/1/b'])
    """

    _children: list[Link]

    def __init__(self, *links: Link) -> None:
        super().__init__()
        self._children = []
        for link in links:
            self.add_link(link)

    def __setattr__(self, name: str, value: Any) -> None:
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

    def __setitem__(self, index: int, link: Link) -> None:
        self._check_link(link)
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range for {len(self)} links")
        index %= len(self)
        self._children[index] = link
        link.name = str(index)

    def __delitem__(self, index: Any) -> None:
        del self._children[index]
        self._rename()

    def __iter__(self) -> Iterator[Link]:
        return iter(self._children)

    def __len__(self) -> int:
        """Returns the number of children."""
        return len(self._children)

    def _check_link(self, link: Any) -> None:
        if not isinstance(link, Link):
            raise TypeError(f"children of a ChainList must be links, got {type(link).__name__}")

    def _rename(self) -> None:
        for i, link in enumerate(self._children):
            link.name = str(i)

    def append(self, link: Link) -> None:
        """Registers a child link and adds it to the tail of the list.

        This is equivalent to :meth:`add_link`.

        Args:
            link (Link): The link.
        """
        self.add_link(link)

    def add_link(self, link: Link) -> None:
        """Registers a child link and adds it to the tail of the list.

        Args:
            link (Link): The link.
        """
        self._check_link(link)
        link.name = str(len(self._children))
        self._children.append(link)

    def insert(self, index: int, link: Link) -> None:
        """Registers a child link before an index.

        Args:
            index (int): Position in the list.
            link (Link): The link.
        """
        self._check_link(link)
        self._children.insert(index, link)
        self._rename()

    def extend(self, links: Iterable[Link]) -> None:
        """Registers several links at the tail of the list.

        Args:
            links: The links.
        """
        for link in links:
            self.add_link(link)

    def _named_children(self) -> Iterator[tuple[str, Link]]:
        for i, child in enumerate(self._children):
            yield str(i), child

    def _copy_shallow(self) -> Self:
        replica = super()._copy_shallow()
        children: list[Link] = []
        for i, child in enumerate(self._children):
            child = child.copy("share")
            child.name = str(i)
            children.append(child)
        replica.__dict__["_children"] = children
        return replica
