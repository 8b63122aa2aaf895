"""Activation functions with parameters."""

from chainer.core.lazy import lazy_module

__getattr__, __dir__ = lazy_module(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "maxout": ("Maxout",),
    "prelu": ("PReLU",),
    "simplified_dropconnect": ("SimplifiedDropconnect",),
    "swish": ("Swish",),
}
