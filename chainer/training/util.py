"""Helpers of training (public module ``chainer.training.util``)."""

from __future__ import annotations

from chainer.training.trigger import get_trigger

__all__ = ["get_trigger"]
