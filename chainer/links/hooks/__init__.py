"""Link hooks (``chainer.link_hooks``)."""

from chainer.core.lazy import lazy_module

__getattr__, __dir__ = lazy_module(globals())

MODULES: dict[str, tuple[str, ...]] = {}
