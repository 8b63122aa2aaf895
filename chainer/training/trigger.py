"""Triggers: they decide when something happens in a training loop (see :func:`get_trigger`).

The interval is here and not in ``triggers``, because :func:`get_trigger` makes one from a pair such
as ``(1, 'epoch')``. The other triggers import this module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from chainer.links.loaded_state import check_count, check_finite, load_or_warn
from chainer.links.serializer import Deserializer

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer
    from chainer.training.updater import Updater

Trigger: TypeAlias = "Callable[[Trainer], bool]"
"""A callable that takes a trainer and tells whether to do something now."""

TriggerLike: TypeAlias = "Trigger | tuple[float, str] | list[float | str] | None"
"""Argument of :func:`get_trigger`."""

#: Position of a trigger whose state is not in the snapshot.
UNKNOWN = -1


class _HasLength(Protocol):
    """A trigger that knows how long the training is that it stops."""

    def get_training_length(self) -> tuple[float, str]: ...


def never_fire_trigger(trainer: Trainer) -> bool:
    """Trigger that never fires."""
    return False


def get_trigger(trigger: TriggerLike) -> Trigger:
    """Gets a trigger object.

    A trigger is a callable that takes a :class:`~chainer.training.Trainer` and returns a boolean:
    whether to invoke an extension, or to stop the training loop.

    Args:
        trigger: A callable; a pair ``(period, unit)``, from which an
            :class:`~chainer.training.triggers.IntervalTrigger` is made; or None.

    Returns:
        ``trigger`` itself if it is callable, a trigger that never fires if it is None, otherwise an
        :class:`~chainer.training.triggers.IntervalTrigger`.

    Raises:
        TypeError: If the argument is none of these.
        ValueError: If the unit is unknown.

    Example:
        >>> chainer.training.get_trigger((2, 'epoch'))
        IntervalTrigger(2, 'epoch')
    """
    if callable(trigger):
        return trigger
    if trigger is None:
        return never_fire_trigger
    # The argument may come from a program without types.
    pair = cast("object", trigger)
    if isinstance(pair, (tuple, list)) and len(cast("list[Any]", pair)) == 2:
        return IntervalTrigger(*cast("list[Any]", pair))
    raise TypeError(
        "trigger must be a callable, a pair such as (1, 'epoch') or None, "
        f"got {pair!r} of type {type(pair).__name__}"
    )


def training_length(trigger: Trigger) -> tuple[float, str] | None:
    """Returns the length of the training that a stop trigger ends; None if it does not know."""
    if not hasattr(trigger, "get_training_length"):
        return None
    return cast("_HasLength", trigger).get_training_length()


class PositionedTrigger:
    """Base of triggers that remember the position of their last call.

    Args:
        unit: ``'iteration'`` or ``'epoch'``.
    """

    def __init__(self, unit: str) -> None:
        self._position = LastPosition(unit)

    # Subclasses in programs for release 7 define their own __call__ and use these names.

    @property
    def _previous_iteration(self) -> int:
        return self._position.iteration

    @_previous_iteration.setter
    def _previous_iteration(self, value: int) -> None:
        self._position.iteration = value

    @property
    def _previous_epoch_detail(self) -> float:
        return self._position.epoch_detail

    @_previous_epoch_detail.setter
    def _previous_epoch_detail(self, value: float) -> None:
        self._position.epoch_detail = value


class LastPosition:
    """Remembers iteration and epoch of the last call of a trigger.

    A trigger compares the present position with the last one, so that it need not be called at
    each iteration. Both units are remembered: a snapshot contains both, whatever the trigger uses.

    Args:
        unit: ``'iteration'`` or ``'epoch'``: what :meth:`advance` returns.

    Attributes:
        iteration: Iteration of the last call; negative if it is unknown.
        epoch_detail: Position in epochs of the last call; negative if it is unknown.

    Raises:
        ValueError: If the unit is unknown.
    """

    def __init__(self, unit: str) -> None:
        check_unit(unit)
        self._unit = unit
        self.iteration: int = 0
        self.epoch_detail: float = 0.0

    def advance(self, trainer: Trainer) -> tuple[float, float]:
        """Moves to the present position of a trainer.

        Returns:
            tuple: The last position and the present one, in the unit.

        Raises:
            AttributeError: If the unit is epochs and the updater has no ``epoch_detail``.
        """
        updater = trainer.updater
        iteration = updater.iteration
        # Hand-written updaters may not know of epochs.
        epoch = getattr(updater, "epoch_detail", None)
        if self._unit == "iteration":
            last: float = self.iteration
            present: float = iteration
            if last < 0:
                last = iteration - 1
        else:
            if epoch is None:
                raise AttributeError(
                    f"{type(updater).__name__} has no epoch_detail, which a trigger in epochs needs"
                )
            last, present = self.epoch_detail, epoch
            if last < 0:
                last = previous_epoch_detail(updater)
        self.iteration = iteration
        if epoch is not None:
            self.epoch_detail = epoch
        return last, present

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the position.

        Release 4 does not save it. Then a warning tells so, and the trigger assumes that it was
        called at the previous iteration.
        """
        self.iteration = int(
            load_or_warn(serializer, "previous_iteration", self.iteration, UNKNOWN)
        )
        self.epoch_detail = float(
            load_or_warn(serializer, "previous_epoch_detail", self.epoch_detail, float(UNKNOWN))
        )
        if isinstance(serializer, Deserializer):
            if self.iteration != UNKNOWN:
                check_count("previous_iteration of a trigger", self.iteration)
            check_finite("previous_epoch_detail of a trigger", self.epoch_detail)


