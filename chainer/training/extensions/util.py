"""Bars that show progress on a terminal: a base class for third-party extensions."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from typing import TextIO

from chainer.training.terminal import ERASE_BELOW

if os.name == "nt":
    import ctypes

    _STANDARD_OUTPUT_HANDLE = -11

    def erase_console(x: int, y: int, mode: int = 0) -> None:
        """Erases a part of the console; Windows only.

        Args:
            x: Column, from 0.
            y: Line, from 0.
            mode: 0 for what is after the position, 1 for what is before it, 2 for everything.
        """
        set_console_cursor_position(x, y)
        # Consoles of Windows 10 and later understand the control sequences of terminals.
        sys.stdout.write(f"\033[{mode}J")
        sys.stdout.flush()

    def set_console_cursor_position(x: int, y: int) -> None:
        """Moves the cursor of the console; Windows only.

        Args:
            x: Column, from 0.
            y: Line, from 0.
        """
        kernel = ctypes.windll.kernel32  # type: ignore[attr-defined]
        handle = kernel.GetStdHandle(_STANDARD_OUTPUT_HANDLE)
        kernel.SetConsoleCursorPosition(handle, ctypes.c_ulong(x | y << 16))


class ProgressBar:
    """Base class of bars that are drawn again and again at the same place of a terminal.

    A subclass defines :meth:`get_lines`. It calls :meth:`update` to draw the bar, and :meth:`close`
    at the end.

    Args:
        bar_length (int): Length of the bar in characters, 50 by default.
        out: Stream to print the bar; standard output by default.

    Example:
        >>> class Count(chainer.training.extensions.util.ProgressBar):
        ...     def get_lines(self):
        ...         return ['[' + '#' * self._bar_length + ']\\n']
        >>> import io
        >>> stream = io.StringIO()
        >>> bar = Count(bar_length=3, out=stream)
        >>> bar.update()
        >>> stream.getvalue()
        '\\x1b[J[###]\\n\\x1b[1A'
    """

    def __init__(self, bar_length: int | None = None, out: TextIO | None = None) -> None:
        self._bar_length = 50 if bar_length is None else bar_length
        self._out = sys.stdout if out is None else out
        # Iteration, epoch and time of the last calls of update_speed().
        self._recent_timing: deque[tuple[float, float, float]] = deque(maxlen=100)

    def get_lines(self) -> list[str]:
        """Returns the lines of the bar, each with a newline at its end."""
        raise NotImplementedError(f"{type(self).__name__} must define get_lines()")

    def update(self) -> None:
        """Draws the bar, and moves the cursor back to its first line."""
        self.erase_console()
        lines = self.get_lines()
        for line in lines:
            self._out.write(line)
        self.move_cursor_up(len(lines))
        self.flush()

    def close(self) -> None:
        """Removes the bar from the terminal."""
        self.erase_console()
        self.flush()

    def erase_console(self) -> None:
        """Erases everything below the cursor."""
        self._out.write(ERASE_BELOW)

    def move_cursor_up(self, n: int) -> None:
        """Moves the cursor up.

        Args:
            n (int): Number of lines.
        """
        self._out.write(f"\033[{n:d}A")

    def flush(self) -> None:
        """Shows what was written, if the stream has a buffer."""
        if hasattr(self._out, "flush"):
            self._out.flush()

    def update_speed(self, iteration: float, epoch_detail: float) -> tuple[float, float]:
        """Adds the present position and returns the mean speed over the last 100 calls.

        Args:
            iteration (int): Number of iterations.
            epoch_detail (float): Number of epochs.

        Returns:
            tuple: Iterations per second and epochs per second; infinity if no time has passed.
        """
        now = time.time()
        self._recent_timing.append((iteration, epoch_detail, now))
        first_iteration, first_epoch, start = self._recent_timing[0]
        seconds = now - start
        if seconds == 0:
            return float("inf"), float("inf")
        return (iteration - first_iteration) / seconds, (epoch_detail - first_epoch) / seconds


def marks(rate: float, length: int) -> str:
    """Returns the inside of a bar, such as ``##..``."""
    done = int(rate * length)
    return "#" * done + "." * (length - done)
