"""Loss functions."""

MODULES: dict[str, tuple[str, ...]] = {
    "softmax_cross_entropy": ("SoftmaxCrossEntropy", "softmax_cross_entropy"),
}
