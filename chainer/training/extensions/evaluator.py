"""Evaluation on a validation set."""

from __future__ import annotations

import copy
import datetime
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from chainer.core.autograd.function import no_backprop_mode
from chainer.core.config.configuration import using_config
from chainer.core.misuse import warn_once
from chainer.core.reporting.reporter import Reporter, report, report_scope
from chainer.core.reporting.summary import DictSummary
from chainer.links.link import Link
from chainer.training.dataset.convert import ConverterLike, call_converter, concat_examples
from chainer.training.extension import PRIORITY_WRITER, Extension
from chainer.training.extensions.notebook_bar import notebook_bar
from chainer.training.extensions.util import ProgressBar, marks
from chainer.training.updaters.standard_updater import (
    call_with_batch,
    device_or_none,
    find_named,
    named,
)

if TYPE_CHECKING:
    from chainer.core.typing import DeviceLike
    from chainer.training.dataset.iterator import Iterator
    from chainer.training.trainer import Trainer


class Evaluator(Extension):
    """Trainer extension to evaluate models on a validation set.

    It runs the evaluation function on each batch with a :class:`~chainer.Reporter` of its own. The
    means of the reported values over all batches are reported to the reporter of the trainer, with
    the name of the evaluator as a prefix: ``'validation/main/loss'``.

    There are two ways to modify the evaluation besides a custom ``eval_func``: ``eval_hook``,
    called before each evaluation (it may, say, reset a recurrent network), and overriding
    :meth:`evaluate`. An overriding method has to copy the iterators before it uses them (or to
    reset them). The functions are called in test mode, i.e., ``chainer.config.train`` is False.

    This extension is called at the end of each epoch by default.

    Args:
        iterator: Dataset iterator for the validation dataset. It can also be a dictionary of
            iterators. If this is just an iterator, the iterator is registered by the name
            ``'main'``. It must stop after one epoch (``repeat=False``).
        target: Link object or a dictionary of links to evaluate. If this is just a link object, the
            link is registered by the name ``'main'``. Other callables, and None, are for
            ``eval_func`` and subclasses.
        converter: Converter function to build input arrays.
            :func:`~chainer.dataset.concat_examples` is used by default.
        device: Device to which the validation data is sent: anything :func:`chainer.get_device`
            accepts. A negative value means the CPU.
        eval_hook: Function to prepare for each evaluation process; called with the evaluator.
        eval_func: Evaluation function called at each iteration. The main target link is used by
            default.
        progress_bar (bool): Whether the standard output shows the progress of each evaluation. In
            a notebook tqdm draws it (``pip install "chainer[notebook]"``).

    Attributes:
        converter: Converter function.
        device: Device to which the validation data is sent (:class:`~chainer.backend.Device`), or
            None.
        eval_hook: Function to prepare for each evaluation process.
        eval_func: Evaluation function called at each iteration.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> test = chainer.iterators.SerialIterator(data, 4, repeat=False, shuffle=False)
        >>> evaluator = extensions.Evaluator(test, model)
        >>> sorted(evaluator())
        ['main/accuracy', 'main/loss']
        >>> trainer.extend(evaluator)
        >>> trainer.run()
    """

    trigger = (1, "epoch")
    default_name = "validation"  # pyright: ignore[reportAssignmentType]
    priority = PRIORITY_WRITER
    name: str | None = None

    def __init__(
        self,
        iterator: Iterator | dict[str, Iterator],
        target: Link | dict[str, Link],
        converter: ConverterLike = concat_examples,
        device: DeviceLike = None,
        eval_hook: Callable[[Evaluator], Any] | None = None,
        eval_func: Callable[..., Any] | None = None,
        *,
        progress_bar: bool = False,
    ) -> None:
        self._iterators: dict[str, Any] = named(iterator)
        self._targets = named(target)
        for name, each in self._iterators.items():
            # Iterators of programs need not derive from a class; they have no length.
            if hasattr(each, "__len__") and not (
                hasattr(each, "next") or hasattr(each, "__next__")
            ):
                raise TypeError(
                    f"iterator {name!r} must be a dataset iterator, such as a SerialIterator with "
                    f"repeat=False, got {type(each).__name__}"
                )
        for name, each in self._targets.items():
            # Programs with an ``evaluate`` of their own may need none, or another callable.
            if each is not None and not callable(each):
                raise TypeError(
                    f"target {name!r} must be a chainer.Link, got {type(each).__name__}"
                )
        self.converter = converter
        # A device that does not exist is an error here, not at the end of the first epoch.
        self.device = device_or_none(device)
        self.eval_hook = eval_hook
        self.eval_func = eval_func
        self._progress_bar = progress_bar
        for name, each in self._iterators.items():
            if getattr(each, "repeat", False):
                warnings.warn(
                    f"iterator {name!r} of the evaluator has repeat=True: an evaluation that waits "
                    "for it to stop never ends; pass repeat=False to the iterator",
                    stacklevel=2,
                )

    def get_iterator(self, name: str) -> Any:
        """Returns the iterator of the given name."""
        return find_named("iterator", self._iterators, name)

    def get_all_iterators(self) -> dict[str, Any]:
        """Returns a dictionary of all iterators."""
        return dict(self._iterators)

    def get_target(self, name: str) -> Any:
        """Returns the target link of the given name."""
        return find_named("target", self._targets, name)

    def get_all_targets(self) -> dict[str, Any]:
        """Returns a dictionary of all target links."""
        return dict(self._targets)

    def __call__(self, trainer: Trainer | None = None) -> dict[str, Any]:
        """Executes the evaluator extension.

        Unlike usual extensions, this extension can be executed without passing a trainer object.
        The results are also reported by :func:`~chainer.report`, to whatever reporter is current.

        Args:
            trainer (Trainer): Trainer object that invokes this extension. It can be omitted in case
                of calling this extension manually.

        Returns:
            dict: Mean statistics of values reported by the evaluation function, by name.
        """
        reporter = Reporter()
        prefix = "" if self.name is None else self.name + "/"
        for name, target in self._targets.items():
            reporter.add_observer(prefix + name, target)
            if hasattr(target, "namedlinks"):
                reporter.add_observers(prefix + name, target.namedlinks(skipself=True))
        # A reporter of its own: the values of single batches are not for the trainer.
        with reporter, using_config("train", False):
            result = self.evaluate()
        report(result)
        return result

    def evaluate(self) -> dict[str, Any]:
        """Evaluates the model and returns a result dictionary.

        It runs the evaluation loop over the validation dataset, without making computational
        graphs, and averages the reported values. It assumes that the main iterator raises
        ``StopIteration``, as one made with ``repeat=False`` does. Users can override this method to
        customize the evaluation routine.

        Returns:
            dict: Result dictionary. It is further reported via :func:`~chainer.report` without
                specifying any observer.

        Raises:
            ValueError: If the main iterator repeats, so that it would not end.
            TypeError: If a progress bar is wanted, and the iterator does not know its position.
        """
        iterator = self.get_iterator("main")
        eval_func = self.eval_func or self.get_target("main")
        if self.eval_hook:
            self.eval_hook(self)
        # Mocks have any attribute; no iterator but one that says True repeats.
        if getattr(iterator, "repeat", False) is True:
            raise ValueError(
                "the evaluation would never end: the main iterator of the evaluator has "
                "repeat=True; make it with repeat=False"
            )
        if hasattr(iterator, "reset"):
            iterator.reset()
        else:
            warnings.warn(
                "This iterator does not have the reset method. Evaluator copies the iterator "
                "instead of resetting. This behavior is deprecated. Please implement the reset "
                "method.",
                DeprecationWarning,
                stacklevel=2,
            )
            iterator = copy.copy(iterator)
        bar = _EvaluationBar(iterator) if self._progress_bar else None
        summary = DictSummary()
        batch: Any = None
        for batch in iterator:
            observation: dict[str, Any] = {}
            with report_scope(observation):
                arrays = call_converter(self.converter, batch, self.device)
                # Without graphs, whose memory the evaluation does not need.
                with no_backprop_mode():
                    call_with_batch(eval_func, arrays)
            summary.add(observation)
            if bar is not None:
                bar.update()
        if bar is not None:
            bar.close()
        if batch is None:
            text = (
                "the iterator of the evaluator should have batches, got none: nothing is reported"
            )
            warn_once("evaluation without batches", type(self).__name__, text)
        return summary.compute_mean()

    def finalize(self) -> None:
        """Finalizes the evaluator object: calls the ``finalize`` method of each iterator."""
        for iterator in self._iterators.values():
            iterator.finalize()


