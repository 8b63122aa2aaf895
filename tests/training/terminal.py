"""Programs run in a terminal that exists in memory only."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pyte

#: High enough for a panel and the traceback of an error above it.
COLUMNS, LINES = 80, 60


class Terminal:
    """A terminal with a program in it.

    Args:
        code: The program.
        arguments: Its arguments.
        variables: More variables of the environment.
    """

    def __init__(self, code: str, *arguments: str, **variables: str) -> None:
        self.screen = pyte.Screen(COLUMNS, LINES)
        self._stream = pyte.ByteStream(self.screen)
        self.output = b""
        self._end, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self.before = termios.tcgetattr(slave)
        folders = [str(Path(__file__).parent), os.environ.get("PYTHONPATH")]
        environment = {
            key: value
            for key, value in os.environ.items()
            if key not in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")
        }
        environment |= {"PYTHONPATH": os.pathsep.join(filter(None, folders)), "TERM": "xterm"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code), *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment | {"PYTHONIOENCODING": "utf-8"} | variables,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        self._slave = slave

    def read(
        self, until: str | Callable[[], bool] | None = None, timeout: float = 120
    ) -> list[str]:
        """Reads output and returns the screen.

        Args:
            until: Text whose appearance ends the reading, or a function that says whether it ends.
                By default, the end of the program does.
            timeout: Seconds after which the test fails.
        """

        def is_enough() -> bool:
            if callable(until):
                return until()
            return until is not None and any(until in line for line in self.lines)

        deadline = time.monotonic() + timeout
        while not is_enough():
            assert time.monotonic() < deadline, self.lines
            ready, _, _ = select.select([self._end], [], [], 0.05)
            if ready:
                part = os.read(self._end, 65536)
                self.output += part
                self._stream.feed(part)
            elif self.process.poll() is not None:
                assert until is None, self.lines
                break
        return self.lines

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]

    def type(self, keys: bytes) -> None:
        os.write(self._end, keys)

    @property
    def is_sane(self) -> bool:
        """Whether the cursor is visible, wraps, and the settings are those from before."""
        return (
            not self.screen.cursor.hidden
            and pyte.modes.DECAWM in self.screen.mode
            and termios.tcgetattr(self._slave) == self.before
        )

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._end)
        os.close(self._slave)
