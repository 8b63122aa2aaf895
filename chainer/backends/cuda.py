"""CUDA utilities on CuPy: devices, copies, kernels (public module ``chainer.backends.cuda``).

The module can be imported anywhere. CuPy is imported when it is first needed; where it cannot be
used, everything that needs it raises a RuntimeError that says what is missing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy

from chainer.backends.cupy import library
from chainer.backends.cupy.copies import copy_array
from chainer.backends.cupy.cudnn import library as cudnn_library
from chainer.core.arrays.backend import find_backend, get_array_module
from chainer.core.arrays.backend import get_device as _get_device
from chainer.core.config.configuration import config
from chainer.core.lazy import lazy_module

__all__ = [
    "DummyDevice",
    "DummyDeviceType",
    "check_cuda_available",
    "clear_memo",
    "copy",
    "elementwise",
    "fuse",
    "get_array_module",
    "get_device",
    "get_device_from_array",
    "get_device_from_id",
    "get_max_workspace_size",
    "memoize",
    "reduce",
    "set_max_workspace_size",
    "should_use_cudnn",
    "should_use_cudnn_tensor_core",
    "to_cpu",
    "to_gpu",
]


class _MissingModule:
    """Placeholder for a missing module of CuPy, whose attributes raise an error with the reason."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        check_cuda_available()
        raise AttributeError(f"{self._name} has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"<{self._name}, not available>"


class _NoCudaType(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        check_cuda_available()
        raise RuntimeError("CUDA is not available")


class _NoCudaArray(metaclass=_NoCudaType):
    """``cuda.ndarray`` and other classes where CuPy is missing: classes without instances."""


def _lazy(name: str) -> Any:
    cupy, _ = library.find()
    if name == "available":
        return cupy is not None
    if name == "cudnn_enabled":
        return cupy is not None and cudnn_library.missing() is None
    if cupy is None:
        if name in ("cupy", "cupyx", "cudnn"):
            return _MissingModule(name)
        return type(name, (_NoCudaArray,), {"__module__": __name__})
    if name == "cupy":
        return cupy
    if name == "cupyx":
        import importlib

        return importlib.import_module("cupyx")
    if name == "ndarray":
        return cupy.ndarray
    if name == "cudnn":
        return _MissingModule(name)
    return getattr(cupy.cuda, name)


_LAZY = frozenset(
    {"available", "cudnn_enabled", "cupy", "cupyx", "cudnn", "ndarray", "Device", "Event", "Stream"}
)


__getattr__, __dir__ = lazy_module(globals(), dict.fromkeys(_LAZY, _lazy))


def check_cuda_available() -> None:
    """Raises RuntimeError, saying what is missing, unless CuPy and a CUDA device can be used."""
    library.require()


# -- devices --------------------------------------------------------------------------------------


class DummyDeviceType:
    """Placeholder for a CUDA device that represents the CPU; its methods do nothing."""

    id = -1

    def __init__(self, device: Any = None) -> None:
        pass

    def __int__(self) -> int:
        return -1

    def __enter__(self) -> DummyDeviceType:
        return self

    def __exit__(self, *args: Any) -> None:
        pass

    def use(self) -> None:
        """Does nothing."""

    def synchronize(self) -> None:
        """Does nothing."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DummyDeviceType)

    def __hash__(self) -> int:
        return hash(DummyDeviceType)


DummyDevice = DummyDeviceType()


def get_device_from_id(device_id: int | None) -> Any:
    """Gets the device from an ID integer.

    Args:
        device_id (int or None): ID of a CUDA device; None or a negative number means the CPU.

    Returns:
        Device: The ``cupy.cuda.Device``, or a dummy that represents the CPU.

    Raises:
        RuntimeError: If there is no CUDA; the message says what is missing.
    """
    if device_id is not None and device_id >= 0:
        return library.require().cuda.Device(int(device_id))
    return DummyDevice


def get_device_from_array(*arrays: Any) -> Any:
    """Gets the device from CuPy arrays.

    Args:
        arrays (array or list of arrays): The first CuPy array decides. Variables are not
            recognized.

    Returns:
        Device: The ``cupy.cuda.Device``, or a dummy that represents the CPU.
    """
    for array in arrays:
        for item in array if isinstance(array, (list, tuple)) else (array,):
            if _is_cupy(item):
                return item.device
    return DummyDevice


def get_device(*args: Any) -> Any:
    """Gets the device from a device object, an ID integer or an array object.

    Deprecated; use :func:`get_device_from_id` or :func:`get_device_from_array`.

    Args:
        args: The first device object, integer or CuPy array decides.

    Returns:
        Device: The ``cupy.cuda.Device``, or a dummy that represents the CPU.
    """
    for arg in args:
        if _is_cupy(arg):
            return arg.device
        if isinstance(arg, (int, numpy.integer)) and not isinstance(arg, bool):
            return get_device_from_id(int(arg))
        if isinstance(arg, DummyDeviceType) or type(arg).__module__.startswith("cupy"):
            return arg
    return DummyDevice


def _is_cupy(obj: Any) -> bool:
    backend = find_backend(type(obj))
    return backend is not None and backend.name == "cupy"


# -- copies ---------------------------------------------------------------------------------------


def to_gpu(array: Any, device: Any = None, stream: Any = None) -> Any:
    """Copies the given CPU array to the specified device.

    Args:
        array (array, None, list or tuple): Array or arrays to be sent to GPU.
        device: Device specifier; the current device if omitted.
        stream (Stream): CUDA stream (deprecated); the copy then runs asynchronously.

    Returns:
        cupy.ndarray, list or tuple: Arrays on GPU. Arrays that are there already, and None, are
            returned unchanged.

    Raises:
        RuntimeError: If there is no CUDA; the message says what is missing.
        TypeError: If something is not an array.
    """
    check_cuda_available()
    target = _get_device("@cupy" if device is None else _specifier(device))
    if stream is None:
        return _map(array, lambda item: target.send(_array_or_scalar(item, "gpu")))
    with target, stream:
        return _map(array, lambda item: target.send(_array_or_scalar(item, "gpu")))


def _specifier(device: Any) -> Any:
    index = getattr(device, "id", None)
    return device if index is None else int(index)


def to_cpu(array: Any, stream: Any = None) -> Any:
    """Copies the given GPU array to host CPU.

    Args:
        array (array, None, list or tuple): Array or arrays to be sent to CPU.
        stream (cupy.cuda.Stream): CUDA stream.

    Returns:
        numpy.ndarray, list or tuple: Arrays on CPU. Arrays that are there already, and None, are
            returned unchanged; scalars become 0-dimensional arrays.

    Raises:
        TypeError: If something is not an array.
    """

    def move(item: Any) -> Any:
        item = _array_or_scalar(item, "cpu")
        if isinstance(item, numpy.ndarray):
            return item
        if stream is not None and _is_cupy(item):
            with item.device:
                return item.get(stream=stream)
        return _get_device("@numpy").send(item)

    return _map(array, move)


def _map(array: Any, function: Callable[[Any], Any]) -> Any:
    if array is None:
        return None
    if isinstance(array, (list, tuple)):
        moved: dict[int, Any] = {}  # an array that occurs twice is copied once
        items = []
        for item in array:
            if item is None:
                items.append(None)
                continue
            if id(item) not in moved:
                moved[id(item)] = function(item)
            items.append(moved[id(item)])
        return items if isinstance(array, list) else tuple(items)
    return function(array)


def _array_or_scalar(item: Any, where: str) -> Any:
    if isinstance(item, (numpy.generic, int, float, complex)):
        return numpy.asarray(item)
    if find_backend(type(item)) is None:
        raise TypeError(
            f"The array sent to {where} must be numpy.ndarray or cupy.ndarray, or a scalar.\n"
            f"Actual type: {type(item)}."
        )
    return item


def copy(array: Any, out: Any = None, out_device: Any = None, stream: Any = None) -> Any:
    """Copies a :class:`cupy.ndarray` object, to another device if asked for.

    The host does not wait. Work submitted before and after, to the current streams, is in order
    with the copy.

    Args:
        array (cupy.ndarray): Array to be copied.
        out (cupy.ndarray): Destination array; ``out_device`` is then ignored.
        out_device: Destination device specifier.
        stream (cupy.cuda.Stream): CUDA stream that makes the copy, of the destination device.

    Returns:
        cupy.ndarray: Copied array.

    Raises:
        RuntimeError: If there is no CUDA; the message says what is missing.
        ValueError: If ``out`` has another shape.
    """
    cupy = library.require()
    index = None if out is not None or out_device is None else _index(out_device)
    return copy_array(cupy, array, out, index, stream)


def _index(device: Any) -> int:
    """Returns the index of a CUDA device given by any specifier."""
    index = _get_device(_specifier(device)).index
    if index is None:
        raise ValueError(f"a CUDA device is needed, got {device!r}")
    return index


# -- kernels --------------------------------------------------------------------------------------


def memoize(for_each_device: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: a function memoizes its results for each argument and device.

    Like ``cupy.memoize()``, but it can be used in the global scope even if CUDA is not available;
    then the function is called each time.

    Args:
        for_each_device (bool): Whether results are kept for each device.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        memoized: list[Callable[..., Any]] = []

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not memoized:
                cupy, _ = library.find()
                memoized.append(
                    function if cupy is None else cupy.memoize(for_each_device)(function)
                )
            return memoized[0](*args, **kwargs)

        return call

    return decorate


def clear_memo() -> None:
    """Clears the memoized results of all functions decorated by :func:`memoize`."""
    cupy, _ = library.find()
    if cupy is not None:
        cupy.clear_memo()


@memoize(for_each_device=True)
def elementwise(in_params: str, out_params: str, operation: str, name: str, **kwargs: Any) -> Any:
    """Creates an elementwise kernel function, cached by its arguments and device.

    Args:
        in_params (str): Input arguments, such as ``'T x, T y'``.
        out_params (str): Output arguments.
        operation (str): Body of the loop.
        name (str): Name of the kernel.
        kwargs: Passed on to ``cupy.ElementwiseKernel``.

    Raises:
        RuntimeError: If there is no CUDA; the message says what is missing.
    """
    return library.require().ElementwiseKernel(in_params, out_params, operation, name, **kwargs)


@memoize(for_each_device=True)
def reduce(
    in_params: str,
    out_params: str,
    map_expr: str,
    reduce_expr: str,
    post_map_expr: str,
    identity: Any,
    name: str,
    **kwargs: Any,
) -> Any:
    """Creates a global reduction kernel function, cached by its arguments and device.

    Args:
        in_params (str): Input arguments.
        out_params (str): Output arguments.
        map_expr (str): Expression applied to each element.
        reduce_expr (str): Expression that combines ``a`` and ``b``.
        post_map_expr (str): Expression applied to the result.
        identity: Value of an empty reduction.
        name (str): Name of the kernel.
        kwargs: Passed on to ``cupy.ReductionKernel``.

    Raises:
        RuntimeError: If there is no CUDA; the message says what is missing.
    """
    return library.require().ReductionKernel(
        in_params, out_params, map_expr, reduce_expr, post_map_expr, identity, name, **kwargs
    )


def fuse(*args: Any, **kwargs: Any) -> Any:
    """Decorator: fuses a function by ``cupy.fuse`` for CuPy arrays, and calls it for others."""
    if len(args) == 1 and callable(args[0]) and not kwargs:
        return fuse()(args[0])

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        fused: list[Callable[..., Any]] = []

        @wraps(function)
        def call(*arguments: Any, **keywords: Any) -> Any:
            if not any(_is_cupy(argument) for argument in arguments):
                return function(*arguments, **keywords)
            if not fused:
                fused.append(library.require().fuse(*args, **kwargs)(function))
            return fused[0](*arguments, **keywords)

        return call

    return decorate


# -- cuDNN ----------------------------------------------------------------------------------------

_max_workspace_size = 8 * 1024 * 1024


def get_max_workspace_size() -> int:
    """Gets the workspace size for cuDNN in bytes; 8 MiB by default."""
    return _max_workspace_size


def set_max_workspace_size(size: int) -> None:
    """Sets the workspace size for cuDNN.

    Args:
        size: The workspace size in bytes.
    """
    global _max_workspace_size
    if size < 0:
        raise ValueError(f"size must not be negative, got {size}")
    _max_workspace_size = int(size)


_LEVELS = {
    "==always": ("always",),
    ">=auto": ("always", "auto"),
}


def _allowed(entry: str, level: str, value: str) -> bool:
    if level not in _LEVELS:
        raise ValueError(f"invalid level {level!r}; it must be '==always' or '>=auto'")
    if value not in ("always", "auto", "never"):
        raise ValueError(f"invalid {entry} configuration: {value!r}")
    return value in _LEVELS[level]


def should_use_cudnn(level: str, lowest_version: int = 0) -> bool:
    """Returns whether cuDNN should be used.

    Args:
        level (str): ``'==always'`` or ``'>=auto'``: the least value of ``config.use_cudnn``.
        lowest_version (int): Lowest version of cuDNN needed, in its own numbers: 90100 is 9.1.0.
    """
    # Through the module object, because a module's own code does not see its lazy attributes.
    this_module: Any = sys.modules[__name__]
    allowed = _allowed("use_cudnn", level, config.use_cudnn) and this_module.cudnn_enabled
    if not allowed or lowest_version == 0:
        return allowed
    return cudnn_library.require().backend_version() >= lowest_version


def should_use_cudnn_tensor_core(dtype: Any) -> bool:
    """Returns whether Tensor Cores should be used for a data type.

    Args:
        dtype: Data type of the inputs.
    """
    if not should_use_cudnn(">=auto"):
        return False
    setting = config.use_cudnn_tensor_core
    if setting == "auto":
        return numpy.dtype(dtype) == numpy.float16
    return setting == "always"
