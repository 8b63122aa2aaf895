"""Activation functions."""

from chainer.core.lazy import lazy_module

__getattr__, __dir__ = lazy_module(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "clipped_relu": ("ClippedReLU", "clipped_relu", "relu6"),
    "crelu": ("CReLU", "crelu"),
    "elu": ("ELU", "elu"),
    "hard_sigmoid": ("HardSigmoid", "hard_sigmoid"),
    "leaky_relu": ("LeakyReLU", "leaky_relu"),
    "log_softmax": ("LogSoftmax", "log_softmax"),
    "maxout": ("maxout",),
    "prelu": ("PReLUFunction", "prelu"),
    "relu": ("ReLU", "relu"),
    "rrelu": ("RReLU", "rrelu"),
    "selu": ("selu",),
    "sigmoid": ("Sigmoid", "sigmoid"),
    "softmax": ("Softmax", "softmax"),
    "softplus": ("Softplus", "softplus"),
    "swish": ("Swish", "swish"),
    "tanh": ("tanh", "Tanh"),
}
