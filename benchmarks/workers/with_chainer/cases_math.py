"""Cases of the function table: mathematical functions."""

from __future__ import annotations

from bench_chainer import operation, random

X = random(64, 256)
Y = random(64, 256, seed=1)
POSITIVE = abs(X) + 0.1
SQUARES = random(16, 16, 16)

MATH = {
    "exp": operation("exp", X),
    "log": operation("log", POSITIVE),
    "sqrt": operation("sqrt", POSITIVE),
    "sin": operation("sin", X),
    "erf": operation("erf", X),
    "clip": operation("clip", X, -1.0, 1.0),
    "maximum": operation("maximum", X, Y),
    "minimum": operation("minimum", X, Y),
    "add of 4": operation("add", X, Y, X, Y),
    "square": operation("square", X),
    "squared_difference": operation("squared_difference", X, Y),
    "sum": operation("sum", X),
    "sum axis": operation("sum", X, axis=1),
    "mean": operation("mean", X, axis=0),
    "average weights": operation("average", X, axis=1, weights=POSITIVE[0].copy()),
    "max": operation("max", X, axis=1),
    "prod": operation("prod", random(64, 8), axis=1),
    "logsumexp": operation("logsumexp", X, axis=1),
    "cumsum": operation("cumsum", X, axis=1),
    "matmul": operation("matmul", X, random(256, 128)),
    "matmul transposed": operation("matmul", X, random(128, 256), transb=True),
    "matmul batch": operation("matmul", random(32, 20, 64), random(32, 64, 20)),
    "batch_matmul": operation("batch_matmul", random(32, 20, 64), random(32, 64, 20)),
    "tensordot": operation("tensordot", random(32, 16, 8), random(16, 8, 64), axes=2),
    "batch_inv": operation("batch_inv", SQUARES),
    "batch_det": operation("batch_det", SQUARES),
    "batch_l2_norm_squared": operation("batch_l2_norm_squared", X),
    "bias": operation("bias", X, random(256)),
    "scale": operation("scale", X, random(256)),
    "linear_interpolate": operation("linear_interpolate", POSITIVE, X, Y),
    "fft": operation("fft", (X, Y)),
    "argmax": operation("argmax", X, axis=1, gradient=False),
    "normalize": operation("normalize", X),
}
