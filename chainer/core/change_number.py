"""A number by which code notices that settings have changed."""

from __future__ import annotations

import itertools


class ChangeNumber:
    """A number that is another one after each change.

    Code that depends on many settings keeps the number, and looks at the settings themselves only
    if it is another one now. Settings that any program may change without telling, such as entries
    of the dictionary of a link, cannot be watched like this.

    Attributes:
        value: The number.
    """

    __slots__ = ("_following", "value")

    def __init__(self) -> None:
        # The iterator gives each number to one thread only.
        self._following = itertools.count(1)
        self.value = 0

    def renew(self) -> int:
        """Tells that a setting has changed.

        Returns:
            int: The number now. It is higher by one than the last one if there was no other change
            meanwhile.
        """
        number = self.value = next(self._following)
        return number
