"""Cases of the function table: mathematical functions."""

from __future__ import annotations

import chainer
import numpy as np
from bench_chainer import operation, random

X = random(64, 256)
Y = random(64, 256, seed=1)
POSITIVE = abs(X) + 0.1
SQUARES = random(16, 16, 16)
UNIT = 0.98 * np.tanh(X)  # in (-1, 1)
POSITIVE_DEFINITE = np.matmul(SQUARES[0], SQUARES[0].T) + np.eye(16, dtype=np.float32)
ORDERS = np.random.RandomState(0).randint(0, 3, (64, 256))


def sparse(*shape):
    """A sparse matrix with a twentieth of its elements, or None in releases without."""
    array = random(*shape) * (np.random.RandomState(1).uniform(size=shape) < 0.05)
    to_coo = getattr(chainer.utils, "to_coo", None)
    return to_coo and to_coo(array.astype(np.float32), requires_grad=True)


MATH = {
    "exp": operation("exp", X),
    "log": operation("log", POSITIVE),
    "sqrt": operation("sqrt", POSITIVE),
    "arctanh": operation("arctanh", UNIT),
    "sin": operation("sin", X),
    "erf": operation("erf", X),
    "digamma": operation("digamma", POSITIVE),
    "lgamma": operation("lgamma", POSITIVE),
    "erfinv": operation("erfinv", UNIT),
    "erfcinv": operation("erfcinv", 1 - UNIT),
    "erfcx": operation("erfcx", X),
    "ndtr": operation("ndtr", X),
    "log_ndtr": operation("log_ndtr", X),
    "ndtri": operation("ndtri", (UNIT + 1) / 2),
    "polygamma": operation("polygamma", ORDERS, POSITIVE),
    "zeta": operation("zeta", 2.5, POSITIVE),
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
    "cumprod": operation("cumprod", UNIT, axis=1),
    "cumsum": operation("cumsum", X, axis=1),
    "matmul": operation("matmul", X, random(256, 128)),
    "matmul transposed": operation("matmul", X, random(128, 256), transb=True),
    "matmul batch": operation("matmul", random(32, 20, 64), random(32, 64, 20)),
    "batch_matmul": operation("batch_matmul", random(32, 20, 64), random(32, 64, 20)),
    "tensordot": operation("tensordot", random(32, 16, 8), random(16, 8, 64), axes=2),
    "einsum": operation("einsum", "ij,jk->ik", X, random(256, 128)),
    "einsum small": operation("einsum", "ij,jk->ik", random(8, 8), random(8, 8)),
    "einsum batch": operation("einsum", "nij,njk->nik", random(32, 20, 64), random(32, 64, 20)),
    "einsum of 3": operation(
        "einsum", "ij,jk,kl->il", X, random(256, 128), random(128, 32, seed=1)
    ),
    "einsum diagonal": operation("einsum", "...ii->...i", SQUARES),
    "sparse_matmul": operation("sparse_matmul", sparse(300, 400), random(400, 64)),
    "sparse_matmul batch": operation("sparse_matmul", sparse(8, 60, 50), random(8, 50, 32)),
    "cholesky": operation("cholesky", POSITIVE_DEFINITE),
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
