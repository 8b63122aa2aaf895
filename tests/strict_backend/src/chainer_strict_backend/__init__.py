"""A Chainer backend whose arrays refuse every implicit mix with host arrays."""

from chainer_strict_backend.array import ndarray
from chainer_strict_backend.transfers import Transfers, count_transfers

__all__ = ["Transfers", "count_transfers", "ndarray"]
