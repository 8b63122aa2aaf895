# Written by scripts/make_stubs.py. Do not edit.

from typing import Any

from chainer.training.updaters import (
    flat_arrays as flat_arrays,
    gradient_accumulation_updater as gradient_accumulation_updater,
    gradient_exchange as gradient_exchange,
    multiprocess_parallel_updater as multiprocess_parallel_updater,
    parallel_updater as parallel_updater,
    parallel_workers as parallel_workers,
    placement as placement,
    standard_updater as standard_updater,
)
from chainer.training.updaters.gradient_accumulation_updater import (
    GradientAccumulationUpdater as GradientAccumulationUpdater,
)
from chainer.training.updaters.multiprocess_parallel_updater import (
    MultiprocessParallelUpdater as MultiprocessParallelUpdater,
)
from chainer.training.updaters.parallel_updater import ParallelUpdater as ParallelUpdater
from chainer.training.updaters.standard_updater import StandardUpdater as StandardUpdater

# Installed packs register more names.
def __getattr__(name: str) -> Any: ...
