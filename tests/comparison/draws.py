"""Random choices that are equal in all releases of Python."""

import random


class Draws:
    """Draws numbers, elements and decisions from one seed.

    Args:
        seed (int): The seed.
    """

    def __init__(self, seed):
        self.random = random.Random(seed)

    def below(self, number):
        """Returns a number from 0 to below the given one."""
        return int(self.random.random() * number)

    def pick(self, items):
        """Returns an element."""
        return items[self.below(len(items))]

    def maybe(self, probability):
        """Returns True with a probability."""
        return self.random.random() < probability
