"""How many times as fast as NumPy iDeep serves calls with NumPy arrays.

Measured by ``packs/ideep4py/benchmarks/sizes.py``, forward and backward, one thread, with the
conversion of the result to NumPy. Operations that are missing here gain nothing on single NumPy
arrays. On the results of convolutions, which are in oneDNN's layouts, all kernels of iDeep serve.
"""

from __future__ import annotations

from chainer.core.arrays.acceleration import SpeedupBySize
from chainer.core.arrays.kernel_declaration import CallSpec

#: With more rows, packing the weights is a small part of a product: 384 rows by weights of 1000 x
#: 1000 are 1.04 times as fast as NumPy, 512 and 1024 rows as fast (256: 1.11, 100: 1.15).
_MOST_ROWS = 384


def _weights(spec: CallSpec) -> int:
    """Returns the number of weights of an affine transformation, 0 for many rows.

    Few weights stay in the cache, where NumPy's products are as fast. For few rows chainer-numba
    declares more.
    """
    x, W = spec.arrays[:2]
    assert x is not None  # supports() has looked at them
    assert W is not None
    return W.size if x.shape[0] <= _MOST_ROWS else 0


def _scores(spec: CallSpec) -> int:
    """Returns the number of scores of an attention."""
    q, k = spec.arrays[:2]
    assert q is not None
    assert k is not None
    return q.size // q.shape[-1] * k.shape[-2]


SPEEDUPS = {
    "convolution_nd": SpeedupBySize(((0, 1.4), (1 << 12, 1.9))),
    "max_pooling_nd": 1.8,
    "average_pooling_nd": SpeedupBySize(((0, 1.2), (1 << 14, 1.3))),
    "linear": SpeedupBySize(((700_000, 1.2),), _weights),
    "relu": SpeedupBySize(((1 << 18, 1.4),)),
    "gelu": SpeedupBySize(((1 << 14, 1.4), (1 << 16, 2.3), (1 << 18, 3.5))),
    "layer_normalization": SpeedupBySize(((1 << 15, 1.6), (1 << 17, 2.4), (1 << 19, 4.0))),
    "n_step_rnn": 1.3,
    # Of fewer scores, 0.97 to 1.4 with sizes of 16 and 64.
    "scaled_dot_product_attention": SpeedupBySize(((1 << 17, 1.25),), _scores),
}
