"""The pack of the distribution. Imported when Chainer looks for a name; light itself."""

from __future__ import annotations

from typing import Any

chainer_api = 1

COMMUNICATORS = {
    "dummy": "dummy_communicator:DummyCommunicator",
    "flat": "flat_communicator:FlatCommunicator",
    "naive": "naive_communicator:NaiveCommunicator",
    "non_cuda_aware": "non_cuda_aware_communicator:NonCudaAwareCommunicator",
    "pure_nccl": "pure_nccl_communicator:PureNcclCommunicator",
}
"""Name -> module and class in ``chainermn.communicators``."""


def chainer_communicators(registry: Any) -> None:
    """Registers the communicators: the names that ``create_communicator`` takes."""
    for name, place in COMMUNICATORS.items():
        registry.register(name, f"chainermn.communicators.{place}")
