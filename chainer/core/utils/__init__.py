"""Common utilities (``chainer.utils``)."""
