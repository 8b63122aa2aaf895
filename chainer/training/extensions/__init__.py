"""Trainer extensions (public module ``chainer.training.extensions``)."""

from __future__ import annotations

from chainer.core.lazy import lazy_module
from chainer.core.registry import registries

MODULES: dict[str, tuple[str, ...]] = {
    "_snapshot": ("Snapshot", "snapshot", "snapshot_object"),
    "best_snapshots": ("BestSnapshots", "SnapshotEntry", "list_best"),
    "computational_graph": ("DumpGraph", "dump_graph"),
    "dashboard": ("Dashboard",),
    "early_stop": ("EarlyStop",),
    "evaluator": ("Evaluator",),
    "experiment_loggers": ("MLflowLogger", "WandbLogger"),
    "exponential_shift": ("ExponentialShift",),
    "fail_on_nonnumber": ("FailOnNonNumber",),
    "inverse_shift": ("InverseShift",),
    "learning_rate_finder": ("LearningRateRange", "find_learning_rate"),
    "linear_shift": ("LinearShift",),
    "log_report": ("LogReport",),
    "micro_average": ("MicroAverage",),
    "moving_average": ("EMAEvaluator", "ExponentialMovingAverage"),
    "multistep_shift": ("MultistepShift",),
    "parameter_statistics": ("ParameterStatistics",),
    "plot_report": ("PlotReport",),
    "polynomial_shift": ("PolynomialShift",),
    "print_report": ("PrintReport",),
    "progress_bar": ("ProgressBar",),
    "row_logs": ("CSVLogger", "JSONLinesLogger"),
    "scheduled": ("Plateau", "Scheduled"),
    "signal_snapshot": ("SignalSnapshot",),
    "step_shift": ("StepShift",),
    "tensorboard_writer": ("TensorBoardWriter",),
    "value_observation": ("observe_lr", "observe_value"),
    "variable_statistics_plot": ("VariableStatisticsPlot",),
    "variable_unchain": ("unchain_variables",),
    "warmup_shift": ("WarmupShift",),
    "weight_averaging": ("StochasticWeightAveraging", "recompute_statistics"),
}

__getattr__, __dir__ = lazy_module(globals(), registry=registries.extensions)