class _EvaluationBar(ProgressBar):
    """Shows how far an iterator is.

    Args:
        iterator: Iterator with ``current_position`` and ``epoch_detail``.
    """

    def __init__(self, iterator: Iterator) -> None:
        super().__init__()
        for name in ("current_position", "epoch_detail"):
            if not hasattr(iterator, name):
                raise TypeError(
                    f"a progress bar needs an iterator with the attribute {name!r}, which "
                    f"{type(iterator).__name__} does not have"
                )
        self._iterator: Any = iterator
        self._notebook_bar = notebook_bar(leave=False)

    def update(self) -> None:
        if self._notebook_bar is None:
            super().update()
        else:
            position, speed = (line.strip() for line in self.get_lines()[1:])
            self._notebook_bar.show(self._iterator.epoch_detail, f"validation: {position}, {speed}")

    def close(self) -> None:
        if self._notebook_bar is None:
            super().close()
        else:
            self._notebook_bar.close()

    def get_lines(self) -> list[str]:
        iterator = self._iterator
        position, epoch = iterator.current_position, iterator.epoch_detail
        speed, epoch_speed = self.update_speed(position, epoch)
        seconds = (1.0 - epoch) / epoch_speed if epoch_speed > 0 else 0.0
        dataset: Any = getattr(iterator, "dataset", None)
        total = f" / {len(dataset)}" if hasattr(dataset, "__len__") else ""
        left = datetime.timedelta(seconds=seconds)
        return [
            f"validation [{marks(epoch, self._bar_length)}] {epoch:6.2%}\n",
            f"{position:10}{total} iterations\n",
            f"{speed:10.5g} iters/sec. Estimated time to finish: {left}.\n",
        ]
