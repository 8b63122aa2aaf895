"""Sets of names in lexical order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self


class NameSet(set[str]):
    """A set of names that is iterated in lexical order.

    Links keep the names of their parameters, persistent values and children in such sets. They
    are sets as in earlier releases, because client libraries add to them and copy them. Lexical
    order ensures that every process iterates parameters and children in the same order.

    Example:
        >>> from chainer.links.name_set import NameSet
        >>> list(NameSet(['b', 'a']))
        ['a', 'b']
    """

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(super().__iter__()))

    def copy(self) -> Self:
        """Returns a copy of the set."""
        return type(self)(self)
