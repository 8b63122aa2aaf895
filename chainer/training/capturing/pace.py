"""A captured step is not slower than the step as written: times of calls decide.

Programs are faster nearly always: they leave out Python code, and gain by memory and by fusion. If
the first repetitions of a program take longer than the step took as written, in the call that
compares both, some more calls take turns. Each of them does the work that the caller wants, so that
this costs nothing but the difference. Only programs that compute the bits of the code are timed, so
that results do not depend on times.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TypeVar

_T = TypeVar("_T")

#: Repetitions that are looked at without anything else, and calls of each way that take turns
#: after that. The smallest times count, because other programs use the processors at times.
_WATCHED, _TURNS = 4, 5

#: How much longer a repetition has to take than the step as written.
_SLOWER = 1.05


class Pace:
    """Times of a program and of the code that it takes the place of.

    Attributes:
        is_settled: Whether it is known which way is faster.
        is_slower: Whether the program is slower.
    """

    def __init__(self) -> None:
        self.is_settled = False
        self.is_slower = False
        self._repeated: list[float] = []
        self._written: list[float] = []
        self._takes_turns = False

    def written(self, run: Callable[[], _T]) -> _T:
        """Runs the code and takes the time."""
        return self._timed(run, self._written)

    def repeated(self, run: Callable[[], _T]) -> _T:
        """Runs the program and takes the time."""
        return self._timed(run, self._repeated)

    def is_due_as_written(self) -> bool:
        """Returns whether the code has the next turn."""
        return self._takes_turns and len(self._written) <= len(self._repeated)

    def told(self) -> str:
        """Returns the times."""
        return (
            f"a repetition takes {min(self._repeated) * 1e3:.3g} ms, "
            f"and the step as written {min(self._written) * 1e3:.3g} ms"
        )

    def _timed(self, run: Callable[[], _T], times: list[float]) -> _T:
        start = perf_counter()
        result = run()
        times.append(perf_counter() - start)
        self._settle()
        return result

    def _settle(self) -> None:
        if not self._repeated or not self._written:
            return
        is_slower = min(self._repeated) > _SLOWER * min(self._written)
        if not self._takes_turns:
            if not is_slower:
                self.is_settled = True
            elif len(self._repeated) >= _WATCHED:
                # The time of one call may be wrong, in either way.
                self._takes_turns = True
                self._repeated, self._written = [], []
        elif min(len(self._repeated), len(self._written)) >= _TURNS:
            self.is_slower, self.is_settled = is_slower, True
