"""Link hooks (``chainer.link_hooks``)."""

from chainer.core.registry.submodules import submodule_getattr

__getattr__ = submodule_getattr(globals())

MODULES: dict[str, tuple[str, ...]] = {}
