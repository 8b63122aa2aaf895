"""What the distribution supplies to Chainer."""

from __future__ import annotations

from typing import Any

chainer_api = 1

_PACKAGE = "chainer_training_extras"


def chainer_extensions(registry: Any) -> None:
    """Registers the trainer extensions."""
    for name, module in (
        ("BestSnapshots", "best_snapshots"),
        ("CSVLogger", "row_logs"),
        ("Dashboard", "dashboard"),
        ("EMAEvaluator", "moving_average"),
        ("EarlyStop", "early_stop"),
        ("ExponentialMovingAverage", "moving_average"),
        ("JSONLinesLogger", "row_logs"),
        ("MLflowLogger", "experiment_loggers"),
        ("SignalSnapshot", "signals"),
        ("StochasticWeightAveraging", "weight_averaging"),
        ("TensorBoardWriter", "tensorboard"),
        ("WandbLogger", "experiment_loggers"),
    ):
        registry.register(name, f"{_PACKAGE}.{module}:{name}")


def chainer_updaters(registry: Any) -> None:
    """Registers the updater."""
    name = "GradientAccumulationUpdater"
    registry.register(name, f"{_PACKAGE}.accumulation:{name}")


def chainer_triggers(registry: Any) -> None:
    """Registers the triggers."""
    for name in ("AnyTrigger", "StopRequestedTrigger"):
        registry.register(name, f"{_PACKAGE}.triggers:{name}")
