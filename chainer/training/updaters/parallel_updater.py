"""Data-parallel updates in one process."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from chainer.core.arrays.backend import get_device, using_device
from chainer.core.arrays.device_resident import device_of
from chainer.links.serializer import Serializer
from chainer.training.dataset.convert import ConverterLike, concat_examples
from chainer.training.updaters.standard_updater import (
    StandardUpdater,
    call_with_batch,
    next_batch,
)

if TYPE_CHECKING:
    from chainer.core.autograd.parameter import Parameter
    from chainer.core.autograd.variable import Variable
    from chainer.core.typing import DeviceLike
    from chainer.links.link import Link
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.dataset.iterator import Iterator as DatasetIterator
    from chainer.training.optimizers.optimizer import Optimizer
    from chainer.training.trainer import Trainer


class ParallelUpdater(StandardUpdater):
    """Implementation of a parallel GPU Updater.

    It behaves similarly to :class:`~chainer.training.updaters.StandardUpdater`, with data-parallel
    computation on several devices of one machine: each minibatch is split, each device has a copy
    of the model, and the gradients of all copies are summed before the parameters of the main model
    are updated (synchronous parallel SGD). A loss that is a mean over its minibatch therefore
    weighs as much as that many losses: divide the learning rate by the number of devices for the
    same step as with one device.

    Values that a model reports have the name of the model as a prefix: ``'main/loss'``,
    ``'second/loss'``.

    Args:
        iterator: Dataset iterator, or a dictionary of iterators, as for the standard updater.
        optimizer: Optimizer, or a dictionary of optimizers, as for the standard updater.
        converter: Converter function to build input arrays. Each batch extracted by the main
            iterator is split equally between the devices and then passed with corresponding
            ``device`` option to this function. :func:`~chainer.dataset.concat_examples` is used by
            default.
        models: Dictionary of models. The main model should be the same model attached to the
            ``'main'`` optimizer. If it is omitted, copies of that are made for the other devices.
        devices: Dictionary of devices to which the training data is sent. The devices should be
            arranged in a dictionary with the same structure as ``models``.
        loss_func: Loss function. The model is used as a loss function by default.
        loss_scale (float): Loss scaling factor, see
            :class:`~chainer.training.updaters.StandardUpdater`.
        auto_new_epoch (bool): See :class:`~chainer.training.updaters.StandardUpdater`.

    Raises:
        ValueError: If neither models nor devices are given, or if they do not have the same names.
        KeyError: If there is no ``'main'`` among them.

    Example:
        Names of other devices, such as ``"@cupy:1"``, may stand here:

        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> from chainer.training.updaters import ParallelUpdater
        >>> updater = ParallelUpdater(iterator, optimizer, devices={"main": -1, "second": -1})
        >>> updater.update()
        >>> updater.iteration
        1
    """

    def __init__(
        self,
        iterator: DatasetIterator | dict[str, DatasetIterator],
        optimizer: Optimizer | dict[str, Optimizer],
        converter: ConverterLike = concat_examples,
        models: dict[str, Link] | None = None,
        devices: dict[str, DeviceLike] | None = None,
        loss_func: Callable[..., Variable] | None = None,
        loss_scale: float | None = None,
        auto_new_epoch: bool = True,
    ) -> None:
        super().__init__(
            iterator,
            optimizer,
            converter,
            None,
            loss_func,
            loss_scale,
            auto_new_epoch,
        )
        if models is None and devices is None:
            raise ValueError("either models or devices must be specified")
        if devices is None:
            devices = dict.fromkeys(models or {})
        if "main" not in devices:
            raise KeyError("'devices' must contain a 'main' key.")
        main = self._optimizers["main"].target
        if models is None:
            models = {name: main if name == "main" else separate_copy(main) for name in devices}
        if set(models) != set(devices):
            raise ValueError(
                f"models and devices must have the same names, got {sorted(models)} and "
                f"{sorted(devices)}"
            )
        if models["main"] is not main:
            raise ValueError("models['main'] must be the target of the 'main' optimizer")
        for name, device in devices.items():
            if device is not None:
                models[name].to_device(get_device(device))
        # The main model comes first: what it initializes is copied to the others.
        self._models = {"main": main, **models}
        self._devices = devices
        self._share_parameters()

    def _share_parameters(self) -> None:
        main = self._models["main"]
        for model in self._models.values():
            if model is not main:
                model.copyparams(main)

    def connect_trainer(self, trainer: Trainer) -> None:
        """Registers the models of the other devices to the reporter of the trainer.

        Args:
            trainer (Trainer): Trainer object to which the updater is registered.
        """
        for name, model in self._models.items():
            if name != "main":
                trainer.reporter.add_observer(name, model)
                trainer.reporter.add_observers(name, model.namedlinks(skipself=True))

    def update_core(self) -> None:
        """Makes one update: splits a batch, sums all models' gradients, updates the main one."""
        optimizer = self._optimizers["main"]
        main = self._models["main"]
        batch = next_batch(self._iterators["main"])
        losses: list[Any] = []
        for index, (name, model) in enumerate(self._models.items()):
            part = batch[index :: len(self._models)]
            # The last batch of an epoch may have fewer examples than there are models.
            if len(part) == 0:
                continue
            if any(True for _ in _uninitialized(model)):
                model.copyparams(main)
            with using_device(device_of(model)):
                arrays = self.converter(part, self._devices[name])
                losses.append(call_with_batch(self.loss_func or model, arrays))
        # Only after all forward computations: they may initialize parameters.
        for model in self._models.values():
            model.cleargrads()
        for loss in losses:
            loss.backward(loss_scale=self.loss_scale)
        # Frees the graphs before the update.
        del losses
        for model in self._models.values():
            if model is not main:
                main.addgrads(model)
        if self.loss_scale is not None:
            # Also the parameters that only the data of another model reached.
            for param in main.params():
                param.loss_scale = self.loss_scale
        optimizer.update()
        self._share_parameters()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes iterators, optimizers, the main model and the number of iterations.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        super().serialize(serializer)
        # Only the main model is in the file.
        if not isinstance(serializer, Serializer):
            self._share_parameters()


def _uninitialized(model: Link) -> Iterator[Parameter]:
    return (param for param in model.params() if not param.is_initialized)


def separate_copy(model: Link) -> Link:
    """Copies a model with its parameters; the copies have no update rules."""
    copied = copy.deepcopy(model)
    for param in copied.params():
        param.update_rule = None
    return copied
