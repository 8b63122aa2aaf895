"""Helpers of extensions that draw on a terminal, for extensions of other packages."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from typing import Any

from chainer.training.terminal import ERASE_BELOW, STANDARD_OUTPUT, Output

#: Number of moments from which the speed is computed.
_MOMENTS = 100


def erase_console(x: int, y: int, mode: int = 0) -> None:
    """Erases the terminal below the cursor. The arguments have a meaning on Windows only."""
    Output(STANDARD_OUTPUT).write(ERASE_BELOW)


def set_console_cursor_position(x: int, y: int) -> None:
    """Moves the cursor of the terminal.

    Args:
        x (int): Columns to the right; negative to the left.
        y (int): Lines down; negative up.
    """
    moves = [(abs(y), "AB"[y > 0]), (abs(x), "DC"[x > 0])]
    text = "".join([f"\033[{count}{direction}" for count, direction in moves if count])
    Output(STANDARD_OUTPUT).write(text)


class ProgressBar:
    """Base class of bars that are drawn anew in the same place.

    Subclasses define :meth:`get_lines`.

    Args:
        bar_length (int): Length of the bar in characters, for subclasses.
        out: Stream to print to. Standard output is used by default.

    Example:
        >>> from chainer.training.extensions.util import ProgressBar
        >>> class Counter(ProgressBar):
        ...     count = 0
        ...     def get_lines(self):
        ...         self.count += 1
        ...         return [f'{self.count} batches\\n']
        >>> import io
        >>> stream = io.StringIO()
        >>> Counter(out=stream).update()
        >>> '1 batches' in stream.getvalue()
        True
    """

    def __init__(self, bar_length: int | None = None, out: Any = None) -> None:
        self._bar_length = 50 if bar_length is None else bar_length
        self._out = Output(out)
        self._recent: deque[tuple[int, float, float]] = deque(maxlen=_MOMENTS)

    def update_speed(self, iteration: int, epoch_detail: float) -> tuple[float, float]:
        """Returns the mean speed of the recent past.

        Args:
            iteration (int): Present iteration.
            epoch_detail (float): Present epoch.

        Returns:
            tuple: Iterations per second and epochs per second; infinite at the first call.
        """
        now = time.time()
        self._recent.append((iteration, epoch_detail, now))
        first_iteration, first_epoch, start = self._recent[0]
        elapsed = now - start
        if elapsed <= 0:
            return float("inf"), float("inf")
        return (iteration - first_iteration) / elapsed, (epoch_detail - first_epoch) / elapsed

    def get_lines(self) -> Sequence[str]:
        """Returns the lines of the bar, each with its line feed."""
        raise NotImplementedError(f"{type(self).__name__} must define get_lines()")

    def update(self) -> None:
        """Draws the bar and moves the cursor back to its first line."""
        self.erase_console()
        lines = self.get_lines()
        self._out.write("".join(lines))
        self.move_cursor_up(len(lines))
        self.flush()

    def close(self) -> None:
        """Removes the bar."""
        self.erase_console()
        self.flush()

    def erase_console(self) -> None:
        """Erases what is below the cursor."""
        self._out.write(ERASE_BELOW)

    def move_cursor_up(self, n: int) -> None:
        """Moves the cursor up by a number of lines."""
        self._out.write(f"\033[{n}A")

    def flush(self) -> None:
        """Does nothing: the output is shown at once."""
