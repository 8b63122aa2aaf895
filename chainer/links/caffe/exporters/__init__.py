"""Exporters of models to other frameworks (public module ``chainer.exporters``)."""

from __future__ import annotations

from chainer.links.caffe.exporters import caffe as caffe
