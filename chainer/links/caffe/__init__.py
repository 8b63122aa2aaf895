"""Models of Caffe: reading them (:class:`CaffeFunction`) and writing them (``exporters``)."""

from __future__ import annotations

from chainer.links.caffe.caffe_function import CaffeFunction as CaffeFunction
