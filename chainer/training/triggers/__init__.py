"""Triggers (public module ``chainer.training.triggers``)."""

from __future__ import annotations

from chainer.core import registries

MODULES: dict[str, tuple[str, ...]] = {}

__getattr__, __dir__ = registries.module_getattr(registries.triggers, globals())
