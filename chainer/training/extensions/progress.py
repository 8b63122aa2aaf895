"""Progress and speed of a training."""

from __future__ import annotations

import datetime
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chainer.training.trigger import training_length

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


@dataclass(frozen=True)
class Progress:
    """Progress of a training at one moment.

    Attributes:
        iteration: Number of iterations.
        epoch: Number of epochs with the fraction of the present one.
        share: Share of the whole training that is done, from 0 to 1; None if its length is not
            known.
        length: Length of the training as a text, such as ``'20 epoch'``; empty if not known.
        speed: Iterations per second over the last measurements; None before the first.
        left: Seconds left at this speed; None if not known.
        elapsed: Seconds since the training began.
    """

    iteration: int
    epoch: float
    share: float | None
    length: str
    speed: float | None
    left: float | None
    elapsed: float

    def times(self) -> str:
        """Returns speed and times as a text."""
        parts = [] if self.speed is None else [f"{self.speed:.4g} iterations/s"]
        parts.append(f"{_clock(self.elapsed)} elapsed")
        if self.left is not None:
            parts.append(f"{_clock(self.left)} left")
        return ", ".join(parts)


def _clock(seconds: float) -> str:
    return str(datetime.timedelta(seconds=round(seconds)))


def _elapsed(trainer: Trainer) -> float:
    try:
        return trainer.elapsed_time
    except RuntimeError:  # an extension that is called by hand, before the training
        return 0.0


class Stopwatch:
    """Measures the progress of a trainer over the last moments.

    Args:
        trainer: The trainer.
        length: Length of the training, a pair such as ``(20, 'epoch')``; by default the length that
            the stop trigger of the trainer tells, if it does.
    """

    def __init__(self, trainer: Trainer, length: tuple[float, str] | None = None) -> None:
        self._length = training_length(trainer.stop_trigger) if length is None else length
        self._moments: deque[tuple[float, int, float]] = deque(maxlen=50)
        self.measure(trainer)

    def measure(self, trainer: Trainer) -> Progress:
        """Returns where the trainer is now."""
        iteration, epoch = trainer.updater.iteration, float(trainer.updater.epoch_detail)
        self._moments.append((time.perf_counter(), iteration, epoch))
        first, last = self._moments[0], self._moments[-1]
        seconds = last[0] - first[0]
        speed = (last[1] - first[1]) / seconds if seconds > 0 and last[1] > first[1] else None
        share = left = None
        text = ""
        if self._length is not None:
            length, unit = self._length
            done, before = (iteration, first[1]) if unit == "iteration" else (epoch, first[2])
            share = min(done / length, 1.0)
            text = f"{length:g} {unit}" + ("" if length == 1 else "s")
            if seconds > 0 and done > before:
                left = max(length - done, 0) * seconds / (done - before)
        return Progress(iteration, epoch, share, text, speed, left, _elapsed(trainer))
