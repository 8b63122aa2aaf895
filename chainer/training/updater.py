"""The interface of updaters: what a trainer calls once an iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.core.foreign_names import CheckedKeywords
from chainer.core.lazy import lazy_module
from chainer.core.utils.repr_texts import Plain, call_text, read_or_none

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.optimizers.optimizer import Optimizer
    from chainer.training.trainer import Trainer


class Updater(CheckedKeywords):
    """Interface of updater objects for trainers.

    An updater implements a training iteration as :meth:`update`: it fetches a minibatch from the
    dataset through an :class:`~chainer.dataset.Iterator`, runs the forward and backward computation
    of a chain, and updates the parameters by an :class:`~chainer.Optimizer`.

    A trainer and its extensions rely on the attributes ``iteration`` (number of completed updates),
    ``epoch``, ``epoch_detail``, ``previous_epoch_detail`` and ``is_new_epoch`` as far as they are
    used.

    Example:
        An updater that only counts. A trainer calls :meth:`update` until its stop trigger fires.

        >>> class Counting(training.Updater):
        ...     iteration = epoch = 0
        ...     def update(self):
        ...         self.iteration += 1
        ...     def get_all_optimizers(self):
        ...         return {}
        ...     def finalize(self):
        ...         pass
        >>> updater = Counting()
        >>> training.Trainer(updater, (3, "iteration")).run()
        >>> updater.iteration
        3
    """

    iteration: int
    epoch: Any
    epoch_detail: Any
    previous_epoch_detail: Any
    is_new_epoch: Any

    def __repr__(self) -> str:
        optimizers = read_or_none(self.get_all_optimizers)
        names = (
            None
            if optimizers is None
            else Plain(
                ", ".join(f"{name}: {type(each).__name__}" for name, each in optimizers.items())
            )
        )
        counts = [(n, read_or_none(lambda n=n: getattr(self, n))) for n in ("iteration", "epoch")]
        return call_text(self, [("optimizers", names), *counts])

    def connect_trainer(self, trainer: Trainer) -> None:
        """Connects the updater to the trainer that will call it.

        Called at the end of the initialization of :class:`~chainer.training.Trainer`; typically
        used to register further links to the reporter of the trainer. Does nothing by default.

        Args:
            trainer (Trainer): Trainer object to which the updater is registered.
        """

    def finalize(self) -> None:
        """Finalizes the updater object; called at the end of training loops.

        It should finalize each dataset iterator used in this updater.
        """
        raise NotImplementedError(f"{type(self).__name__} must define finalize()")

    def get_optimizer(self, name: str) -> Optimizer:
        """Gets the optimizer of given name.

        Args:
            name (str): Name of the optimizer.

        Returns:
            Optimizer: Optimizer of the name.
        """
        raise NotImplementedError(f"{type(self).__name__} must define get_optimizer()")

    def get_all_optimizers(self) -> dict[str, Optimizer]:
        """Gets a dictionary of all optimizers for this updater.

        Returns:
            dict: Dictionary that maps names to optimizers.
        """
        raise NotImplementedError(f"{type(self).__name__} must define get_all_optimizers()")

    def update(self) -> None:
        """Updates the parameters of the target model; called once per iteration.

        It implements an update formula for the training task, including data loading,
        forward/backward computations, and actual updates of parameters.
        """
        raise NotImplementedError(f"{type(self).__name__} must define update()")

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the current state of the updater object.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        raise NotImplementedError(f"{type(self).__name__} must define serialize()")


# Attributes of this module since release 2.
__getattr__, __dir__ = lazy_module(
    globals(),
    {
        "ParallelUpdater": "chainer.training.updaters.parallel_updater",
        "StandardUpdater": "chainer.training.updaters.standard_updater",
    },
)
