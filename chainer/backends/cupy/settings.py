"""Configuration entries of cuDNN.

``import chainer`` declares them, because programs set them before the first use of a GPU. So this
module must not import CuPy.
"""

from __future__ import annotations

from chainer.core.config.configuration import declare
from chainer.core.config.entries import SWITCH_VALUES, ConfigEntry, parse_flag, switch


def declare_entries() -> None:
    """Declares the entries."""
    declare(
        switch("use_cudnn", provider="cudnn", default="auto", variable="CHAINER_USE_CUDNN"),
        ConfigEntry("use_cudnn_tensor_core", "auto", choices=SWITCH_VALUES, selects_kernels=True),
        ConfigEntry("cudnn_deterministic", False, selects_kernels=True, deterministic=True),
        ConfigEntry("autotune", False, selects_kernels=True),
        ConfigEntry(
            "cudnn_fast_batch_normalization",
            False,
            variable="CHAINER_CUDNN_FAST_BATCH_NORMALIZATION",
            parse=parse_flag,
        ),
    )
