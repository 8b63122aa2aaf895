"""Links whose parts or statistics are spread over processes."""

from __future__ import annotations

from chainermn.links.batch_normalization import MultiNodeBatchNormalization
from chainermn.links.create_mnbn_model import create_mnbn_model
from chainermn.links.multi_node_chain_list import MultiNodeChainList
from chainermn.links.n_step_rnn import create_multi_node_n_step_rnn
from chainermn.links.tensor_parallel import (
    ColumnParallelLinear,
    ParallelEmbedID,
    ParallelMultiHeadAttention,
    RowParallelLinear,
)

__all__ = [
    "ColumnParallelLinear",
    "MultiNodeBatchNormalization",
    "MultiNodeChainList",
    "ParallelEmbedID",
    "ParallelMultiHeadAttention",
    "RowParallelLinear",
    "create_mnbn_model",
    "create_multi_node_n_step_rnn",
]
