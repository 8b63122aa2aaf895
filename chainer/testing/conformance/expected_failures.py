"""The file of expected failures, applied strictly: an expected failure that passes is a failure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ExpectedFailure:
    """One line of the file.

    Attributes:
        pattern: Test id, with ``*`` for any text.
        reason: Why the test fails.
        place: File and line.
    """

    pattern: str
    reason: str
    place: str

    def fits(self, test: str) -> bool:
        """Tells whether a test is meant.

        Args:
            test: Test id, such as ``test_forward[relu-float32-contiguous]``.
        """
        parts = map(re.escape, self.pattern.split("*"))
        return re.fullmatch(".*".join(parts), test) is not None


def read(path: str | Path) -> list[ExpectedFailure]:
    """Reads a file of expected failures.

    Empty lines and lines that begin with ``#`` mean nothing.

    Args:
        path: The file.

    Raises:
        ValueError: If a line has no reason.
    """
    failures: list[ExpectedFailure] = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        pattern, mark, reason = (part.strip() for part in line.partition("#"))
        if not pattern:
            continue
        if not mark or not reason:
            raise ValueError(f"{path}:{number}: an expected failure needs a reason after '#'")
        failures.append(ExpectedFailure(pattern, reason, f"{path}:{number}"))
    return failures
