"""Progress bars that programs write themselves, and helpers of the terminal."""

from __future__ import annotations

import sys
import time
from collections import deque
from typing import TextIO

from chainer.training.extensions.terminal import ERASE_BELOW, STANDARD_OUTPUT, Output


def erase_console(x: int, y: int, mode: int = 0) -> None:
    """Erases the terminal below the cursor.

    Args:
        x (int): Without effect; earlier releases read the arguments on Windows only.
        y (int): Without effect.
        mode (int): Without effect.
    """
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
    """Lines at the bottom of a terminal that are drawn anew at each update.

    A subclass defines :meth:`get_lines`.

    Args:
        bar_length (int): Length of a bar in characters, 50 by default. Subclasses read it as
            ``self._bar_length``.
        out: Stream to write to, standard output by default.
    """

    def __init__(self, bar_length: int | None = None, out: TextIO | None = None) -> None:
        self._bar_length = 50 if bar_length is None else bar_length
        self._out = sys.stdout if out is None else out
        # Times of the recent updates: the speed is an average over them.
        self._recent_timing: deque[tuple[int, float, float]] = deque(maxlen=100)

    def update_speed(self, iteration: int, epoch_detail: float) -> tuple[float, float]:
        """Records the progress.

        Args:
            iteration (int): Number of iterations done.
            epoch_detail (float): Number of epochs done.

        Returns:
            tuple: Iterations per second and epochs per second, infinite at the first call.
        """
        now = time.time()
        self._recent_timing.append((iteration, epoch_detail, now))
        first_iteration, first_epoch, start = self._recent_timing[0]
        seconds = now - start
        # The clock may not have advanced since the first call.
        if seconds <= 0:
            return float("inf"), float("inf")
        return (iteration - first_iteration) / seconds, (epoch_detail - first_epoch) / seconds

    def get_lines(self) -> list[str]:
        """Returns the lines to draw, each with a line break at its end."""
        raise NotImplementedError(f"{type(self).__name__} must define get_lines()")

    def update(self) -> None:
        """Draws the lines in place of the lines of the last update."""
        self.erase_console()
        lines = self.get_lines()
        for line in lines:
            self._out.write(line)
        # The next output of the program overwrites the lines.
        self.move_cursor_up(len(lines))
        self.flush()

    def close(self) -> None:
        """Removes the lines from the terminal."""
        self.erase_console()
        self.flush()

    def erase_console(self) -> None:
        """Erases what is below the cursor."""
        self._out.write(ERASE_BELOW)

    def move_cursor_up(self, n: int) -> None:
        """Moves the cursor up.

        Args:
            n (int): Number of lines.
        """
        self._out.write(f"\033[{n}A")

    def flush(self) -> None:
        """Writes what the stream has buffered."""
        if hasattr(self._out, "flush"):
            self._out.flush()


def marks(rate: float, length: int) -> str:
    """Returns the inside of a bar, such as ``##..``."""
    done = int(rate * length)
    return "#" * done + "." * (length - done)
