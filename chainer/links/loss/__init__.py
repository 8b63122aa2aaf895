"""Loss functions with parameters."""

from chainer.core.registry.submodules import submodule_getattr

__getattr__ = submodule_getattr(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "black_out": ("BlackOut",),
    "crf1d": ("CRF1d",),
    "hierarchical_softmax": ("BinaryHierarchicalSoftmax",),
    "negative_sampling": ("NegativeSampling",),
}
