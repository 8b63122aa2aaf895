"""Links that wrap functions of Theano's successor PyTensor."""

from chainer.core.registry.submodules import submodule_getattr

__getattr__ = submodule_getattr(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "theano_function": ("TheanoFunction",),
}
