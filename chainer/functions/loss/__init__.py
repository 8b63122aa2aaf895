"""Loss functions."""

from chainer.core.lazy import lazy_module

__getattr__, __dir__ = lazy_module(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "absolute_error": ("AbsoluteError", "absolute_error"),
    "black_out": ("black_out",),
    "contrastive": ("Contrastive", "contrastive"),
    "crf1d": ("argmax_crf1d", "crf1d"),
    "cross_covariance": ("CrossCovariance", "cross_covariance"),
    "ctc": ("ConnectionistTemporalClassification", "connectionist_temporal_classification"),
    "decov": ("DeCov", "decov"),
    "dice_loss": ("dice_loss",),
    "discriminative_loss": ("discriminative_margin_based_clustering_loss",),
    "focal_loss": ("focal_loss", "sigmoid_focal_loss"),
    "hinge": ("Hinge", "hinge"),
    "huber_loss": ("HuberLoss", "huber_loss"),
    "label_smoothed_cross_entropy": ("label_smoothed_cross_entropy",),
    "mean_absolute_error": ("MeanAbsoluteError", "mean_absolute_error"),
    "mean_squared_error": ("MeanSquaredError", "mean_squared_error"),
    "negative_sampling": ("NegativeSamplingFunction", "negative_sampling"),
    "sigmoid_cross_entropy": ("SigmoidCrossEntropy", "sigmoid_cross_entropy"),
    "softmax_cross_entropy": ("SoftmaxCrossEntropy", "softmax_cross_entropy"),
    "squared_error": ("SquaredError", "squared_error"),
    "triplet": ("Triplet", "triplet"),
    "vae": ("bernoulli_nll", "gaussian_kl_divergence", "gaussian_nll"),
}
