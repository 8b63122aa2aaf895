"""Utility functions."""

from chainer.core.registry.submodules import submodule_getattr

__getattr__ = submodule_getattr(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "forget": ("Forget", "forget"),
}
