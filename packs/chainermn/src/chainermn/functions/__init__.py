"""Differentiable communication: what is sent in forward, gradients travel back in backward."""

from __future__ import annotations

from chainermn.functions.collective_communication import (
    allgather,
    alltoall,
    bcast,
    gather,
    scatter,
)
from chainermn.functions.point_to_point_communication import recv, send
from chainermn.functions.pseudo_connect import pseudo_connect

__all__ = [
    "allgather",
    "alltoall",
    "bcast",
    "gather",
    "pseudo_connect",
    "recv",
    "scatter",
    "send",
]
