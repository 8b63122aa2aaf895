"""Trainer extensions (public module ``chainer.training.extensions``)."""

from __future__ import annotations

from chainer.core.lazy import lazy_module
from chainer.core.registry import registries

MODULES: dict[str, tuple[str, ...]] = {
    "_snapshot": ("Snapshot", "snapshot", "snapshot_object"),
    "computational_graph": ("DumpGraph", "dump_graph"),
    "evaluator": ("Evaluator",),
    "exponential_shift": ("ExponentialShift",),
    "fail_on_nonnumber": ("FailOnNonNumber",),
    "inverse_shift": ("InverseShift",),
    "linear_shift": ("LinearShift",),
    "log_report": ("LogReport",),
    "micro_average": ("MicroAverage",),
    "multistep_shift": ("MultistepShift",),
    "parameter_statistics": ("ParameterStatistics",),
    "plot_report": ("PlotReport",),
    "polynomial_shift": ("PolynomialShift",),
    "print_report": ("PrintReport",),
    "progress_bar": ("ProgressBar",),
    "scheduled": ("Plateau", "Scheduled"),
    "step_shift": ("StepShift",),
    "value_observation": ("observe_lr", "observe_value"),
    "variable_statistics_plot": ("VariableStatisticsPlot",),
    "variable_unchain": ("unchain_variables",),
    "warmup_shift": ("WarmupShift",),
}

__getattr__, __dir__ = lazy_module(globals(), registry=registries.extensions)
