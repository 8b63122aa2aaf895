"""Data-parallel updates in several processes."""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from chainer.backends.cupy import library, nccl
from chainer.core.arrays.backend import get_device
from chainer.links.serializer import Serializer
from chainer.training.dataset.convert import concat_examples
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


class MultiprocessParallelUpdater(StandardUpdater):
    """Implementation of a multiprocess parallel GPU Updater.

    It behaves similarly to :class:`~chainer.training.updaters.StandardUpdater`, with data-parallel
    computation on several devices of one machine: a process for each device but the first computes
    the gradients of a minibatch from its own iterator; the main process sums all gradients and
    updates the parameters, which the others then get (synchronous parallel SGD). As the gradients
    are summed, divide the learning rate by the number of devices for the step of a mean.

    Between GPUs, one for each process, gradients and parameters travel by NVIDIA NCCL, all of one
    dtype in one piece. Between other devices, also several times the same, they travel through
    shared memory of the host. Only values reported in the main process are seen.

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
        TypeError: If ``iterators`` is an iterator itself, or ``devices`` is neither a dictionary
            nor a list.
        ValueError: If the numbers of iterators and devices differ.
        KeyError: If ``devices`` is a dictionary without ``'main'``.
        RuntimeError: If the devices are GPUs, and NCCL is missing.
    """

    def __init__(
        self,
        iterators: Sequence[Any],
        optimizer: Any,
        converter: Callable[..., Any] = concat_examples,
        devices: dict[str, Any] | Sequence[Any] | None = None,
        auto_new_epoch: bool = True,
    ) -> None:
        self._all_devices = _in_order(devices)
        if hasattr(iterators, "__next__"):  # which list() would take endless batches from
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
        self._exchange.connect(params, get_device(self._all_devices[0]), self._workers)
        # Python waits at its end for processes that wait for commands.
        atexit.register(_close_if_alive, weakref.ref(self))

    def update_core(self) -> None:
        """Makes one update: every process computes gradients, the main optimizer their sum."""
        optimizer = self._optimizers["main"]
        model = optimizer.target
        if self._workers:
            self._exchange.share(self._params(), self._workers)
        arrays = self.converter(next_batch(self._iterators["main"]), self.device)
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

    def serialize(self, serializer: Any) -> None:
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
            except KeyError:  # other releases do not save these iterators: they start afresh
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
        # The link is ended by all at a time; nobody waits for one that is gone.
        orderly = self._exchange.at_rest and all(worker.is_alive() for worker in workers)
        for worker in workers:
            worker.end(FINALIZE if orderly else ABORT)
        self._exchange.close(abort=not orderly)
        for worker in workers:
            worker.join()


def _in_order(devices: Any) -> list[Any]:
    if isinstance(devices, dict):
        if "main" not in devices:
            raise KeyError("'devices' must contain a 'main' key.")
        others = [device for name, device in devices.items() if name != "main"]
        return [devices["main"], *others]
    if isinstance(devices, (list, tuple)):
        return list(devices)
    raise TypeError(
        f"devices must be a dictionary or a list of devices, got {type(devices).__name__}"
    )


def _close_if_alive(reference: weakref.ref[MultiprocessParallelUpdater]) -> None:
    updater = reference()
    if updater is not None:
        updater._close_workers()  # pyright: ignore[reportPrivateUsage]
