"""Trainer extensions for Chainer.

The names are also attributes of ``chainer.training.extensions``, ``chainer.training.updaters`` and
``chainer.training.triggers``. Imported from here they have static types.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chainer_training_extras.accumulation import GradientAccumulationUpdater
    from chainer_training_extras.best_snapshots import BestSnapshots, SnapshotEntry, list_best
    from chainer_training_extras.dashboard import Dashboard
    from chainer_training_extras.early_stop import EarlyStop
    from chainer_training_extras.experiment_loggers import MLflowLogger, WandbLogger
    from chainer_training_extras.learning_rate_finder import LearningRateRange, find_learning_rate
    from chainer_training_extras.moving_average import EMAEvaluator, ExponentialMovingAverage
    from chainer_training_extras.row_logs import CSVLogger, JSONLinesLogger
    from chainer_training_extras.signals import SignalSnapshot
    from chainer_training_extras.tensorboard import TensorBoardWriter
    from chainer_training_extras.triggers import AnyTrigger, StopRequestedTrigger
    from chainer_training_extras.weight_averaging import (
        StochasticWeightAveraging,
        recompute_statistics,
    )

__all__ = [
    "AnyTrigger",
    "BestSnapshots",
    "CSVLogger",
    "Dashboard",
    "EMAEvaluator",
    "EarlyStop",
    "ExponentialMovingAverage",
    "GradientAccumulationUpdater",
    "JSONLinesLogger",
    "LearningRateRange",
    "MLflowLogger",
    "SignalSnapshot",
    "SnapshotEntry",
    "StochasticWeightAveraging",
    "StopRequestedTrigger",
    "TensorBoardWriter",
    "WandbLogger",
    "find_learning_rate",
    "list_best",
    "recompute_statistics",
]

_MODULES = {
    "AnyTrigger": "triggers",
    "BestSnapshots": "best_snapshots",
    "CSVLogger": "row_logs",
    "Dashboard": "dashboard",
    "EMAEvaluator": "moving_average",
    "EarlyStop": "early_stop",
    "ExponentialMovingAverage": "moving_average",
    "GradientAccumulationUpdater": "accumulation",
    "JSONLinesLogger": "row_logs",
    "LearningRateRange": "learning_rate_finder",
    "MLflowLogger": "experiment_loggers",
    "SignalSnapshot": "signals",
    "SnapshotEntry": "best_snapshots",
    "StochasticWeightAveraging": "weight_averaging",
    "StopRequestedTrigger": "triggers",
    "TensorBoardWriter": "tensorboard",
    "WandbLogger": "experiment_loggers",
    "find_learning_rate": "learning_rate_finder",
    "list_best": "best_snapshots",
    "recompute_statistics": "weight_averaging",
}


# Chainer imports this package for its pack module, which has to be light.
def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
