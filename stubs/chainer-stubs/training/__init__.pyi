# Written by scripts/make_stubs.py. Do not edit.

from chainer.training import (
    extensions as extensions,
    schedules as schedules,
    triggers as triggers,
    updaters as updaters,
    util as util,
)
from chainer.training.extension import (
    Extension as Extension,
    PRIORITY_EDITOR as PRIORITY_EDITOR,
    PRIORITY_READER as PRIORITY_READER,
    PRIORITY_WRITER as PRIORITY_WRITER,
    make_extension as make_extension,
)
from chainer.training.extensions.accumulator import Accumulator as Accumulator
from chainer.training.trainer import Trainer as Trainer
from chainer.training.trigger import IntervalTrigger as IntervalTrigger, get_trigger as get_trigger
from chainer.training.updater import Updater as Updater
from chainer.training.updaters.parallel_updater import ParallelUpdater as ParallelUpdater
from chainer.training.updaters.standard_updater import StandardUpdater as StandardUpdater
