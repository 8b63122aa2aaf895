"""Adding to files."""

from __future__ import annotations


def append(path: str, content: bytes) -> None:
    """Adds to the end of a file by one write, so that readers see all of it or nothing."""
    with open(path, "ab", buffering=0) as file:
        written = file.write(content)
    if written != len(content):
        raise OSError(f"{path}: only {written} of {len(content)} bytes were written")
