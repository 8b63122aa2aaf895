"""Loss functions with parameters."""

from chainer.core.lazy import lazy_module

__getattr__, __dir__ = lazy_module(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "black_out": ("BlackOut",),
    "crf1d": ("CRF1d",),
    "hierarchical_softmax": ("BinaryHierarchicalSoftmax",),
    "negative_sampling": ("NegativeSampling",),
}
