"""How many times as fast as NumPy iDeep serves calls with NumPy arrays.

Measured by ``packs/ideep4py/benchmarks/sizes.py``, forward and backward, one thread, with the
conversion of the result to NumPy. Operations that are missing here gain nothing on single NumPy
arrays. On the results of convolutions, which are in oneDNN's layouts, all kernels of iDeep serve.
"""

from __future__ import annotations

from chainer.core.arrays.acceleration import SpeedupBySize
from chainer.core.arrays.kernel_declaration import CallSpec


def _weights(spec: CallSpec) -> int:
    """Returns the number of weights of an affine transformation.

    Few weights stay in the cache, where NumPy's products are as fast. Measured for 64 to 512 rows;
    for fewer rows chainer-numba declares more.
    """
    W = spec.arrays[1]
    assert W is not None  # supports() has looked at it
    return W.size


SPEEDUPS = {
    "convolution_nd": SpeedupBySize(((0, 1.4), (1 << 12, 1.9))),
    "max_pooling_nd": 1.8,
    "average_pooling_nd": SpeedupBySize(((0, 1.2), (1 << 14, 1.3))),
    "linear": SpeedupBySize(((700_000, 1.2),), _weights),
    "relu": SpeedupBySize(((1 << 18, 1.4),)),
    "n_step_rnn": 1.3,
}
