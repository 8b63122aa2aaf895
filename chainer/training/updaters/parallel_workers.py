"""Processes that compute gradients for :class:`MultiprocessParallelUpdater`."""

from __future__ import annotations

import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.backend import backend_of, get_device
from chainer.links.serializers.npz import DictionarySerializer
from chainer.training.updaters.standard_updater import call_with_batch, next_batch

if TYPE_CHECKING:
    from chainer.links.base_link import Link

_JOIN_SECONDS = 5


class Layout:
    """Where the parameters of a model lie in a block of bytes.

    Args:
        model: Model whose parameters are all initialized.
    """

    def __init__(self, model: Link) -> None:
        self._fields: list[tuple[int, tuple[int, ...], str]] = []
        self.nbytes = 0
        for _, param in sorted(model.namedparams(), key=lambda pair: pair[0]):
            self._fields.append((self.nbytes, param.shape, param.dtype.str))
            self.nbytes += -(-param.size * param.dtype.itemsize // 64) * 64

    def arrays(self, block: Any) -> list[Any]:
        """Returns an array for each parameter, in order of their names, inside a block."""
        return [
            numpy.frombuffer(
                block, dtype, count=int(numpy.prod(shape, dtype=numpy.int64)), offset=offset
            ).reshape(shape)
            for offset, shape, dtype in self._fields
        ]


def sorted_params(model: Link) -> list[Any]:
    """Returns the parameters of a model in order of their names."""
    return [param for _, param in sorted(model.namedparams(), key=lambda pair: pair[0])]


class Worker:
    """A process with a copy of the model, seen from the main process.

    Args:
        context: Context of the module multiprocessing.
        others: Connections of the workers made before, which a forked child must not keep open.
        arguments: What :func:`run_worker` takes after the connection.
    """

    def __init__(
        self, context: Any, others: list[Any], index: int, arguments: tuple[Any, ...]
    ) -> None:
        self.connection, remote = context.Pipe()
        self._index = index
        self._owner = os.getpid()
        inherited = [*others, self.connection] if context.get_start_method() == "fork" else []
        self._process = context.Process(
            target=run_worker, args=(remote, inherited, *arguments), name=f"updater-{index}"
        )
        self._process.start()
        remote.close()

    def send(self, message: str) -> None:
        """Sends a command.

        Raises:
            RuntimeError: If the process is gone.
        """
        try:
            self.connection.send(message)
        except OSError as error:
            raise self._death() from error

    def receive(self) -> Any:
        """Receives the answer to a command.

        Raises:
            RuntimeError: If the process is gone, or if an exception was raised there; the text
                contains its traceback.
        """
        try:
            kind, value = self.connection.recv()
        except (EOFError, OSError) as error:
            raise self._death() from error
        if kind == "error":
            raise RuntimeError(f"worker process {self._index} of the updater failed:\n{value}")
        return value

    def _death(self) -> RuntimeError:
        self._process.join(_JOIN_SECONDS)
        return RuntimeError(
            f"worker process {self._index} of the updater died (exit code {self._process.exitcode})"
        )

    def close(self) -> None:
        """Ends the process."""
        if os.getpid() != self._owner:
            return
        with suppress(OSError):
            self.connection.send("finalize")
        self.connection.close()
        self._process.join(_JOIN_SECONDS)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join()


def choose_context(devices: list[Any]) -> Any:
    """Returns the multiprocessing context: accelerators do not survive a fork."""
    on_host = all(not get_device(device).backend.is_accelerator for device in devices)
    fork = on_host and "fork" in multiprocessing.get_all_start_methods()
    return multiprocessing.get_context("fork" if fork else "spawn")


def run_worker(
    connection: Any,
    inherited: list[Any],
    model: Link,
    iterator: Any,
    converter: Callable[..., Any],
    device: Any,
    loss_func: Callable[..., Any] | None,
    layout: Layout,
    params_block: Any,
    grads_block: Any,
    seed: int,
) -> None:
    """Main function of a worker process: computes the gradients of one batch for each command."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process ends this one
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in inherited:
        other.close()
    numpy.random.seed(seed)
    try:
        if device is not None:
            model.to_device(device)
        params = sorted_params(model)
        sources, targets = layout.arrays(params_block), layout.arrays(grads_block)
        while True:
            command = connection.recv()
            if command == "update":
                for param, source in zip(params, sources, strict=True):
                    param.array[...] = param.device.send(source)
                arrays = converter(next_batch(iterator), device)
                loss = call_with_batch(loss_func or model, arrays)
                model.cleargrads()
                loss.backward()
                del loss
                connection.send(("done", _write_grads(params, targets)))
            elif command == "state":
                serializer = DictionarySerializer()
                serializer.save(iterator)
                connection.send(("state", serializer.target))
            else:
                break
        iterator.finalize()
    except EOFError:  # the main process is gone
        return
    except Exception:
        with suppress(OSError):
            connection.send(("error", traceback.format_exc()))


def _write_grads(params: list[Any], targets: list[Any]) -> list[int]:
    """Puts the gradients into the shared block; returns the indexes of those that exist."""
    written = []
    for index, (param, target) in enumerate(zip(params, targets, strict=True)):
        grad = param.grad
        if grad is not None:
            target[...] = backend_of(grad).to_host(grad)
            written.append(index)
    return written
