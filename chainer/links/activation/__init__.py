"""Activation functions with parameters."""

from chainer.core.registry.submodules import submodule_getattr

__getattr__ = submodule_getattr(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "maxout": ("Maxout",),
    "prelu": ("PReLU",),
    "simplified_dropconnect": ("SimplifiedDropconnect",),
    "swish": ("Swish",),
}
