"""The course of an observed value, as a panel shows it."""

from __future__ import annotations

import math
from collections import deque

#: Newest values that a panel shows as marks.
LONGEST_COURSE = 24


class Course:
    """The values of an observation that a panel shows: a few, however many there were.

    Attributes:
        newest: The newest values, the last one at the end.
        low: The least of all finite values; None if there is none.
        high: The largest of all finite values; None if there is none.
    """

    def __init__(self) -> None:
        self.newest: deque[float] = deque(maxlen=LONGEST_COURSE)
        self.low: float | None = None
        self.high: float | None = None

    def add(self, value: float) -> None:
        """Adds a value at the end."""
        self.newest.append(value)
        if math.isfinite(value):
            self.low = value if self.low is None else min(self.low, value)
            self.high = value if self.high is None else max(self.high, value)
