"""Loss functions with parameters."""

MODULES: dict[str, tuple[str, ...]] = {
    "black_out": ("BlackOut",),
    "crf1d": ("CRF1d",),
    "hierarchical_softmax": ("BinaryHierarchicalSoftmax",),
    "negative_sampling": ("NegativeSampling",),
}
