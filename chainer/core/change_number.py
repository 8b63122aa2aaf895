"""A version number of settings, by which code notices that they have changed."""

from __future__ import annotations

import itertools


class ChangeNumber:
    """A version number, which is different after each change.

    Code that depends on many settings remembers the number and compares the settings themselves
    only if the number is different now. This works only for settings whose every change calls
    :meth:`renew`. Entries of the dictionary of a link, for example, may change without it.

    Attributes:
        value: The number.
    """

    __slots__ = ("_following", "value")

    def __init__(self) -> None:
        # Taking the next number of an iterator is atomic: no two threads get the same one.
        self._following = itertools.count(1)
        self.value = 0

    def renew(self) -> int:
        """Gives the settings a new version number, because one of them has changed.

        Returns:
            int: The new number. It is the number before plus one, unless another thread has called
            this method in between.
        """
        number = self.value = next(self._following)
        return number
