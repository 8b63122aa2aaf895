"""Status codes of the C API as exceptions."""

from __future__ import annotations

from ideep4py._core.constants import STATUS_NAMES, UNIMPLEMENTED


class OneDNNError(RuntimeError):
    """A call of the oneDNN library failed. ``status`` is its code."""

    def __init__(self, what: str, status: int) -> None:
        self.status = status
        super().__init__(f"oneDNN: {what}: {STATUS_NAMES.get(status, status)}")


class UnsupportedError(OneDNNError):
    """oneDNN has no implementation of this operation for these shapes, data types and this CPU."""


def check(status: int, what: str) -> None:
    """Raises when ``status`` is not success."""
    if status:
        raise (UnsupportedError if status == UNIMPLEMENTED else OneDNNError)(what, status)
