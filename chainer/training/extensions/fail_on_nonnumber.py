"""Stopping when parameters diverge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.core.arrays.backend import backend_of
from chainer.training.extension import Extension

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


class FailOnNonNumber(Extension):
    """Trainer extension to raise RuntimeError if parameters contain NaN or Inf.

    Without it a training whose parameters diverged goes on computing.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> model.predictor.W.array[...] = np.nan
        >>> trainer.extend(extensions.FailOnNonNumber())
        >>> try:
        ...     trainer.run(show_loop_exception_msg=False)
        ... except RuntimeError as error:
        ...     print(type(error).__name__)
        RuntimeError
    """

    def __call__(self, trainer: Trainer) -> None:
        """Checks the parameters of all optimizers.

        Args:
            trainer (Trainer): Trainer object that calls this operator.

        Raises:
            RuntimeError: If a parameter contains a value that is not a finite number; names the
                parameters.
        """
        for optimizer_name, optimizer in trainer.updater.get_all_optimizers().items():
            bad = [
                name
                for name, param in optimizer.target.namedparams(include_uninit=False)  # type: ignore[union-attr]
                if not _is_finite(param.array)
            ]
            if bad:
                raise RuntimeError(
                    f"Kill the process since parameters in optimizer '{optimizer_name}' diverge. "
                    f"R.I.P. Not finite after {trainer.updater.iteration} iterations: "
                    f"{', '.join(bad)}"
                )


def _is_finite(array: object) -> bool:
    backend = backend_of(array)
    with backend.device_of(array):
        return bool(backend.xp.isfinite(array).all())
