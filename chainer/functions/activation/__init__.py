"""Activation functions."""

MODULES: dict[str, tuple[str, ...]] = {
    "clipped_relu": ("ClippedReLU", "clipped_relu", "relu6"),
    "crelu": ("CReLU", "crelu"),
    "hard_sigmoid": ("HardSigmoid", "hard_sigmoid"),
    "lstm": ("LSTM", "lstm"),
    "maxout": ("maxout",),
    "prelu": ("PReLUFunction", "prelu"),
    "selu": ("selu",),
    "slstm": ("SLSTM", "slstm"),
    "swish": ("Swish", "swish"),
    "tanh": ("tanh", "Tanh"),
    "tree_lstm": ("TreeLSTM", "tree_lstm"),
}
