"""Configuration entries of cuDNN.

``import chainer`` declares them, because programs set them before the first use of a GPU. So this
module must not import CuPy.
"""

from __future__ import annotations

from chainer.core.config.configuration import declare
from chainer.core.config.entries import SWITCH_VALUES, ConfigEntry, is_flag, parse_flag, switch


def declare_entries() -> None:
    """Declares the entries."""
    declare(
        switch(
            "use_cudnn",
            provider="cudnn",
            default="auto",
            variable="CHAINER_USE_CUDNN",
            about="Whether cuDNN computes what it can on CuPy's arrays. 'always' raises an error "
            "where cuDNN is missing, 'auto' uses it where it is faster.",
        ),
        ConfigEntry(
            "use_cudnn_tensor_core",
            "auto",
            choices=SWITCH_VALUES,
            selects_kernels=True,
            about="Whether cuDNN may use tensor cores.",
        ),
        ConfigEntry(
            "cudnn_deterministic",
            False,
            accepts=is_flag,
            selects_kernels=True,
            deterministic=True,
            about="Whether all kernels must give the same bits in every run. They may be slower.",
        ),
        ConfigEntry(
            "autotune",
            False,
            accepts=is_flag,
            selects_kernels=True,
            about="Whether cuDNN times several algorithms for each shape of a convolution at its "
            "first call, and keeps the fastest.",
        ),
        ConfigEntry(
            "cudnn_fast_batch_normalization",
            False,
            variable="CHAINER_CUDNN_FAST_BATCH_NORMALIZATION",
            parse=parse_flag,
            about="Accepted for programs of release 7, which chose a faster mode of cuDNN by it. "
            "Nothing reads it here.",
        ),
    )
