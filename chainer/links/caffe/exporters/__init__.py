"""Exporters of models to other frameworks (public module ``chainer.exporters``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.core.lazy import lazy_module

if TYPE_CHECKING:
    from chainer.links.caffe.exporters import caffe as caffe

# Imported at first use. A package that imports its modules can be stopped by a thread that imports
# one of them at the same time, see chainer.core.imports.
__getattr__, __dir__ = lazy_module(globals(), submodules=("caffe",))
