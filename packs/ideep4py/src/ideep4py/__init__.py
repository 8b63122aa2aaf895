"""Neural-network primitives on oneDNN for NumPy programs on CPUs, with arrays in blocked layouts.

The API of Intel's ``ideep4py`` for current Python, in pure Python over oneDNN's C library. It is
built on :mod:`ideep4py.ops`: functions on mdarrays and NumPy arrays, with or without a framework.

Example:
    >>> import numpy as np
    >>> import ideep4py
    >>> x = ideep4py.array(np.ones((1, 3, 8, 8), np.float32))
    >>> W = ideep4py.array(np.ones((16, 3, 3, 3), np.float32), itype=ideep4py.wgt_array)
    >>> cp = ideep4py.convolution2DParam((1, 16, 8, 8), 1, 1, 1, 1, 1, 1, 1, 1)
    >>> y = ideep4py.relu.Forward(ideep4py.convolution2D.Forward(x, W, None, cp))
    >>> type(y).__name__, y.shape, float(y.sum())
    ('mdarray', (1, 16, 8, 8), 23232.0)
"""

from ideep4py import ops
from ideep4py._core.buffers import cached_bytes, release_cached_memory
from ideep4py._core.errors import OneDNNError, UnsupportedError
from ideep4py._core.library import CPU_ISA, LIBRARY_PATH, ONEDNN_VERSION
from ideep4py._mdarray import mdarray
from ideep4py._params import (
    conv2DParam,
    convolution2DParam,
    localResponseNormalizationParam,
    lrnParam,
    pol2DParam,
    pooling2DParam,
)
from ideep4py._vectors import intVector, mdarrayVector
from ideep4py.compat.activation import relu, tanh
from ideep4py.compat.basic import basic_acc_sum, basic_copyto, multi_add
from ideep4py.compat.checks import all_ready, check_ndim, check_type, get_array_module
from ideep4py.compat.convolution import convolution2D
from ideep4py.compat.creation import array, dat_array, wgt_array
from ideep4py.compat.dropout import dropout
from ideep4py.compat.joining import concat, split
from ideep4py.compat.linear import linear
from ideep4py.compat.normalization import batchNormalization, localResponseNormalization
from ideep4py.compat.pooling import pooling2D
from ideep4py.math_mode import get_math_mode, get_winograd, set_math_mode, set_winograd
from ideep4py.threads import (
    get_num_threads,
    limit_blas_threads,
    limit_num_threads,
    set_num_threads,
)

__version__ = "3.0.0"

__all__ = [
    "CPU_ISA",
    "LIBRARY_PATH",
    "ONEDNN_VERSION",
    "OneDNNError",
    "UnsupportedError",
    "all_ready",
    "array",
    "basic_acc_sum",
    "basic_copyto",
    "batchNormalization",
    "cached_bytes",
    "check_ndim",
    "check_type",
    "concat",
    "conv2DParam",
    "convolution2D",
    "convolution2DParam",
    "dat_array",
    "dropout",
    "get_array_module",
    "get_math_mode",
    "get_num_threads",
    "get_winograd",
    "intVector",
    "limit_blas_threads",
    "limit_num_threads",
    "linear",
    "localResponseNormalization",
    "localResponseNormalizationParam",
    "lrnParam",
    "mdarray",
    "mdarrayVector",
    "multi_add",
    "ops",
    "pol2DParam",
    "pooling2D",
    "pooling2DParam",
    "release_cached_memory",
    "relu",
    "set_math_mode",
    "set_num_threads",
    "set_winograd",
    "split",
    "tanh",
    "wgt_array",
]
