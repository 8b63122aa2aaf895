"""Training: the loop, its extensions, and everything that feeds it."""

from __future__ import annotations

from chainer.core.lazy import lazy_module

# Public names by the module that defines them; imported when they are first asked for.
_NAMES: dict[str, str] = {
    "Accumulator": ".extensions.accumulator",
    "Extension": ".extension",
    "IntervalTrigger": ".trigger",
    "PRIORITY_EDITOR": ".extension",
    "PRIORITY_READER": ".extension",
    "PRIORITY_WRITER": ".extension",
    "ParallelUpdater": ".updaters.parallel_updater",
    "StandardUpdater": ".updaters.standard_updater",
    "Trainer": ".trainer",
    "Updater": ".updater",
    "get_trigger": ".trigger",
    "make_extension": ".extension",
}
_SUBMODULES = ("extensions", "schedules", "triggers", "updaters", "util")

__getattr__, __dir__ = lazy_module(globals(), _NAMES, submodules=_SUBMODULES)
