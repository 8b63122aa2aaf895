"""Extensions that set an attribute of an optimizer by a schedule."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from chainer.core.reporting.summary import to_float
from chainer.training.extension import Extension
from chainer.training.extensions._shift import CountedShift
from chainer.training.optimizers.schedules import ReduceOnPlateau

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.optimizers.optimizer import Optimizer
    from chainer.training.optimizers.parameter_group import ParameterGroup
    from chainer.training.trainer import Trainer


class Scheduled(CountedShift):
    """Trainer extension that sets an optimizer's attribute to the values of a schedule.

    The schedule is evaluated at the number of calls of the extension, which is 0 before the
    training. By default these are iterations; with the trigger ``(1, 'epoch')`` they are epochs.

    Args:
        attr (str): Name of the attribute: ``'lr'``, or ``'alpha'`` for Adam.
        schedule: One of :mod:`chainer.training.schedules`, or any function of the number of calls.
        optimizer: The optimizer, or a group of its parameters
            (:meth:`chainer.GradientMethod.group`). If it is None, the main optimizer of the
            updater.

    Raises:
        TypeError: If the schedule is not callable.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2))
        >>> optimizer = chainer.optimizers.SGD(lr=1.0).setup(model)
        >>> data = [(np.ones(2, np.float32), np.int32(0))] * 8
        >>> iterator = chainer.iterators.SerialIterator(data, 4)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (5, "iteration"))
        >>> schedule = extensions.Scheduled("lr", training.schedules.Cosine(1.0, steps=10))
        >>> trainer.extend(schedule)
        >>> trainer.run()
        >>> print(f"{optimizer.lr:.4f}")
        0.5000
    """

    def __init__(
        self,
        attr: str,
        schedule: Callable[[int], float],
        optimizer: Optimizer | ParameterGroup | None = None,
    ) -> None:
        if not callable(schedule) or isinstance(schedule, ReduceOnPlateau):
            raise TypeError(
                "schedule must be a function of the number of calls, got "
                f"{type(schedule).__name__}; ReduceOnPlateau is for extensions.Plateau"
            )
        super().__init__(attr, schedule(0), optimizer)  # type: ignore[arg-type]
        self._schedule = schedule

    def value_at(self, t: int) -> float:
        """Returns the value after ``t`` calls."""
        return self._schedule(t)


class Plateau(Extension):
    """Trainer extension that reduces an optimizer's attribute when a result gets no better.

    It looks at an observation each time it is called, once an epoch by default: a result of an
    evaluator, or a value of the last iteration of the epoch.

    Args:
        key (str): Key of the observation: ``'validation/main/loss'``.
        attr (str): Name of the attribute: ``'lr'``, or ``'alpha'`` for Adam.
        schedule (ReduceOnPlateau): The rule that decides. By default it is made of the value of the
            optimizer and the other arguments, when the training begins.
        optimizer: The optimizer, or a group of its parameters. If it is None, the main optimizer of
            the updater.
        options: Arguments of :class:`~chainer.training.schedules.ReduceOnPlateau`.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (4, "epoch"))
        >>> trainer.extend(extensions.Plateau("main/accuracy", "lr", patience=1, factor=0.5))
        >>> trainer.run()
        >>> optimizer.lr < 0.1
        True
    """

    trigger = (1, "epoch")

    def __init__(
        self,
        key: str,
        attr: str = "lr",
        schedule: ReduceOnPlateau | None = None,
        optimizer: Optimizer | ParameterGroup | None = None,
        **options: Any,
    ) -> None:
        if schedule is not None and options:
            raise TypeError(f"options {sorted(options)} belong to the schedule that is given")
        self._key = key
        self._attr = attr
        self._optimizer = optimizer
        self._schedule = schedule
        self._options = options
        if schedule is None:
            ReduceOnPlateau(1.0, **options)  # refuses bad options here instead of in the loop

    def _get(self, trainer: Trainer) -> Any:
        return self._optimizer or trainer.updater.get_optimizer("main")

    def initialize(self, trainer: Trainer) -> None:
        """Sets the value, which a snapshot may have changed.

        Args:
            trainer (Trainer): Trainer object that runs the training loop.
        """
        optimizer = self._get(trainer)
        if self._schedule is None:
            self._schedule = ReduceOnPlateau(getattr(optimizer, self._attr), **self._options)
        setattr(optimizer, self._attr, self._schedule.value)

    def __call__(self, trainer: Trainer) -> None:
        """Looks at the result and sets the value.

        Args:
            trainer (Trainer): Trainer object that calls this operator.

        Raises:
            KeyError: If there is no observation of the key.
        """
        if self._key not in trainer.observation:
            raise KeyError(
                f"Plateau looks for {self._key!r}; observed: {sorted(trainer.observation)}"
            )
        if self._schedule is None:
            self.initialize(trainer)
        assert self._schedule is not None
        value = self._schedule(to_float(trainer.observation[self._key]))
        setattr(self._get(trainer), self._attr, value)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the state of the schedule.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        if self._schedule is None:  # loaded before the training: the file has the value
            self._schedule = ReduceOnPlateau(1.0, **self._options)
        self._schedule.serialize(serializer["schedule"])
