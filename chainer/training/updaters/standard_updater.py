"""The standard updater."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from chainer.core.arrays.backend import get_device
from chainer.core.arrays.device_resident import HostToDevice
from chainer.links.link import Link
from chainer.training.dataset.convert import concat_examples
from chainer.training.optimizer import Optimizer
from chainer.training.updater import Updater

if TYPE_CHECKING:
    from chainer.core.arrays.device import Device
    from chainer.core.autograd.variable import Variable


def call_with_batch(function: Callable[..., Any], arrays: Any) -> Any:
    """Calls a function with a converted minibatch.

    A tuple is passed as positional arguments, a dictionary as keyword arguments, anything else as
    it is.
    """
    if isinstance(arrays, tuple):
        return function(*arrays)
    if isinstance(arrays, dict):
        return function(**arrays)
    return function(arrays)


def next_batch(iterator: Any) -> Any:
    """Returns the next minibatch of an iterator of the old or the new protocol."""
    return iterator.next() if hasattr(iterator, "next") else next(iterator)


def _named(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else {"main": value}


def _move(model: Link, device: Device) -> None:
    """Moves a model to a device; where its parts are on several, those on accelerators stay."""
    owners = [link for link in model.links() if any(True for _ in link.params())]
    if len({link.device for link in owners}) < 2:
        model.to_device(device)
    else:
        model.device_resident_accept(HostToDevice(device))


def find_named(kind: str, objects: dict[str, Any], name: str) -> Any:
    """Returns an object by its name; KeyError that tells the names there are."""
    if name not in objects:
        raise KeyError(f"no {kind} is called {name!r}; there are: {', '.join(objects)}")
    return objects[name]


class StandardUpdater(Updater):
    """Standard implementation of Updater.

    It accepts one or more training datasets and one or more optimizers. The default update routine
    assumes that there is only one of each, called ``'main'``; override :meth:`update_core` for
    anything else. Each batch is converted to input arrays by ``converter`` and passed to the loss
    function: a tuple as positional, a dictionary as keyword arguments.

    Args:
        iterator: Dataset iterator for the training dataset. It can also be a dictionary that maps
            strings to iterators. If this is just an iterator, then the iterator is registered by
            the name ``'main'``.
        optimizer: Optimizer to update parameters. It can also be a dictionary that maps strings to
            optimizers. If this is just an optimizer, then the optimizer is registered by the name
            ``'main'``.
        converter: Converter function to build input arrays, called with a batch and ``device``.
            :func:`chainer.dataset.concat_examples` is used by default.
        device: Device to which the training data is sent: anything :func:`chainer.get_device`
            takes. A negative value indicates the host memory (CPU). The target links are moved to a
            device other than the CPU. Of a model with parts on several devices, those that are not
            on the CPU stay where they are.
        loss_func: Loss function. The target link of the main optimizer is used by default.
        loss_scale (float): Loss scaling factor, against vanishing gradients of low precision data
            types like float16. Gradients of loss values are multiplied by it before backprop, and
            gradients of parameters divided by it before the parameters are updated.
        auto_new_epoch (bool): Whether :meth:`~chainer.Optimizer.new_epoch` of each optimizer is
            called when the main iterator finishes an epoch.

    Attributes:
        converter: Converter function.
        loss_func: Loss function. If it is None, the target link of the main optimizer is used
            instead.
        device: Device to which the training data is sent.
        iteration (int): Current number of completed updates.

    Raises:
        TypeError: If ``iterator`` is no iterator or ``optimizer`` no optimizer, nor a dictionary of
            them.
    """

    def __init__(
        self,
        iterator: Any,
        optimizer: Any,
        converter: Callable[..., Any] = concat_examples,
        device: Any = None,
        loss_func: Callable[..., Variable] | None = None,
        loss_scale: float | None = None,
        auto_new_epoch: bool = True,
    ) -> None:
        self._iterators = _named(iterator)
        self._optimizers: dict[str, Any] = _named(optimizer)
        for name, each in self._iterators.items():
            if not (hasattr(each, "__next__") or hasattr(each, "next")):
                raise TypeError(
                    f"iterator {name!r} must be a dataset iterator, such as a SerialIterator, "
                    f"got {type(each).__name__}"
                )
        for name, each in self._optimizers.items():
            if not isinstance(each, Optimizer):
                raise TypeError(
                    f"optimizer {name!r} must be a chainer.Optimizer, got {type(each).__name__}"
                )
        self.converter = converter
        self.loss_func = loss_func
        self.device = device
        self.iteration = 0
        self.loss_scale = loss_scale
        self.auto_new_epoch = auto_new_epoch
        self._move_targets()
        for each in self._optimizers.values():
            if loss_scale is not None:
                each.set_loss_scale(loss_scale)
            if auto_new_epoch:
                each.use_auto_new_epoch = True

    def _move_targets(self) -> None:
        if self.device is None:
            return
        device = get_device(self.device)
        if device.backend.name == "numpy":
            return
        for optimizer in self._optimizers.values():
            if optimizer.target is not None:
                _move(optimizer.target, device)

    @property
    def epoch(self) -> int:
        """Number of epochs the main iterator has completed."""
        return self.get_iterator("main").epoch

    @property
    def epoch_detail(self) -> float:
        """Epochs the main iterator has completed, with the fraction of the present one."""
        return self.get_iterator("main").epoch_detail

    @property
    def previous_epoch_detail(self) -> float | None:
        """What :attr:`epoch_detail` was before the last update."""
        return self.get_iterator("main").previous_epoch_detail

    @property
    def is_new_epoch(self) -> bool:
        """Whether the last update completed an epoch."""
        return self.get_iterator("main").is_new_epoch

    def finalize(self) -> None:
        """Finalizes the updater object: calls the ``finalize`` method of each iterator."""
        for iterator in self._iterators.values():
            iterator.finalize()

    def get_optimizer(self, name: str) -> Any:
        """Gets the optimizer of given name.

        Args:
            name (str): Name of the optimizer.

        Returns:
            Optimizer: Corresponding optimizer.

        Raises:
            KeyError: If there is none of this name.
        """
        return find_named("optimizer", self._optimizers, name)

    def get_all_optimizers(self) -> dict[str, Any]:
        """Gets a dictionary of all optimizers for this updater.

        Returns:
            dict: Dictionary that maps names to optimizers.
        """
        return dict(self._optimizers)

    def get_iterator(self, name: str) -> Any:
        """Gets the dataset iterator of given name.

        Args:
            name (str): Name of the dataset iterator.

        Returns:
            Iterator: Corresponding dataset iterator.

        Raises:
            KeyError: If there is none of this name.
        """
        return find_named("iterator", self._iterators, name)

    def update(self) -> None:
        """Updates the parameters by :meth:`update_core` and counts the iteration."""
        epochs = {name: optimizer.epoch for name, optimizer in self._optimizers.items()}
        self.update_core()
        self.iteration += 1
        if self.auto_new_epoch and getattr(self.get_iterator("main"), "is_new_epoch", False):
            for name, optimizer in self._optimizers.items():
                # An update_core() written for release 7 has counted the epoch itself.
                if optimizer.use_auto_new_epoch and optimizer.epoch == epochs.get(
                    name, optimizer.epoch
                ):
                    optimizer.new_epoch(auto=True)

    def update_core(self) -> None:
        """Makes one update: a batch is fetched and converted, the main optimizer minimizes.

        Override it for another update routine; ``self.get_iterator()``, ``self.get_optimizer()``,
        ``self.converter`` and ``self.device`` are what it works with.
        """
        arrays = self.converter(next_batch(self.get_iterator("main")), self.device)
        optimizer = self.get_optimizer("main")
        loss_func = self.loss_func or optimizer.target
        if isinstance(arrays, tuple):
            optimizer.update(loss_func, *arrays)
        elif isinstance(arrays, dict):
            optimizer.update(loss_func, **arrays)
        else:
            optimizer.update(loss_func, arrays)

    def serialize(self, serializer: Any) -> None:
        """Serializes iterators, optimizers, their target links and the number of iterations.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        for name, iterator in self._iterators.items():
            iterator.serialize(serializer["iterator:" + name])
        for name, optimizer in self._optimizers.items():
            optimizer.serialize(serializer["optimizer:" + name])
            optimizer.target.serialize(serializer["model:" + name])
        self.iteration = serializer("iteration", self.iteration)
