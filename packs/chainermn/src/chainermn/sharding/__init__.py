"""Training of models whose parameters, gradients and optimizer states are spread over processes."""

from __future__ import annotations

from chainermn.sharding.files import export_sharded, load_sharded, save_sharded
from chainermn.sharding.optimizer import FullyShardedOptimizer

__all__ = ["FullyShardedOptimizer", "export_sharded", "load_sharded", "save_sharded"]
