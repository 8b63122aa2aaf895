"""Training: the loop, its extensions, and everything that feeds it."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

# Public names by the module that defines them; imported when they are first asked for.
_NAMES: dict[str, str] = {
    "Accumulator": "accumulator",
    "Extension": "extension",
    "IntervalTrigger": "triggers.interval_trigger",
    "PRIORITY_EDITOR": "extension",
    "PRIORITY_READER": "extension",
    "PRIORITY_WRITER": "extension",
    "ParallelUpdater": "updaters.parallel_updater",
    "StandardUpdater": "updaters.standard_updater",
    "Trainer": "trainer",
    "Updater": "updater",
    "get_trigger": "trigger",
    "make_extension": "extension",
}
_MODULES = ("extensions", "triggers", "updaters", "util")


def __getattr__(name: str) -> Any:
    module = _NAMES.get(name)
    if module is not None:
        value = getattr(importlib.import_module(f"{__name__}.{module}"), name)
        globals()[name] = value
        return value
    if not name.startswith("_") and importlib.util.find_spec(f"{__name__}.{name}") is not None:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_NAMES, *_MODULES})
