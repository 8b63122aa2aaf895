"""Activation functions."""

from chainer.core.lazy import lazy_module

__getattr__, __dir__ = lazy_module(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "clipped_relu": ("ClippedReLU", "clipped_relu", "relu6"),
    "crelu": ("CReLU", "crelu"),
    "elu": ("ELU", "elu"),
    "gated_linear_units": ("geglu", "glu", "reglu", "swiglu"),
    "gelu": ("gelu", "quick_gelu"),
    "hard_sigmoid": ("HardSigmoid", "hard_sigmoid"),
    "hard_swish": ("hard_swish",),
    "leaky_relu": ("LeakyReLU", "leaky_relu"),
    "log_softmax": ("LogSoftmax", "log_softmax"),
    "maxout": ("maxout",),
    "mish": ("mish",),
    "prelu": ("PReLUFunction", "prelu"),
    "relu": ("ReLU", "relu"),
    "rrelu": ("RReLU", "rrelu"),
    "selu": ("selu",),
    "sigmoid": ("Sigmoid", "sigmoid"),
    "silu": ("silu",),
    "softmax": ("Softmax", "softmax"),
    "softplus": ("Softplus", "softplus"),
    "swish": ("Swish", "swish"),
    "tanh": ("tanh", "Tanh"),
}
