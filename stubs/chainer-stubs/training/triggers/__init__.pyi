# Written by scripts/make_stubs.py. Do not edit.

from typing import Any

from chainer.training.triggers import (
    combined_triggers as combined_triggers,
    early_stopping_trigger as early_stopping_trigger,
    manual_schedule_trigger as manual_schedule_trigger,
    minmax_value_trigger as minmax_value_trigger,
    once_trigger as once_trigger,
    time_trigger as time_trigger,
)
from chainer.training.triggers.combined_triggers import (
    AnyTrigger as AnyTrigger,
    StopRequestedTrigger as StopRequestedTrigger,
)
from chainer.training.triggers.early_stopping_trigger import (
    EarlyStoppingTrigger as EarlyStoppingTrigger,
)
from chainer.training.triggers.interval_trigger import IntervalTrigger as IntervalTrigger
from chainer.training.triggers.manual_schedule_trigger import (
    ManualScheduleTrigger as ManualScheduleTrigger,
)
from chainer.training.triggers.minmax_value_trigger import (
    BestValueTrigger as BestValueTrigger,
    MaxValueTrigger as MaxValueTrigger,
    MinValueTrigger as MinValueTrigger,
)
from chainer.training.triggers.once_trigger import OnceTrigger as OnceTrigger
from chainer.training.triggers.time_trigger import TimeTrigger as TimeTrigger

# Installed packs register more names.
def __getattr__(name: str) -> Any: ...
