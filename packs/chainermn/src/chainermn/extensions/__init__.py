"""Extensions and triggers of trainers in several processes."""

from __future__ import annotations

from chainermn.extensions.allreduce_persistent import AllreducePersistent
from chainermn.extensions.checkpoint import create_multi_node_checkpointer
from chainermn.extensions.early_stopping import MultiNodeEarlyStoppingTrigger
from chainermn.extensions.evaluator import (
    GenericMultiNodeEvaluator,
    create_multi_node_evaluator,
)
from chainermn.extensions.observation_aggregator import ObservationAggregator
from chainermn.extensions.snapshot import multi_node_snapshot

__all__ = [
    "AllreducePersistent",
    "GenericMultiNodeEvaluator",
    "MultiNodeEarlyStoppingTrigger",
    "ObservationAggregator",
    "create_multi_node_checkpointer",
    "create_multi_node_evaluator",
    "multi_node_snapshot",
]
