"""Methods that subclasses must not override (public module ``chainer.utils.meta``)."""

from __future__ import annotations

from chainer.core.final_methods import FinalMeta, enable_final, final

__all__ = ["FinalMeta", "enable_final", "final"]
