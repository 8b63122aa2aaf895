"""Chains: links whose children are attributes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from chainer.core.autograd.variable import Variable
from chainer.core.misuse import warn_once
from chainer.links.composite import Composite
from chainer.links.link import Link
from chainer.links.name_set import NameSet

if TYPE_CHECKING:
    from typing import Self


class Chain(Composite):
    """Composable link with object-like interface.

    Child links are attributes: assigning a link within :meth:`init_scope` registers it under the
    name of the attribute. Links and chains form a tree whose nodes are identified by paths such as
    ``/predictor/l1``. The children of a chain are visited in lexical order of their names.

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
        >>> print(MLP(5, 2))
        MLP(
          (l1): Linear(in_size=None, out_size=5, nobias=False),
          (l2): Linear(in_size=5, out_size=2, nobias=False),
        )
    """

    _children: NameSet

    def __init__(self, **links: Link) -> None:
        super().__init__()
        self._children = NameSet()
        for name, link in links.items():
            self.add_link(name, link)

    def __getitem__(self, name: str) -> Link:
        """Equivalent to getattr."""
        return getattr(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        if self._within_init_scope and isinstance(value, Link):
            # A child must not hide a method or an attribute of the class.
            if hasattr(self, name):
                raise AttributeError(f"cannot register a new link {name}: attribute exists")
            value.name = name
            self._children.add(name)
        elif self._within_init_scope:
            if isinstance(value, (list, tuple)):
                _warn_of_hidden_links(self, name, value)
        elif type(value) is not Variable and isinstance(value, Link):  # states are Variables
            _warn_of_unregistered_link(self, name, value)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self._children.discard(name)
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
        if name in vars(self):
            raise AttributeError(f"cannot register a new link {name}: attribute exists")
        if not isinstance(link, Link):
            raise TypeError(
                f"cannot register a non-link object as a child: {name!r} is {type(link).__name__}"
            )
        with self.init_scope():
            setattr(self, name, link)

    def _named_children(self) -> Iterator[tuple[str, Link]]:
        # Client libraries replace children in __dict__, so each is looked up when it is visited.
        members = vars(self)
        for name in self._children:
            yield name, members[name]

    def children(self) -> Iterator[Link]:
        """Returns a generator of all child links in lexical order of their names."""
        # As above, without names: params() asks for the children at each update.
        members = vars(self)
        for name in self._children:
            yield members[name]

    def _pairs(self, link: Link) -> Iterator[tuple[Link, Link]]:
        members = vars(link)
        for name, child in self._named_children():
            yield child, members[name]

    def _draw_parameters(self) -> None:
        # Release 7 draws the parameters of children once for each chain above them, and the numbers
        # of a seed depend on it.
        super()._draw_parameters()
        for child in self.children():
            child._draw_parameters()

    def _copy_shallow(self) -> Self:
        replica = super()._copy_shallow()
        members = vars(replica)
        members["_children"] = self._children.copy()
        for name in self._children:
            child = members[name].copy("share")
            child.name = name
            members[name] = child
        return replica

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restores a chain; pickles of the releases 4 and 7 can be read.

        Args:
            state (dict): Attributes of the chain.
        """
        super().__setstate__(state)
        members = vars(self)
        if "_children" in members:
            members["_children"] = NameSet(members["_children"])


def _warn_of_unregistered_link(chain: Chain, name: str, link: Link) -> None:
    """Warns of a link that is assigned outside of ``init_scope()``, once for each class and name.

    Programs hide links on purpose, such as a teacher that is not trained. Nothing is said about a
    private name, about a link that another chain has (a registered link has a name), and about the
    replacement of a child, which stays registered.
    """
    if link.name is None and name[:1] != "_" and name not in vars(chain).get("_children", ()):
        warn_once(
            "link outside of init_scope",
            f"{type(chain).__module__}.{type(chain).__qualname__}.{name}",
            f"{type(chain).__name__}.{name} is assigned outside of init_scope(), so that the link "
            "is not registered: it will be neither updated nor saved; assign it in "
            "`with self.init_scope():`, or, if it is hidden on purpose, give the attribute a name "
            "that begins with an underscore",
            stacklevel=3,
        )


def _warn_of_hidden_links(chain: Chain, name: str, value: Sequence[object]) -> None:
    """Warns of links in a list that is assigned in ``init_scope()``, which registers none of them.

    Links that have a name are children already, and the list is a second way to reach them.
    """
    if any(isinstance(part, Link) and part.name is None for part in value):
        warn_once(
            "list of links",
            f"{type(chain).__qualname__}.{name}",
            f"the links in the {type(value).__name__} {name!r} of {type(chain).__name__} are not "
            "registered: they will be neither updated nor saved; assign "
            f"chainer.ChainList(*links), or a Sequential, to {name!r}",
            stacklevel=3,
        )
