"""Starts programs in several processes: what ``chainer launch`` does."""

from __future__ import annotations

from chainermn.launching.finding import LaunchError
from chainermn.launching.launcher import launch

__all__ = ["LaunchError", "launch"]
