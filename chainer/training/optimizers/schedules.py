"""Learning-rate schedules: values as functions of the number of updates.

A schedule is a plain object: ``schedule(t)`` is the value after ``t`` updates. A loop of one's own
assigns it, ``optimizer.lr = schedule(optimizer.t)``. With a trainer,
:class:`~chainer.training.extensions.Scheduled` does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer


class Schedule:
    """Base class of schedules; a subclass defines ``__call__``.

    Example:
        >>> class Halved(training.schedules.Schedule):
        ...     def __init__(self, init, period):
        ...         self.init, self.period = init, period
        ...     def __call__(self, t):
        ...         return self.init * 0.5 ** (t // self.period)
        >>> schedule = Halved(0.1, period=100)
        >>> schedule, schedule(250)
        (Halved(init=0.1, period=100), 0.025)
    """

    def __call__(self, t: int) -> float:
        """Returns the value after ``t`` updates.

        Args:
            t (int): Number of updates, 0 in the beginning.
        """
        raise NotImplementedError(f"{type(self).__name__} must define __call__(t)")

    def __repr__(self) -> str:
        values = ", ".join(f"{name.lstrip('_')}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({values})"


def _positive(**arguments: float) -> None:
    for name, value in arguments.items():
        # Not ``value <= 0``, which is false for NaN.
        if not value > 0:
            raise ValueError(f"{name} must be positive, got {value!r}")


class Cosine(Schedule):
    """Half a cosine from one value down to another, with restarts and a warm-up.

    See: `SGDR: Stochastic Gradient Descent with Warm Restarts <https://arxiv.org/abs/1608.03983>`_.
    After the last cycle the value stays ``final``.

    Args:
        initial (float): Value at the beginning of each cycle.
        steps (int): Number of updates of the first cycle.
        final (float): Value at the end of each cycle.
        warmup (int): Number of updates before the first cycle, in which the value grows linearly
            from ``initial / warmup`` to ``initial``.
        cycles (int): Number of cycles.
        growth (float): Each cycle is longer than the one before by this factor.

    Raises:
        ValueError: If a number of updates or cycles is not positive.

    Example:
        >>> from chainer.training.schedules import Cosine
        >>> schedule = Cosine(1.0, 4)
        >>> [round(schedule(t), 3) for t in range(6)]
        [1.0, 0.854, 0.5, 0.146, 0.0, 0.0]
    """

    def __init__(
        self,
        initial: float,
        steps: int,
        final: float = 0.0,
        warmup: int = 0,
        cycles: int = 1,
        growth: float = 1.0,
    ) -> None:
        _positive(steps=steps, cycles=cycles, growth=growth)
        if warmup < 0:
            raise ValueError(f"warmup must not be negative, got {warmup!r}")
        self._initial = initial
        self._steps = steps
        self._final = final
        self._warmup = warmup
        self._cycles = cycles
        self._growth = growth

    def __call__(self, t: int) -> float:
        """Returns the value after ``t`` updates."""
        if t < self._warmup:
            return self._initial * (t + 1) / self._warmup
        passed, length = float(t - self._warmup), float(self._steps)
        for _ in range(self._cycles):
            if passed < length:
                share = 0.5 * (1 + math.cos(math.pi * passed / length))
                return self._final + (self._initial - self._final) * share
            passed -= length
            length *= self._growth
        return self._final


class OneCycle(Schedule):
    """Up to a high value and down to almost nothing, both along half cosines.

    See: `Super-Convergence <https://arxiv.org/abs/1708.07120>`_.

    Args:
        maximum (float): Highest value.
        steps (int): Number of all updates.
        rise (float): Share of the updates in which the value rises, between 0 and 1.
        start_factor (float): The first value is ``maximum / start_factor``.
        end_factor (float): The last value is the first one divided by this number.

    Raises:
        ValueError: If an argument is out of its range.

    Example:
        >>> schedule = chainer.training.schedules.OneCycle(1.0, steps=100)
        >>> [round(float(schedule(step)), 3) for step in (0, 25, 50, 75)]
        [0.04, 0.936, 0.812, 0.283]
    """

    def __init__(
        self,
        maximum: float,
        steps: int,
        rise: float = 0.3,
        start_factor: float = 25.0,
        end_factor: float = 1e4,
    ) -> None:
        _positive(steps=steps, start_factor=start_factor, end_factor=end_factor)
        if not 0 < rise < 1:
            raise ValueError(f"rise must be between 0 and 1, got {rise!r}")
        self._maximum = maximum
        self._steps = steps
        self._rise = rise
        self._start_factor = start_factor
        self._end_factor = end_factor

    def __call__(self, t: int) -> float:
        """Returns the value after ``t`` updates."""
        top = self._rise * self._steps
        start = self._maximum / self._start_factor
        if t < top:
            low, share = start, t / top
        else:
            low = start / self._end_factor
            share = max(0.0, (self._steps - t) / (self._steps - top))
        return low + (self._maximum - low) * 0.5 * (1 - math.cos(math.pi * share))


class Polynomial(Schedule):
    """``final + (initial - final) * (1 - t / steps) ** power``; ``final`` afterwards.

    Args:
        initial (float): First value.
        steps (int): Number of updates until ``final`` is reached.
        power (float): Exponent; 1 for a straight line.
        final (float): Last value.

    Raises:
        ValueError: If ``steps`` or ``power`` is not positive.

    Example:
        >>> schedule = chainer.training.schedules.Polynomial(1.0, steps=100)
        >>> [round(float(schedule(step)), 3) for step in (0, 25, 50, 75)]
        [1.0, 0.75, 0.5, 0.25]
    """

    def __init__(self, initial: float, steps: int, power: float = 1.0, final: float = 0.0) -> None:
        _positive(steps=steps, power=power)
        self._initial = initial
        self._steps = steps
        self._power = power
        self._final = final

    def __call__(self, t: int) -> float:
        """Returns the value after ``t`` updates."""
        left = max(0.0, 1 - t / self._steps)
        return self._final + (self._initial - self._final) * left**self._power


class Step(Schedule):
    """A value that is multiplied by a factor every so often, or at given numbers of updates.

    Args:
        initial (float): First value.
        every (int or sequence of int): Number of updates between two steps, or those at which the
            steps are.
        factor (float): Factor of each step.

    Raises:
        ValueError: If ``every`` is not positive, or its numbers do not ascend.

    Example:
        >>> schedule = chainer.training.schedules.Step(1.0, every=30)
        >>> [round(float(schedule(step)), 3) for step in (0, 25, 50, 75)]
        [1.0, 1.0, 0.1, 0.01]
    """

    def __init__(self, initial: float, every: int | Sequence[int], factor: float = 0.1) -> None:
        if isinstance(every, int):
            _positive(every=every)
        elif list(every) != sorted(every):
            raise ValueError(f"every must be a positive number or ascending ones, got {every!r}")
        self._initial = initial
        self._every = every if isinstance(every, int) else tuple(every)
        self._factor = factor

    def __call__(self, t: int) -> float:
        """Returns the value after ``t`` updates."""
        every = self._every
        count = t // every if isinstance(every, int) else sum(t >= place for place in every)
        return self._initial * self._factor**count


class Constant(Schedule):
    """One value for ever.

    Args:
        value (float): The value.

    Example:
        >>> schedule = chainer.training.schedules.Constant(0.1)
        >>> [round(float(schedule(step)), 3) for step in (0, 25, 50, 75)]
        [0.1, 0.1, 0.1, 0.1]
    """

    def __init__(self, value: float) -> None:
        self._value = value

    def __call__(self, t: int) -> float:
        """Returns the value."""
        return self._value


class Chained(Schedule):
    """Schedules one after another.

    Each but the last is used for a number of updates, and counts from where it begins.

    Args:
        parts: Pairs of a schedule and its number of updates. The number of the last one is None.

    Raises:
        ValueError: If there are no parts, or a number is not positive or missing.

    Example:
        >>> from chainer.training.schedules import Chained, Constant, Polynomial
        >>> schedule = Chained((Constant(1.0), 2), (Polynomial(1.0, 2), None))
        >>> [schedule(t) for t in range(5)]
        [1.0, 1.0, 1.0, 0.5, 0.0]
    """

    def __init__(self, *parts: tuple[Schedule, int | None]) -> None:
        if not parts:
            raise ValueError("Chained needs one schedule or more")
        for schedule, steps in parts[:-1]:
            if steps is None or steps <= 0:
                raise ValueError(
                    f"the number of updates of {schedule!r} must be positive, got {steps!r}"
                )
        if parts[-1][1] is not None:
            raise ValueError(
                f"the number of updates of the last part must be None, got {parts[-1][1]!r}"
            )
        self._parts = parts

    def __call__(self, t: int) -> float:
        """Returns the value after ``t`` updates."""
        for schedule, steps in self._parts:
            if steps is None or t < steps:
                return schedule(t)
            t -= steps
        raise AssertionError("the last part has no end")


class ReduceOnPlateau:
    """A value that falls when a result, such as the validation loss, gets no better.

    It depends on results instead of the number of updates, so it is called with them.

    Args:
        initial (float): First value.
        factor (float): Factor of each reduction, between 0 and 1.
        patience (int): Number of results without an improvement that are tolerated.
        min_delta (float): A result counts as better if it is better by more than this.
        mode (str): ``'min'`` if small results are good, ``'max'`` if large ones are.
        cooldown (int): Number of results after a reduction that are not looked at.
        minimum (float): Smallest value.

    Attributes:
        value (float): The present value.

    Raises:
        ValueError: If an argument is out of its range.

    Example:
        >>> from chainer.training.schedules import ReduceOnPlateau
        >>> schedule = ReduceOnPlateau(1.0, factor=0.5, patience=1)
        >>> [schedule(loss) for loss in (3.0, 2.0, 2.0, 2.0, 1.0)]
        [1.0, 1.0, 1.0, 0.5, 0.5]
    """

    def __init__(
        self,
        initial: float,
        factor: float = 0.1,
        patience: int = 10,
        min_delta: float = 0.0,
        mode: str = "min",
        cooldown: int = 0,
        minimum: float = 0.0,
    ) -> None:
        if not 0 < factor < 1:
            raise ValueError(f"factor must be between 0 and 1, got {factor!r}")
        if mode not in ("min", "max"):
            raise ValueError(f"mode must be 'min' or 'max', got {mode!r}")
        for name, number in (("patience", patience), ("cooldown", cooldown)):
            if number < 0:
                raise ValueError(f"{name} must not be negative, got {number!r}")
        self.value = float(initial)
        self._factor = factor
        self._patience = patience
        self._min_delta = min_delta
        self._sign = 1.0 if mode == "min" else -1.0
        self._cooldown = cooldown
        self._minimum = minimum
        self._best = math.inf
        self._waited = 0
        self._cooling = 0

    def __repr__(self) -> str:
        mode = "min" if self._sign > 0 else "max"
        return (
            f"ReduceOnPlateau(value={self.value}, factor={self._factor}, "
            f"patience={self._patience}, mode={mode!r})"
        )

    def __call__(self, result: float) -> float:
        """Takes a result into account and returns the value.

        Args:
            result (float): The result. One that is not a number counts as no better.

        Returns:
            float: The value.
        """
        signed = self._sign * float(result)
        if signed < self._best - self._min_delta:
            self._best, self._waited = signed, 0
        elif self._cooling == 0:
            self._waited += 1
        if self._cooling:
            self._cooling -= 1
        elif self._waited > self._patience:
            self.value = max(self._minimum, self.value * self._factor)
            self._waited, self._cooling = 0, self._cooldown
        return self.value

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the value and what it depends on.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        self.value = float(serializer("value", self.value))
        self._best = float(serializer("best", self._best))
        self._waited = int(serializer("waited", self._waited))
        self._cooling = int(serializer("cooling", self._cooling))
