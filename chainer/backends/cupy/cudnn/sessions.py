"""cuDNN on the devices of this process: handles, streams, workspaces and the plans made so far."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

from chainer.backends import cuda
from chainer.backends.cupy import library as cupy_library
from chainer.backends.cupy.cudnn import library
from chainer.backends.cupy.cudnn.plans import Builder, Plan, Planner, Settings, Signature
from chainer.core.config.configuration import threads

#: Most plans kept for each device and thread; a program with ever new shapes must not grow.
_MEMO_LIMIT = 4096

_DEFAULT_LIMIT = 8 << 20


def workspace_for(signature: Signature, limit: int) -> int:
    """Returns the size of the workspace, in bytes, that a plan may use beside its tensors.

    A limit that the user set holds. The documented default of 8 MiB dates from small devices. It
    would exclude the kernels for Tensor Cores, which copy float16 tensors into another layout
    first. Without a limit of the user, plans may therefore use memory for these copies in addition.

    Args:
        signature: Signature of the plan.
        limit: ``chainer.backends.cuda.get_max_workspace_size()``.
    """
    if limit != _DEFAULT_LIMIT:
        return limit
    return limit + signature.nbytes * 3 // 2


class Session:
    """cuDNN on one device in one thread. Neither handles nor plans are shared between threads.

    Args:
        cudnn: The module ``cudnn``.
        cupy: The module ``cupy``.
        device: Number of the device, which must be the current one.
    """

    def __init__(self, cudnn: ModuleType, cupy: ModuleType, device: int) -> None:
        self._cudnn: Any = cudnn
        self._cupy: Any = cupy
        self.device = device
        self._handle = cudnn.create_handle()
        self._bare_handle = library.bare_handle(self._handle)
        self._stream: int | None = None
        self._planner = Planner(cudnn, handle=self._bare_handle)
        self._plans: dict[Any, Plan] = {}
        # Not at the exit of the interpreter, when CUDA may be shut down already.
        weakref.finalize(self, cudnn.destroy_handle, self._handle).atexit = False

    def run(
        self,
        key: Any,
        pointers: dict[int, int],
        signature: Callable[[], Signature],
        build: Builder,
    ) -> None:
        """Executes the plan of a signature on the current stream; makes it at first use.

        Args:
            key: Hashable; different for different signatures.
            pointers: Number of each tensor -> address.
            signature: Returns the signature.
            build: Adds the operations to the graph.

        Raises:
            RuntimeError: If cuDNN fails; the message names operation and signature.
        """
        stream = self._cupy.cuda.get_current_stream().ptr
        if stream != self._stream:
            self._cudnn.set_stream(handle=self._handle, stream=stream)
            self._stream = stream
        policy = threads.state.policy
        limit = cuda.get_max_workspace_size()
        key = (key, policy, limit)
        plan = self._plans.get(key)
        if plan is None:
            described = signature()
            settings = Settings.of(policy, workspace_for(described, limit))

            def timer(plan: Plan, runs: int) -> float:
                return self._time(plan, runs, pointers)

            plan = self._planner.plan(described, build, settings, timer)
            if len(self._plans) >= _MEMO_LIMIT:
                self._plans.clear()
            self._plans[key] = plan
        try:
            self._execute(plan, pointers)
        except RuntimeError as error:
            raise RuntimeError(f"cuDNN failed in {signature()}: {error}") from error

    def _execute(self, plan: Plan, pointers: dict[int, int]) -> None:
        if plan.workspace == 0:
            plan.execute(pointers, 0, self._bare_handle)
            return
        # The pool reuses the memory for work on the same stream only, which starts after this.
        memory = self._cupy.cuda.alloc(plan.workspace)
        plan.execute(pointers, memory.ptr, self._bare_handle)

    def _time(self, plan: Plan, runs: int, pointers: dict[int, int]) -> float:
        """Returns the milliseconds of a number of runs, after a first run that is not timed."""
        events = self._cupy.cuda
        self._execute(plan, pointers)
        start, stop = events.Event(), events.Event()
        start.record()
        for _ in range(runs):
            self._execute(plan, pointers)
        stop.record()
        stop.synchronize()
        return events.get_elapsed_time(start, stop)


class _Sessions(threading.local):
    def __init__(self) -> None:
        self.by_device: dict[int, Session] = {}


_sessions = _Sessions()


def session(device: int) -> Session:
    """Returns the session of a device, which must be the current one, in this thread.

    Args:
        device: Number of the device.
    """
    found = _sessions.by_device.get(device)
    if found is None:
        found = Session(library.require(), cupy_library.require(), device)
        _sessions.by_device[device] = found
    return found


def on_device_of_first(method: Callable[..., Any]) -> Callable[..., Any]:
    """Makes the device of the first array the current one during a kernel's method."""

    @wraps(method)
    def call(self: Any, first: Any, *args: Any) -> Any:
        device = first.data.device_id
        if device == self.xp.cuda.runtime.getDevice():
            return method(self, first, *args)
        with self.xp.cuda.Device(device):
            return method(self, first, *args)

    return call


class CudnnKernel:
    """Base class of the kernels on cuDNN.

    Args:
        backend: The CuPy backend.

    Attributes:
        xp: The module ``cupy``.
    """

    def __init__(self, backend: Any) -> None:
        self.xp: Any = backend.xp
