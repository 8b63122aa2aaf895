"""What the distribution supplies. Chainer imports this to find the kernels, so it is light."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.kernel import KernelDeclaration, register_kernel

if TYPE_CHECKING:
    from chainer.plugins.staging import PackRegistry

chainer_api = 1
"""Version of the plugin API that this is written for."""


def chainer_kernels(registry: PackRegistry) -> None:
    """Registers implementations of operations."""
    softmax = KernelDeclaration(
        operation="softmax",
        array_type="numpy:ndarray",
        provider="made_kernels",
        load="chainer_made_kernels.softmax:SoftmaxKernel",
        supports="chainer_made_kernels.supports:softmax",
        unavailable="chainer_made_kernels.supports:unavailable",
    )
    register_kernel(softmax, registry)
