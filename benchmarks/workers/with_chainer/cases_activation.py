"""Cases of the function table: activations, dropout and other noise."""

from __future__ import annotations

import numpy as np
from bench_chainer import operation, random

X = random(64, 256)
IMAGES = random(32, 64, 14, 14)

ACTIVATION = {
    "relu": operation("relu", X),
    "relu images": operation("relu", IMAGES),
    "leaky_relu": operation("leaky_relu", X),
    "clipped_relu": operation("clipped_relu", X, 1.0),
    "relu6": operation("relu6", X),
    "rrelu": operation("rrelu", X, check=False),
    "crelu": operation("crelu", X),
    "elu": operation("elu", X),
    "selu": operation("selu", X),
    "prelu": operation("prelu", X, np.full(256, 0.25, np.float32)),
    "swish": operation("swish", X, np.ones(256, np.float32)),
    "sigmoid": operation("sigmoid", X),
    "hard_sigmoid": operation("hard_sigmoid", X),
    "tanh": operation("tanh", X),
    "softplus": operation("softplus", X),
    "softmax": operation("softmax", X),
    "softmax images": operation("softmax", IMAGES),
    "log_softmax": operation("log_softmax", X),
    "maxout": operation("maxout", X, 4),
    "lstm": operation("lstm", random(64, 64, seed=1), X),
    "slstm": operation("slstm", *(random(64, n, seed=n) for n in (32, 32, 128, 128))),
    "tree_lstm": operation(
        "tree_lstm", random(64, 64, seed=1), random(64, 64, seed=2), random(64, 320, seed=3)
    ),
    "dropout": operation("dropout", X, check=False),
    "gaussian": operation("gaussian", X, random(64, 256, seed=1), check=False),
    "zoneout": operation("zoneout", X, random(64, 256, seed=1), check=False),
    "gumbel_softmax": operation("gumbel_softmax", X, check=False),
    "simplified_dropconnect": operation(
        "simplified_dropconnect", X, random(64, 256, seed=1), random(64, seed=2), check=False
    ),
}
