"""Releasing computational graphs that extensions keep alive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.training.extension import Extension

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


class unchain_variables(Extension):
    """Trainer extension to unchain all computational graphs.

    This extension unchains all computational graphs of reported variables after all extensions are
    run, to release memory and to avoid memory leak. It can be used as a last resort when there is
    an extension that uses a variable graph and cannot release the graph in itself. It is triggered
    when ``chainer.config.keep_graph_on_report`` is on, or was on at its previous look, since the
    extension may have turned it off in between.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> trainer.extend(extensions.unchain_variables())
        >>> trainer.run()
        >>> updater.epoch
        2
    """

    priority = 0

    def __init__(self) -> None:
        self._kept_before = False

    def initialize(self, _: Trainer) -> None:
        """Notes whether graphs are kept."""
        self._kept_before = bool(config.keep_graph_on_report)

    def trigger(self, _: Trainer) -> bool:
        """Tells whether the last update may have reported variables with their graph."""
        kept_now = bool(config.keep_graph_on_report)
        fire = kept_now or self._kept_before
        self._kept_before = kept_now
        return fire

    def __call__(self, trainer: Trainer) -> None:
        """Unchains the variables in the observation.

        Args:
            trainer (Trainer): Trainer object that calls this operator.
        """
        for value in trainer.observation.values():
            if isinstance(value, Variable):
                value.unchain_backward()
