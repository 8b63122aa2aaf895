"""Triggers (public module ``chainer.training.triggers``)."""

from __future__ import annotations

from chainer.core.lazy import lazy_module
from chainer.core.registry import registries

MODULES: dict[str, tuple[str, ...]] = {
    "combined_triggers": ("AnyTrigger", "StopRequestedTrigger"),
    "early_stopping_trigger": ("EarlyStoppingTrigger",),
    "interval_trigger": ("IntervalTrigger",),
    "manual_schedule_trigger": ("ManualScheduleTrigger",),
    "minmax_value_trigger": ("BestValueTrigger", "MaxValueTrigger", "MinValueTrigger"),
    "once_trigger": ("OnceTrigger",),
    "time_trigger": ("TimeTrigger",),
}

__getattr__, __dir__ = lazy_module(globals(), registry=registries.triggers)
