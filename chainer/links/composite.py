"""Common base of links that contain other links."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chainer.core.arrays.device_resident import DeviceResidentsVisitor
from chainer.core.autograd.parameter import Parameter
from chainer.links.link import Link

if TYPE_CHECKING:
    from typing import Self

    from chainer.links.serializer import AbstractSerializer


class Composite(Link):
    """Base class of :class:`~chainer.Chain` and :class:`~chainer.ChainList`.

    A subclass defines how its children are named; everything that visits the hierarchy is here.
    """

    def _named_children(self) -> Iterator[tuple[str, Link]]:
        """Returns a generator of all (name, child) pairs."""
        raise NotImplementedError(f"{type(self).__name__} must define _named_children()")

    def _pairs(self, link: Link) -> Iterator[tuple[Link, Link]]:
        """Returns a generator of all children with the one in the same place of another link."""
        raise NotImplementedError(f"{type(self).__name__} must define _pairs()")

    def _printed_children(self) -> Iterator[tuple[str, str]]:
        for name, child in self._named_children():
            yield name, str(child)

    def __str__(self) -> str:
        lines: list[str] = []
        for name, text in self._printed_children():
            indented = text.replace("\n", "\n  ")
            lines.append(f"  ({name}): {indented},\n")
        body = "\n" + "".join(lines) if lines else ""
        return f"{type(self).__name__}({body})"

    def children(self) -> Iterator[Link]:
        """Returns a generator of all child links: by name in a chain, by index in a list."""
        for _, child in self._named_children():
            yield child

    def params(self, include_uninit: bool = True) -> Iterator[Parameter]:
        """Returns a generator of all parameters under the link hierarchy, see :meth:`Link.params`.

        Args:
            include_uninit (bool): Whether uninitialized parameters are included.
        """
        # Not by namedparams(): a child may override this method, and optimizers walk the parameters
        # several times at each update, which is faster without making paths.
        yield from super().params(include_uninit)
        for child in self.children():
            yield from child.params(include_uninit)

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

    def copy(self, mode: str = "share") -> Self:
        """Copies the link hierarchy to a new one; see :meth:`Link.copy`.

        Args:
            mode (str): ``'share'``, ``'copy'`` or ``'init'``.

        Returns:
            Link: The copy. Its children have their names in it; a link that is in several trees
            has the name that it got last.
        """
        replica = super().copy(mode)
        for link in replica.links():
            if isinstance(link, Composite):
                for name, child in link._named_children():
                    child.name = name
        return replica

    def copyparams(self, link: Link, copy_persistent: bool = True) -> None:
        """Copies all parameters from given link and its children; see :meth:`Link.copyparams`.

        Args:
            link (Link): Source link, of the same structure.
            copy_persistent (bool): Whether persistent values are copied, too.

        Raises:
            KeyError: If the source lacks a parameter, a persistent value or a child of a chain.
            IndexError: If the source lacks a child of a list.
        """
        super().copyparams(link, copy_persistent)
        for child, partner in self._pairs(link):
            # Links written for release 4 override the method without the second argument.
            if copy_persistent:
                child.copyparams(partner)
            else:
                child.copyparams(partner, copy_persistent=False)

    def addgrads(self, link: Link) -> None:
        """Accumulates gradient values from given link, across devices if need be.

        Args:
            link (Link): Source link, of the same structure.

        Raises:
            KeyError: If the source lacks a parameter or a child of a chain.
            IndexError: If the source lacks a child of a list.
        """
        super().addgrads(link)
        for child, partner in self._pairs(link):
            child.addgrads(partner)

    def device_resident_accept(self, visitor: DeviceResidentsVisitor) -> None:
        """Shows a visitor the link, its own arrays and its children.

        Args:
            visitor (DeviceResidentsVisitor): The visitor.
        """
        # Callables of a Sequential that are not links are not visited.
        super().device_resident_accept(visitor)
        for child in self.children():
            child.device_resident_accept(visitor)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the hierarchy: own values, then each child under its name.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        super().serialize(serializer)
        for name, child in self._named_children():
            child.serialize(serializer[name])
