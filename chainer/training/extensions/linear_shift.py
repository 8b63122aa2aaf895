"""Linear change of an optimizer attribute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.core.misuse import warn_once
from chainer.training.extensions._shift import AttributeShift

if TYPE_CHECKING:
    from chainer.training.optimizers.optimizer import Optimizer


class LinearShift(AttributeShift):
    """Trainer extension to change an optimizer attribute linearly.

    This extension changes an optimizer attribute from the first value to the last value linearly
    within a specified duration. The typical use case is warming up of the momentum coefficient.

    For example, suppose that this extension is called at every iteration, and
    ``value_range == (x, y)`` and ``time_range == (i, j)``. Then, this extension keeps the attribute
    to be ``x`` up to the ``i``-th iteration, linearly shifts the value to ``y`` by the ``j``-th
    iteration, and then keeps the value to be ``y`` after the ``j``-th iteration.

    The first value (or, after a resume, the last one set) is also set before the training loop
    starts.

    Args:
        attr (str): Name of the optimizer attribute to adjust.
        value_range (tuple of float): The first and the last values of the attribute.
        time_range (tuple of ints): The first and last counts of calls in which the attribute is
            adjusted.
        optimizer (Optimizer): Target optimizer object. If it is None, the main optimizer of the
            trainer is used.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2))
        >>> optimizer = chainer.optimizers.SGD(lr=1.0).setup(model)
        >>> data = [(np.ones(2, np.float32), np.int32(0))] * 8
        >>> iterator = chainer.iterators.SerialIterator(data, 4)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (5, "iteration"))
        >>> shift = extensions.LinearShift("lr", (1.0, 0.0), (0, 10))
        >>> trainer.extend(shift, trigger=(1, "iteration"))
        >>> trainer.run()
        >>> print(f"{optimizer.lr:.4f}")
        0.5000
    """

    def __init__(
        self,
        attr: str,
        value_range: tuple[float, float],
        time_range: tuple[int, int],
        optimizer: Optimizer | None = None,
    ) -> None:
        for name, value in (("value_range", value_range), ("time_range", time_range)):
            if not (hasattr(value, "__len__") and len(value) == 2):
                raise TypeError(f"{name} must be a pair of numbers, got {value!r}")
        if time_range[1] < time_range[0]:
            warn_once(
                "range of times",
                "LinearShift",
                f"time_range of LinearShift ends before it begins: {tuple(time_range)}; the "
                f"arguments are attr, value_range, time_range. {attr!r} jumps from "
                f"{value_range[0]!r} to {value_range[1]!r}",
                stacklevel=3,
            )
        super().__init__(attr, value_range[0], optimizer)
        self._value_range = value_range
        self._time_range = time_range

    def value_at(self, t: int) -> float:
        """Returns the value after ``t`` calls."""
        first, last = self._value_range
        begin, end = self._time_range
        if t <= begin:
            return first
        if t >= end:
            return last
        return first + (last - first) * (t - begin) / (end - begin)
