"""Helpers for tests of programs that use chainermn."""

from __future__ import annotations

from chainermn.testing import device
from chainermn.testing.device import get_device

__all__ = ["device", "get_device"]
