"""Data-parallel updates in several processes."""

from __future__ import annotations

import atexit
import warnings
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy

from chainer.backends.cupy import library, nccl
from chainer.core.arrays.backend import get_device
from chainer.links.serializer import Serializer
from chainer.training.dataset.convert import ConverterLike, call_converter, concat_examples
from chainer.training.optimizers.ada_delta import AdaDelta
from chainer.training.optimizers.ada_grad import AdaGrad
from chainer.training.optimizers.adam import Adam
from chainer.training.optimizers.rmsprop import RMSprop
from chainer.training.optimizers.rmsprop_graves import RMSpropGraves
from chainer.training.updaters.flat_arrays import (
    gather_grads,
    gather_params,
    scatter_grads,
    scatter_params,
)
from chainer.training.updaters.gradient_exchange import exchange_for, uses_nccl
from chainer.training.updaters.parallel_updater import separate_copy
from chainer.training.updaters.parallel_workers import (
    ABORT,
    FINALIZE,
    Worker,
    choose_context,
    initialized_params,
)
from chainer.training.updaters.standard_updater import (
    StandardUpdater,
    call_with_batch,
    next_batch,
)

if TYPE_CHECKING:
    from chainer.core.arrays.device import Device
    from chainer.core.typing import DeviceLike
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.dataset.iterator import Iterator
    from chainer.training.optimizers.optimizer import Optimizer

#: The name of release 7.
_get_nccl_data_type = nccl.data_type

__all__ = [
    "MultiprocessParallelUpdater",
    "gather_grads",
    "gather_params",
    "scatter_grads",
    "scatter_params",
]


