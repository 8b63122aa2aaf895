"""Exponential moving averages of parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from chainer.core.arrays.backend import copyto, get_device_from_array, using_device
from chainer.core.arrays.lookup import is_array
from chainer.links.link import Link
from chainer.links.loaded_state import serialize_json
from chainer.links.serializer import Deserializer, Serializer
from chainer.training.dataset.convert import concat_examples
from chainer.training.extension import PRIORITY_WRITER, Extension
from chainer.training.extensions.evaluator import Evaluator

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


class ExponentialMovingAverage(Extension):
    """Trainer extension that averages the parameters of a link over the iterations.

    The average moves towards the parameters by the share ``1 - decay`` in each iteration. It
    is often better than the parameters themselves, which jump around a minimum (Polyak and
    Juditsky, 1992). A parameter that is initialized later joins with its first value.

    Persistent values are the link's own or averages, see ``buffers``. Averages are kept in the
    dtype and on the device of what they are averages of.

    Args:
        target: Link whose parameters are averaged.
        decay: Share of the average that is kept in each iteration, from 0 up to, but less than, 1.
        warmup: Whether the decay is at most ``(1 + n) / (10 + n)`` in the n-th update, so that
            the first iterations are soon forgotten.
        buffers: What :meth:`applied` does with persistent values, such as the statistics of batch
            normalization: ``'copy'`` leaves the values of the link, ``'average'`` averages
            arrays of floating point numbers.

    Attributes:
        decay: The decay.
        n_updates: Number of updates of the average.

    Raises:
        TypeError: If ``target`` is not a link.
        ValueError: If another argument is out of its range.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> average = extensions.ExponentialMovingAverage(model, decay=0.9)
        >>> trainer.extend(average)
        >>> trainer.run()
        >>> last = model.predictor.W.array.copy()
        >>> with average.applied():
        ...     print((model.predictor.W.array != last).any())
        ...
        True
    """

    trigger = (1, "iteration")
    # Before evaluators, which may use the average.
    priority = PRIORITY_WRITER + 100

    def __init__(
        self,
        target: Link,
        decay: float = 0.999,
        warmup: bool = False,
        buffers: str = "copy",
    ) -> None:
        if not isinstance(target, Link):
            raise TypeError(f"target must be a chainer.Link, got {type(target).__name__}")
        if not 0 <= decay < 1:
            raise ValueError(f"decay must be from 0 up to, but less than, 1, got {decay}")
        if buffers not in ("average", "copy"):
            raise ValueError(f"buffers must be 'average' or 'copy', got {buffers!r}")
        self.decay = decay
        self.n_updates = 0
        self._target = target
        self._warmup = warmup
        self._buffers = buffers
        self._averages: dict[str, Any] = {}

    def __call__(self, trainer: Trainer | None = None) -> None:
        """Moves the average towards the present parameters.

        Args:
            trainer: Trainer that calls this operator; not needed by those who call it by hand.
        """
        self.n_updates += 1
        decay = self._present_decay()
        for name, value in self._values().items():
            average = self._averages.get(name)
            if average is None or average.shape != value.shape or average.dtype != value.dtype:
                self._averages[name] = value.copy()
                continue
            device = get_device_from_array(value)
            if type(average) is not type(value) or device != _device_of(average):
                self._averages[name] = average = device.send(average)
            with using_device(device):
                average += (1 - decay) * (value - average)

    def _present_decay(self) -> float:
        """Returns the share of the average that is kept in the present update."""
        if self._warmup:
            return min(self.decay, (1 + self.n_updates) / (10 + self.n_updates))
        return self.decay

    def _values(self) -> dict[str, Any]:
        """Returns what is averaged, by name."""
        if self._buffers == "copy":
            return {name: p.array for name, p in self._target.namedparams(include_uninit=False)}
        collector = _Collector()
        collector.save(self._target)
        return {name: value for name, value in collector.values.items() if _is_averaged(value)}

    @contextmanager
    def applied(self, link: Link | None = None) -> Iterator[Link]:
        """Gives a link the averages while the ``with`` block lasts.

        The arrays keep their identity, gradients and states of optimizers are left alone, and what
        the link had before comes back however the block ends.

        Args:
            link: A link of the same structure; the target by default.

        Yields:
            The link.

        Raises:
            ValueError: If the link does not have the structure of the target.
        """
        link = self._target if link is None else link
        before = _Collector(copy=True)
        before.save(link)
        try:
            self.copy_to(link)
            yield link
        finally:
            _Writer(before.values).load(link)

    def copy_to(self, link: Link) -> None:
        """Copies the averages to a link for good.

        Args:
            link: A link of the same structure as the target.

        Raises:
            ValueError: If the link does not have the structure of the target.
        """
        has = _Collector()
        has.save(link)
        for name, average in self._averages.items():
            shape = getattr(has.values.get(name), "shape", None)
            if shape != average.shape:
                raise ValueError(
                    f"link must have {name!r} of shape {average.shape}, as the target has, but "
                    f"there it is {'missing' if name not in has.values else shape}"
                )
        _Writer(self._averages).load(link)

    def serialize(self, serializer: Any) -> None:
        """Serializes the averages and the number of updates.

        Args:
            serializer: Serializer or deserializer.
        """
        self.n_updates = int(serializer("n_updates", self.n_updates))
        names = serialize_json(serializer, "names", list(self._averages))
        averages = serializer["averages"]
        if isinstance(serializer, Serializer):
            for index, name in enumerate(names):
                averages(str(index), self._averages[name])
        else:  # arrays in host memory, which the next update sends where the target is
            self._averages = {
                name: averages(str(index), None).copy() for index, name in enumerate(names)
            }


class EMAEvaluator(Evaluator):
    """Evaluator of a model with averaged parameters.

    It reports as :class:`~chainer.training.extensions.Evaluator` does, under the name
    ``ema_validation``: ``'ema_validation/main/loss'``.

    Args:
        iterator: See :class:`~chainer.training.extensions.Evaluator`, as for the others.
        target: The link whose parameters are averaged, or a dictionary with this link as
            ``'main'``.
        ema: The averages.
        converter: Function that makes input arrays of a batch.
        device: Device to which the validation data is sent.
        eval_hook: Function to prepare each evaluation.
        eval_func: Evaluation function; the target by default.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> average = extensions.ExponentialMovingAverage(model, decay=0.9)
        >>> trainer.extend(average)
        >>> test = chainer.iterators.SerialIterator(data, 4, repeat=False, shuffle=False)
        >>> trainer.extend(extensions.EMAEvaluator(test, model, average))
        >>> trainer.run()
        >>> sorted(trainer.observation)[:2]
        ['ema_validation/main/accuracy', 'ema_validation/main/loss']
    """

    default_name = "ema_validation"  # pyright: ignore[reportAssignmentType]

    def __init__(
        self,
        iterator: Any,
        target: Any,
        ema: ExponentialMovingAverage,
        converter: Callable[..., Any] = concat_examples,
        device: Any = None,
        eval_hook: Callable[[Evaluator], Any] | None = None,
        eval_func: Callable[..., Any] | None = None,
    ) -> None:
        if not isinstance(ema, ExponentialMovingAverage):
            raise TypeError(f"ema must be an ExponentialMovingAverage, got {type(ema).__name__}")
        super().__init__(iterator, target, converter, device, eval_hook, eval_func)
        self._ema = ema

    def evaluate(self) -> dict[str, Any]:
        """Evaluates the model with the averages in place of its parameters.

        Returns:
            Means of the reported values by name.
        """
        with self._ema.applied(self.get_target("main")):
            return super().evaluate()


def _device_of(array: Any) -> Any:
    return get_device_from_array(array)


def _is_averaged(value: Any) -> bool:
    return is_array(value) and value.dtype.kind == "f"


class _Collector(Serializer):
    """Collects parameters and persistent values by name, where they are."""

    def __init__(
        self, copy: bool = False, values: dict[str, Any] | None = None, path: str = ""
    ) -> None:
        self.values: dict[str, Any] = {} if values is None else values
        self._copy = copy
        self._path = path

    def __getitem__(self, key: str) -> _Collector:
        return _Collector(self._copy, self.values, f"{self._path}/{key}")

    def __call__(self, key: str, value: Any) -> Any:
        if value is not None:  # a parameter that is not initialized
            copied = self._copy and is_array(value)
            self.values[f"{self._path}/{key}"] = value.copy() if copied else value
        return value


class _Writer(Deserializer):
    """Puts values by name into a link; what has none is left alone."""

    def __init__(self, values: dict[str, Any], path: str = "") -> None:
        self._values = values
        self._path = path

    def __getitem__(self, key: str) -> _Writer:
        return _Writer(self._values, f"{self._path}/{key}")

    def __call__(self, key: str, value: Any) -> Any:
        new = self._values.get(f"{self._path}/{key}")
        if new is None:
            return value
        if not is_array(value):
            return new
        device = get_device_from_array(value)
        copyto(value, device.send(new))
        return value
