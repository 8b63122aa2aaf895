"""Description of a run, for programs that show runs: hyperparameters, model, devices, versions."""

from __future__ import annotations

import importlib
import json
import os
import platform
import sys
import time
from typing import TYPE_CHECKING, Any

from chainer.core.utils.atomic_file import replacing
from chainer.core.version import __version__

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer

#: Seconds between two writes: a log with an entry for each iteration stays fast.
SECONDS_BETWEEN = 10.0


def hyperparameters_of(trainer: Trainer) -> dict[str, Any]:
    """Returns what a run is described by: optimizers, their hyperparameters and batch sizes.

    Args:
        trainer: The trainer.
    """
    found: dict[str, Any] = {}
    optimizers = trainer.updater.get_all_optimizers()
    for name, optimizer in optimizers.items():
        # No slashes: MLflow's file store has a file "optimizer", which cannot be a folder as well.
        prefix = "optimizer" if len(optimizers) == 1 else f"optimizer.{name}"
        found[prefix] = type(optimizer).__name__
        hyperparam = getattr(optimizer, "hyperparam", None)
        if hyperparam is not None:
            for key, value in sorted(hyperparam.get_dict().items()):
                found[f"{prefix}.{key}"] = value
        found[f"{prefix}.model"] = type(optimizer.target).__name__
    get_iterator = getattr(trainer.updater, "get_iterator", None)
    iterator = None if get_iterator is None else get_iterator("main")
    if iterator is not None:
        found["batch_size"] = getattr(iterator, "batch_size", None)
    return found


def resources_of_process() -> dict[str, Any]:
    """Returns what this process has used, and where it runs.

    Returns:
        dict: ``host``, ``process`` (its number), ``python`` and ``chainer`` (versions),
        ``cpu_seconds``, and ``peak_memory_bytes`` where the system tells it.
    """
    found: dict[str, Any] = {
        "host": platform.node(),
        "process": os.getpid(),
        "python": platform.python_version(),
        "chainer": __version__,
        "cpu_seconds": time.process_time(),
    }
    try:
        resource: Any = importlib.import_module("resource")  # not on Windows
    except ImportError:
        return found
    # Linux counts in KiB, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    found["peak_memory_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return found


class RunDescription:
    """Writes a file in JSON with the hyperparameters of a run and the resources that it uses.

    Args:
        suffix: Text added to the name of the log.
    """

    def __init__(self, suffix: str = ".about.json") -> None:
        self.suffix = suffix
        self._path = ""
        self._hyperparameters: dict[str, Any] = {}
        self._written = 0.0

    def update(self, log: str, trainer: Trainer) -> None:
        """Writes the file if it is the first time, or if the last time was some seconds ago.

        Args:
            log: Path of the log.
            trainer: The trainer.
        """
        if self._path != log + self.suffix:
            self._path = log + self.suffix
            # The values at the beginning: schedules change them.
            self._hyperparameters = hyperparameters_of(trainer)
        elif time.monotonic() - self._written < SECONDS_BETWEEN:
            return
        self._write()

    def close(self) -> None:
        """Writes what the whole run has used."""
        if self._path:
            self._write()

    def _write(self) -> None:
        about = {
            "hyperparameters": self._hyperparameters,
            "resources": resources_of_process(),
        }
        # Values of programs of other kinds are written as their text.
        text = json.dumps(about, indent=4, default=str)
        with (
            replacing(self._path) as temporary,
            open(temporary, "w", encoding="utf-8") as file,
        ):
            file.write(text)
        self._written = time.monotonic()