class MultiprocessParallelUpdater(StandardUpdater):
    """Implementation of a multiprocess parallel GPU Updater.

    It behaves similarly to :class:`~chainer.training.updaters.StandardUpdater`, with data-parallel
    computation on several devices of one machine: a process for each device but the first computes
    the gradients of a minibatch from its own iterator; the main process sums all gradients and
    updates the parameters, which the others then get (synchronous parallel SGD).

    Between GPUs, one for each process, gradients and parameters travel by NVIDIA NCCL, all of one
    dtype in one piece. Between other devices, also several times the same, they travel through
    shared memory of the host. Only values reported in the main process are seen.

    As the gradients are summed, a step would be as many times too long as there are devices. So the
    optimizer is changed, with a UserWarning: ``lr`` is divided by the number of devices. Adam and
    its variants, AdaGrad and RMSprop normalize the gradient instead: their ``eps`` is multiplied by
    the number. The ``eps`` of RMSpropGraves and AdaDelta is inside a square root, and is multiplied
    by the square of the number.

    Parameters must be initialized after the first forward computation; those that are not are left
    alone, and an error if they are initialized later.

    Args:
        iterators: List of dataset iterators for the training dataset, one for each device.
        optimizer: Optimizer to update parameters. The model should be attached to the optimizer.
        converter: Converter function to build input arrays. Each batch extracted by an iterator is
            passed with the corresponding ``device`` option to this function.
            :func:`~chainer.dataset.concat_examples` is used by default.
        devices: Dictionary or list of devices to which the training data is sent. The master device
            will be the first one in the list or the value attached to the key ``'main'``.
        auto_new_epoch (bool): See :class:`~chainer.training.updaters.StandardUpdater`.

    Raises:
        TypeError: If ``iterators`` is an iterator itself.
        ValueError: If ``devices`` is neither a dictionary nor a list, or contains None, or if the
            numbers of iterators and devices differ.
        KeyError: If ``devices`` is a dictionary without ``'main'``.
        RuntimeError: If the devices are GPUs, and NCCL is missing.

    Example:
        >>> from chainer.training.updaters import MultiprocessParallelUpdater
        >>> devices = [0, 1]
        >>> updater = MultiprocessParallelUpdater(  # doctest: +SKIP
        ...     iterators, optimizer, devices=devices
        ... )
    """

    def __init__(
        self,
        iterators: Sequence[Iterator],
        optimizer: Optimizer,
        converter: ConverterLike = concat_examples,
        devices: dict[str, DeviceLike] | Sequence[DeviceLike] | None = None,
        auto_new_epoch: bool = True,
    ) -> None:
        self._all_devices = _in_order(devices)
        # list() would take endless batches from an iterator.
        if hasattr(iterators, "__next__"):
            raise TypeError(
                f"iterators must be a list of iterators, one for each device, got one "
                f"{type(iterators).__name__}"
            )
        iterators = list(iterators)
        if len(iterators) != len(self._all_devices):
            raise ValueError(
                f"there must be one iterator for each device, got {len(iterators)} iterators and "
                f"{len(self._all_devices)} devices"
            )
        if uses_nccl(self._all_devices):
            nccl.require()
        super().__init__(
            iterators[0],
            optimizer,
            converter,
            self._all_devices[0],
            auto_new_epoch=auto_new_epoch,
        )
        _adapt(optimizer, len(self._all_devices))
        self._worker_iterators = iterators[1:]
        self._workers: list[Worker] = []
        self._exchange: Any = None
        self._names: list[str] = []

    @staticmethod
    def available() -> bool:
        """Tells whether the updater can be used.

        Returns:
            bool: False where there are GPUs, but no NCCL for them. Elsewhere CPUs can be used.
        """
        return library.find()[0] is None or nccl.missing() is None

    def setup_workers(self) -> None:
        """Starts the worker processes, unless they are running.

        The parameters of the model must be initialized; :meth:`update_core` calls this method after
        the first forward computation.
        """
        if self._workers or not self._worker_iterators:
            return
        model = self._optimizers["main"].target
        context = choose_context(self._all_devices)
        named = initialized_params(model)
        params = list(named.values())
        self._names = list(named)
        self._exchange = exchange_for(self._all_devices, lambda: context, params)
        if uses_nccl(self._all_devices):  # no worker gets arrays on the device of another
            model = separate_copy(model)
            model.to_device("@numpy")
        for index, iterator in enumerate(self._worker_iterators, 1):
            arguments = (
                model,
                iterator,
                self.converter,
                self._all_devices[index],
                self.loss_func,
                self._exchange.worker_side(index),
                int(numpy.random.randint(2**31)),
            )
            others = [worker.connection for worker in self._workers]
            self._workers.append(Worker(context, others, index, arguments))
        self._exchange.connect(params, self._all_devices[0], self._workers)
        # Python waits at its end for processes that wait for commands.
        atexit.register(_close_if_alive, weakref.ref(self))

    def update_core(self) -> None:
        """Makes one update: every process computes gradients, the main optimizer their sum."""
        optimizer = self._optimizers["main"]
        model = optimizer.target
        if self._workers:
            self._exchange.share(self._params(), self._workers)
        batch = next_batch(self._iterators["main"])
        arrays = call_converter(self.converter, batch, self.input_device)
        loss = call_with_batch(self.loss_func or model, arrays)
        if not self._workers and self._worker_iterators:
            # Only now are all parameters initialized.
            self.setup_workers()
            self._exchange.share(self._params(), self._workers)
        model.cleargrads()
        loss.backward()
        del loss
        if self._workers:
            self._exchange.collect(self._params(), self._workers)
        optimizer.update()

    def _params(self) -> list[Any]:
        """Returns the parameters that are exchanged."""
        params = initialized_params(self._optimizers["main"].target)
        if list(params) != self._names:
            changed = ", ".join(sorted(set(params) ^ set(self._names)))
            raise RuntimeError(
                f"parameters of the model came or went after the first update: {changed}; a "
                "parameter must be initialized by the first forward computation or before"
            )
        return list(params.values())

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes iterators (the workers' too), optimizers, model and iteration count.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.

        Raises:
            RuntimeError: If a state is loaded while the workers are running.
        """
        super().serialize(serializer)
        saving = isinstance(serializer, Serializer)
        if self._workers and not saving:
            raise RuntimeError("load a snapshot before the first update: the workers are running")
        for index, iterator in enumerate(self._worker_iterators, 1):
            child = serializer[f"iterator:worker_{index}"]
            if self._workers:
                worker = self._workers[index - 1]
                worker.send("state")
                for key, value in worker.receive().items():
                    child(key, value)
                continue
            try:
                iterator.serialize(child)
            except KeyError:  # other releases do not save these iterators: they start anew
                continue

    def finalize(self) -> None:
        """Ends the worker processes and finalizes the iterators."""
        self._close_workers()
        for iterator in self._worker_iterators:
            iterator.finalize()
        super().finalize()

    def _close_workers(self) -> None:
        workers, self._workers = self._workers, []
        if not workers or not workers[0].belongs_here():
            return
        # All processes leave the exchange together. Without this check they would wait for one
        # that has died.
        orderly = self._exchange.at_rest and all(worker.is_alive() for worker in workers)
        for worker in workers:
            worker.end(FINALIZE if orderly else ABORT)
        self._exchange.close(abort=not orderly)
        for worker in workers:
            worker.join()


def _in_order(devices: dict[str, DeviceLike] | Sequence[DeviceLike] | None) -> list[Device]:
    """Returns the devices as a list, the main process's device first."""
    if isinstance(devices, dict):
        if "main" not in devices:
            raise KeyError("'devices' must contain a 'main' key.")
        others = [device for name, device in devices.items() if name != "main"]
        specifiers = [devices["main"], *others]
    elif isinstance(devices, (list, tuple)):
        specifiers = list(devices)
    else:
        raise ValueError(
            f"devices must be a dictionary or a list of devices, got {type(devices).__name__}"
        )
    if None in specifiers:
        raise ValueError(f"devices must not contain None, got {specifiers!r}")
    return [get_device(device) for device in specifiers]


def _adapt(optimizer: Optimizer, count: int) -> None:
    """Changes hyperparameters so that the sum of the devices' gradients makes a step of their mean.

    A warning tells the new value.
    """
    if count == 1:
        return
    # A sum of n gradients is n times their mean, and so is the root of its mean square. Where eps
    # is added to that root, n times eps gives the same quotient.
    if isinstance(optimizer, (Adam, AdaGrad, RMSprop)):
        name, value = "eps", optimizer.eps * count
    elif isinstance(optimizer, (RMSpropGraves, AdaDelta)):
        name, value = "eps", optimizer.eps * count**2
    elif hasattr(optimizer, "lr"):
        name, value = "lr", cast("Any", optimizer).lr / count
    else:
        return
    setattr(optimizer, name, value)
    warnings.warn(
        f"optimizer.{name} is changed to {value} by MultiprocessParallelUpdater for new batch "
        "size.",
        stacklevel=3,
    )


def _close_if_alive(reference: weakref.ref[MultiprocessParallelUpdater]) -> None:
    updater = reference()
    if updater is not None:
        updater._close_workers()  # pyright: ignore[reportPrivateUsage]
