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

from chainer.core.utils.termination import interrupts_blocked
from chainer.links.serializers.npz import DictionarySerializer
from chainer.training.dataset.convert import ConverterLike, call_converter
from chainer.training.updaters.standard_updater import call_with_batch, next_batch

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkContext, SpawnContext

    from chainer.core.arrays.device import Device
    from chainer.links.link import Link
    from chainer.training.dataset.iterator import Iterator
    from chainer.training.updaters.gradient_exchange import WorkerSide

#: Last command, where all the processes are well.
FINALIZE = "finalize"
#: Last command otherwise: the processes end without waiting for each other.
ABORT = "abort"
_JOIN_SECONDS = 5


def initialized_params(model: Link) -> dict[str, Any]:
    """Returns the parameters of a model that have arrays, by name and in order of the names."""
    named = sorted(model.namedparams(include_uninit=False), key=lambda pair: pair[0])
    return dict(named)


class Worker:
    """A process with a copy of the model, seen from the main process.

    Args:
        context: Context of the module multiprocessing.
        others: Connections of the workers made before, which a forked child must not keep open.
        arguments: Arguments of :func:`run_worker` after the connection.
    """

    def __init__(
        self,
        context: ForkContext | SpawnContext,
        others: list[Connection],
        index: int,
        arguments: tuple[Any, ...],
    ) -> None:
        self.connection, remote = context.Pipe()
        self._index = index
        self._owner = os.getpid()
        inherited = [*others, self.connection] if context.get_start_method() == "fork" else []
        self._process = context.Process(
            target=run_worker, args=(remote, inherited, *arguments), name=f"updater-{index}"
        )
        with interrupts_blocked():
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

    def belongs_here(self) -> bool:
        """Tells whether this process started the worker: not so in one forked off later."""
        return os.getpid() == self._owner

    def is_alive(self) -> bool:
        """Tells whether the process runs."""
        return self._process.is_alive()

    def end(self, command: str) -> None:
        """Sends the last command."""
        with suppress(OSError):
            self.connection.send(command)
        self.connection.close()

    def join(self) -> None:
        """Waits for the end of the process, and ends it where it does not come."""
        self._process.join(_JOIN_SECONDS)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join()


def choose_context(devices: list[Device]) -> ForkContext | SpawnContext:
    """Returns the multiprocessing context: accelerators do not survive a fork."""
    on_host = all(not device.backend.is_accelerator for device in devices)
    if on_host and "fork" in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("fork")
    return multiprocessing.get_context("spawn")


def run_worker(connection: Connection, inherited: list[Connection], *arguments: Any) -> None:
    """Main function of a worker process: computes the gradients of one batch for each command.

    Args:
        connection: Connection to the main process.
        inherited: Connections of other workers, which a fork has copied.
        arguments: Arguments of :func:`work` after the connection.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process ends this one
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in inherited:
        other.close()
    work(connection, *arguments)


def work(
    connection: Connection,
    model: Link,
    iterator: Iterator,
    converter: ConverterLike,
    device: Device,
    loss_func: Callable[..., Any] | None,
    exchange: WorkerSide,
    seed: int,
) -> None:
    """Does the commands that come through a connection, until the last one."""
    numpy.random.seed(seed)
    abort = True
    try:
        _move(model, device, seed)
        params = list(initialized_params(model).values())
        exchange.connect(params, device, connection)
        while True:
            command = connection.recv()
            if command == "update":
                exchange.receive(params)
                arrays = call_converter(converter, next_batch(iterator), device)
                loss = call_with_batch(loss_func or model, arrays)
                model.cleargrads()
                loss.backward()
                del loss
                if not exchange.give(params, connection):
                    break
            elif command == "state":
                serializer = DictionarySerializer()
                serializer.save(iterator)
                connection.send(("state", serializer.target))
            else:
                abort = command != FINALIZE
                break
    except EOFError:  # the main process is gone
        pass
    except Exception:
        with suppress(OSError):
            connection.send(("error", traceback.format_exc()))
    finally:
        exchange.close(abort)
        iterator.finalize()


def _move(model: Link, device: Device, seed: int) -> None:
    """Moves the model to its device, and makes that one the current one."""
    model.to_device(device)
    device.use()
    # CuPy has a generator for each device, which NumPy's seed does not reach.
    if device.backend.name == "cupy":
        device.xp.random.seed(seed)
