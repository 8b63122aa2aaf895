"""The standard updater."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from chainer.core.arguments import wrong_type
from chainer.core.arrays.backend import get_device
from chainer.core.autograd.variable import Variable
from chainer.core.misuse import expect_flags
from chainer.links.link import Link
from chainer.links.loaded_state import check_count
from chainer.links.serializer import Deserializer
from chainer.training.dataset.convert import ConverterLike, call_converter, concat_examples
from chainer.training.optimizers.loaded_state import check_optimizer
from chainer.training.optimizers.optimizer import Optimizer
from chainer.training.updater import Updater
from chainer.training.updaters.placement import move_model

if TYPE_CHECKING:
    from chainer.core.arrays.device import Device
    from chainer.core.typing import ArrayTree, DeviceLike
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.capturing.capture import CapturedStep
    from chainer.training.dataset.iterator import Iterator

T = TypeVar("T")


def call_with_batch(function: Callable[..., T], arrays: ArrayTree) -> T:
    """Calls a function with a converted minibatch.

    A tuple is passed as positional arguments, a dictionary as keyword arguments, anything else as
    it is.
    """
    if isinstance(arrays, tuple):
        return function(*arrays)
    if isinstance(arrays, dict):
        return function(**arrays)
    return function(arrays)


def next_batch(iterator: Iterator) -> Any:
    """Returns the next minibatch of an iterator of the old or the new protocol."""
    try:
        return iterator.next() if hasattr(iterator, "next") else next(iterator)
    except StopIteration as error:
        # The class stays what programs catch. One that an iterator has explained is passed on.
        raise StopIteration(
            *error.args
            or (
                f"the {type(iterator).__name__} of the updater ended before the training: make it "
                "with repeat=True, or stop the training at the end of its data",
            )
        ) from error


def named(value: T | dict[str, T]) -> dict[str, T]:
    """Returns a dictionary of objects by name; a single object is called ``'main'``."""
    return dict(value) if isinstance(value, dict) else {"main": value}


def find_named(kind: str, objects: dict[str, T], name: str) -> T:
    """Returns an object by its name; the KeyError lists the names that exist."""
    if name not in objects:
        raise KeyError(f"no {kind} is called {name!r}; there are: {', '.join(objects)}")
    return objects[name]


def device_or_none(device: DeviceLike) -> Device | None:
    """Returns a device for a specifier; None means none, unlike in ``get_device()``."""
    return None if device is None else get_device(device)


def _check_iterators(iterators: dict[str, Any]) -> None:
    """Raises TypeError unless the objects have the methods of an iterator."""
    # By their methods: iterators and optimizers of programs need not derive from the classes.
    for name, each in iterators.items():
        if isinstance(each, type):
            raise wrong_type(f"iterator {name!r}", "an object", each)
        if not (hasattr(each, "__next__") or hasattr(each, "next")):
            raise TypeError(
                f"iterator {name!r} must be a dataset iterator, such as a SerialIterator, "
                f"got {type(each).__name__}"
            )


def _check_optimizers(optimizers: dict[str, Any]) -> None:
    """Raises TypeError unless the objects have the methods of an optimizer."""
    for name, each in optimizers.items():
        if isinstance(each, type):
            raise wrong_type(f"optimizer {name!r}", "an object", each)
        # Parameters have such a method, too.
        if not hasattr(each, "update") or isinstance(each, Variable):
            raise TypeError(
                f"optimizer {name!r} must be a chainer.Optimizer, got {type(each).__name__}"
            )


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
        converter: Converter function to build input arrays, called with a batch and
            ``input_device`` (see :class:`chainer.dataset.Converter`).
            :func:`chainer.dataset.concat_examples` is used by default.
        device: Device to which the target links of all optimizers are moved, and the training data
            is sent: anything :func:`chainer.get_device` accepts. A negative value means the CPU.
            Links on another GPU stay there, with a FutureWarning. By default, the links are not
            moved.
        loss_func: Loss function. The target link of the main optimizer is used by default.
        loss_scale (float): Loss scaling factor, against vanishing gradients of low precision data
            types like float16. Gradients of loss values are multiplied by it before backprop, and
            gradients of parameters divided by it before the parameters are updated.
        auto_new_epoch (bool): Whether :meth:`~chainer.Optimizer.new_epoch` of each optimizer is
            called when the main iterator finishes an epoch.
        input_device: Device to which the training data is sent; ``device`` by default. If only
            this argument is given, the target links are not moved, as a model on several devices
            needs it.
        capture (bool): Whether the update is recorded once and repeated, see
            :func:`chainer.capture`.

    Attributes:
        converter: Converter function.
        loss_func: Loss function. If it is None, the target link of the main optimizer is used
            instead.
        iteration (int): Current number of completed updates.

    Raises:
        TypeError: If ``iterator`` is neither an iterator nor a dictionary of iterators, or
            ``optimizer`` neither an optimizer nor a dictionary of optimizers. Also if ``capture``
            is set for a subclass that overrides :meth:`update_core`.

    Example:
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> updater.update()
        >>> updater.iteration, updater.epoch
        (1, 0)
    """

    #: Main optimizer, loss function, and the captured update of both.
    _captured: tuple[Any, Any, CapturedStep] | None = None
    #: Whether update_core() has told the main optimizer that an epoch is over.
    _main_is_counted = False

    def __init__(
        self,
        iterator: Iterator | dict[str, Iterator],
        optimizer: Optimizer | dict[str, Optimizer],
        converter: ConverterLike = concat_examples,
        device: DeviceLike = None,
        loss_func: Callable[..., Variable] | None = None,
        loss_scale: float | None = None,
        auto_new_epoch: bool = True,
        *,
        input_device: DeviceLike = None,
        capture: bool = False,
    ) -> None:
        if capture and type(self).update_core is not StandardUpdater.update_core:
            raise TypeError(
                f"capture must be False for {type(self).__name__}, which overrides update_core(): "
                "call chainer.capture() there"
            )
        self._capture = capture
        self._iterators: dict[str, Any] = named(iterator)
        self._optimizers: dict[str, Any] = named(optimizer)
        _check_iterators(self._iterators)
        _check_optimizers(self._optimizers)
        if not callable(converter):
            raise wrong_type("converter", "a function of a batch and a device", converter)
        self.converter = converter
        self.loss_func = loss_func
        # Parts of the model may be on several devices. Then only the batches need one.
        self._device = device_or_none(device)
        self._input_device = self._device if input_device is None else get_device(input_device)
        self.iteration = 0
        self.loss_scale = loss_scale
        expect_flags("StandardUpdater", auto_new_epoch=auto_new_epoch)
        self.auto_new_epoch = auto_new_epoch
        if self._device is not None:
            for each in self._optimizers.values():
                if each.target is not None:
                    move_model(each.target, self._device)
        for each in self._optimizers.values():
            if loss_scale is not None:
                each.set_loss_scale(loss_scale)
            if auto_new_epoch:
                each.use_auto_new_epoch = True
                each._counts_by_default = True

    @property
    def device(self) -> Device | None:
        """Device to which the models were moved (:class:`~chainer.backend.Device`), or None.

        Setting it, as programs for release 4 do, changes where batches are sent.
        """
        return self._device

    @device.setter
    def device(self, device: DeviceLike) -> None:
        self._device = self._input_device = device_or_none(device)

    @property
    def input_device(self) -> Device | None:
        """Device to which batches are sent (:class:`~chainer.backend.Device`), or None."""
        return self._input_device

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
        """Value of :attr:`epoch_detail` before the last update."""
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
        self._main_is_counted = False
        self.update_core()
        self.iteration += 1
        if self._is_epoch_to_count():
            for name, optimizer in self._optimizers.items():
                if name == "main" and self._main_is_counted:
                    continue
                # An overridden update_core() may have counted.
                if optimizer.use_auto_new_epoch and optimizer.epoch == epochs.get(
                    name, optimizer.epoch
                ):
                    optimizer.new_epoch(auto=True)

    def _is_epoch_to_count(self) -> bool:
        iterator = self.get_iterator("main")
        return self.auto_new_epoch and getattr(iterator, "is_new_epoch", False)

    def update_core(self) -> None:
        """Makes one update: a batch is fetched and converted, the main optimizer minimizes.

        Override it for another update routine; ``self.get_iterator()``, ``self.get_optimizer()``,
        ``self.converter`` and ``self.input_device`` are what it needs.
        """
        batch = next_batch(self.get_iterator("main"))
        arrays = call_converter(self.converter, batch, self._input_device)
        optimizer = self.get_optimizer("main")
        loss_func = self.loss_func or optimizer.target
        # As call_with_batch(), with the loss function as the first argument.
        if self._capture:
            call_with_batch(self._captured_update(optimizer, loss_func), arrays)
        elif isinstance(arrays, tuple):
            optimizer.update(loss_func, *arrays)
        elif isinstance(arrays, dict):
            optimizer.update(loss_func, **arrays)
        else:
            optimizer.update(loss_func, arrays)
        # Counted here as in release 7, because programs and tests call update_core() by itself.
        if self._is_epoch_to_count() and optimizer.use_auto_new_epoch:
            optimizer.new_epoch(auto=True)
            self._main_is_counted = True

    def _captured_update(self, optimizer: Any, loss_func: Any) -> CapturedStep:
        """Returns the captured update; a new one if the optimizer or the loss function is new."""
        found = self._captured
        if found is None or found[0] is not optimizer or found[1] is not loss_func:
            # Imported here: it imports links and optimizers, which most programs do not capture.
            from chainer.training.capturing.capture import capture

            def update(*args: Any, **kwargs: Any) -> None:
                optimizer.update(loss_func, *args, **kwargs)

            targets = [optimizer, loss_func] if isinstance(loss_func, Link) else [optimizer]
            found = self._captured = optimizer, loss_func, capture(update, *targets)
        return found[2]

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes iterators, optimizers, their target links and the number of iterations.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        for name, iterator in self._iterators.items():
            iterator.serialize(serializer["iterator:" + name])
        for name, optimizer in self._optimizers.items():
            optimizer.serialize(serializer["optimizer:" + name])
            optimizer.target.serialize(serializer["model:" + name])
            if isinstance(serializer, Deserializer) and isinstance(optimizer, Optimizer):
                # Once more: parameters that had no shape have one now.
                check_optimizer(optimizer)
        self.iteration = serializer("iteration", self.iteration)
        if isinstance(serializer, Deserializer):
            check_count("iteration", self.iteration)