class IntervalTrigger(PositionedTrigger):
    """Trigger based on a fixed interval.

    It fires at the iterations at which a multiple of the interval is reached or passed since its
    last call. An iteration is an update. An epoch is a sweep over the training dataset, and
    fractions of it are allowed: the trigger uses the attributes ``iteration`` and ``epoch_detail``
    of the updater.

    For the description of triggers, see :func:`~chainer.training.get_trigger`.

    Args:
        period (int or float): Length of the interval, positive. An integer if ``unit`` is
            ``'iteration'``.
        unit (str): Unit of the length: ``'iteration'`` or ``'epoch'``.

    Attributes:
        count (int): Number of whole intervals at the last call. It is 0 before the first call, and
            stays 0 in iterations.

    Raises:
        ValueError: If the unit is unknown or the period is not positive.

    Example:
        >>> from chainer.training import triggers
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (4, "epoch"))
        >>> trigger = triggers.IntervalTrigger(2, "epoch")
        >>> @training.make_extension(trigger=trigger)
        ... def say(trainer):
        ...     print("iteration", trainer.updater.iteration)
        ...
        >>> trainer.extend(say)
        >>> trainer.run()
        iteration 4
        iteration 8
    """

    def __init__(self, period: float, unit: str) -> None:
        super().__init__(unit)
        if not period > 0:
            raise ValueError(f"period must be positive, got {period!r}")
        self.period = period
        self.unit = unit
        self.count = 0

    def __call__(self, trainer: Trainer) -> bool:
        """Decides whether the extension should be called on this iteration.

        Args:
            trainer (Trainer): Trainer object that this trigger is associated with. Its updater is
                used to determine if the trigger should fire.

        Returns:
            bool: True if the corresponding extension should be invoked in this iteration.
        """
        previous, current = self._position.advance(trainer)
        passed = current // self.period
        if self.unit == "epoch":
            self.count = int(passed)
        return previous // self.period != passed

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the position of the last call.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        self._position.serialize(serializer)

    def get_training_length(self) -> tuple[float, str]:
        """Returns period and unit: the length of a training that this trigger stops."""
        return self.period, self.unit

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.period!r}, {self.unit!r})"


def previous_epoch_detail(updater: Updater) -> float:
    """Returns ``updater.previous_epoch_detail``, and 0.0 before the first iteration.

    Hand-written iterators, such as the ones in the guides, may lack the attribute. Then the
    iterations are assumed to be of equal length.
    """
    try:
        previous = updater.previous_epoch_detail
    except AttributeError:
        iteration = updater.iteration
        previous = updater.epoch_detail * (iteration - 1) / iteration if iteration > 0 else None
    return 0.0 if previous is None else previous


def check_unit(unit: str) -> None:
    """Raises ValueError unless ``unit`` is ``'epoch'`` or ``'iteration'``."""
    if unit not in ("epoch", "iteration"):
        raise ValueError(f"Trigger unit must be either 'epoch' or 'iteration', got {unit!r}.")
