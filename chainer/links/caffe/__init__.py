"""Models of Caffe: reading them (:class:`CaffeFunction`) and writing them (``exporters``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.core.lazy import lazy_module

if TYPE_CHECKING:
    from chainer.links.caffe.caffe_function import CaffeFunction as CaffeFunction

# Imported at first use. A package that imports its modules can be stopped by a thread that imports
# one of them at the same time, see chainer.core.imports.
_NAMES: dict[str, str] = {
    "CaffeFunction": ".caffe_function",
}

__getattr__, __dir__ = lazy_module(globals(), _NAMES)
