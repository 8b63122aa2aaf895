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
from chainermn.functions.tensor_parallel import copy_to_all, join_parts, sum_of_all

__all__ = [
    "allgather",
    "alltoall",
    "bcast",
    "copy_to_all",
    "gather",
    "join_parts",
    "pseudo_connect",
    "recv",
    "scatter",
    "send",
    "sum_of_all",
]
