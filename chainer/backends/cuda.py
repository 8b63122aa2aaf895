"""CUDA utilities on CuPy: devices, copies, kernels (public module ``chainer.backends.cuda``).

The module can be imported anywhere. CuPy is imported when it is first needed; where it cannot be
used, everything that needs it raises a RuntimeError that says what is missing.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, cast

import numpy

from chainer.backends.cupy import library
from chainer.backends.cupy.copies import copy_array
from chainer.backends.cupy.cudnn import library as cudnn_library
from chainer.backends.cupy.device import GpuDevice
from chainer.backends.cupy.placeholders import DummyDeviceType, MissingModule, missing_class
from chainer.backends.cupy.user_kernels import (
    clear_memo,
    elementwise,
    fuse,
    is_cupy,
    memoize,
    raw,
    reduce,
)
from chainer.core.arrays.backend import find_backend, get_array_module, get_backend
from chainer.core.arrays.backend import get_device as _get_device
from chainer.core.config.configuration import config
from chainer.core.lazy import lazy_module
from chainer.core.typing import Array, ArrayTree

__all__ = [
    "DummyDevice",
    "DummyDeviceType",
    "GpuDevice",
    "check_cuda_available",
    "clear_memo",
    "copy",
    "elementwise",
    "fuse",
    "get_array_module",
    "get_cudnn_dropout_states",
    "get_device",
    "get_device_from_array",
    "get_device_from_id",
    "get_max_workspace_size",
    "memoize",
    "raw",
    "reduce",
    "set_max_workspace_size",
    "should_use_cudnn",
    "should_use_cudnn_tensor_core",
    "to_cpu",
    "to_gpu",
]

#: Types of the numbers of devices; a name of release 7 that programs use.
_integer_types = (int, numpy.integer)


def _lazy(name: str) -> Any:
    cupy, _ = library.find()
    if name == "available":
        return cupy is not None
    if name == "cudnn_enabled":
        return cupy is not None and cudnn_library.missing() is None
    if cupy is None:
        if name in ("cupy", "cupyx", "cudnn"):
            return MissingModule(name)
        return missing_class(name, __name__)
    if name == "cupy":
        return cupy
    if name == "cupyx":
        import importlib

        return importlib.import_module("cupyx")
    if name == "ndarray":
        return cupy.ndarray
    if name == "cudnn":
        return MissingModule(name)
    return getattr(cupy.cuda, name)


_LAZY = frozenset(
    {"available", "cudnn_enabled", "cupy", "cupyx", "cudnn", "ndarray", "Device", "Event", "Stream"}
)

__all__ += sorted(_LAZY - {"cudnn", "cupyx"})  # pyright: ignore[reportUnsupportedDunderAll]

__getattr__, __dir__ = lazy_module(globals(), dict.fromkeys(_LAZY, _lazy))


def check_cuda_available() -> None:
    """Raises RuntimeError, saying what is missing, unless CuPy and a CUDA device can be used.

    Example:
        >>> from chainer.backends import cuda
        >>> if cuda.available:
        ...     cuda.check_cuda_available()
    """
    library.require()


# -- devices --------------------------------------------------------------------------------------


DummyDevice = DummyDeviceType()


def get_device_from_id(device_id: int | None) -> Any:
    """Gets the device from an ID integer.

    Args:
        device_id (int or None): ID of a CUDA device; None or a negative number means the CPU.

    Returns:
        Device: The ``cupy.cuda.Device``, or a dummy that represents the CPU.

    Raises:
        RuntimeError: If there is no CUDA; the message says what is missing.

    Example:
        >>> from chainer.backends import cuda
        >>> cuda.get_device_from_id(None).id  # the CPU
        -1
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

    Example:
        >>> from chainer.backends import cuda
        >>> cuda.get_device_from_array(np.zeros(3)).id  # the CPU
        -1
    """
    for array in arrays:
        for item in array if isinstance(array, (list, tuple)) else (array,):
            if is_cupy(item):
                return item.device
    return DummyDevice


def get_device(*args: Any) -> Any:
    """Gets the device from a device object, an ID integer or an array object.

    Deprecated; use :func:`get_device_from_id` or :func:`get_device_from_array`.

    Args:
        args: The first device object, integer or CuPy array decides.

    Returns:
        Device: The ``cupy.cuda.Device``, or a dummy that represents the CPU.

    Example:
        >>> from chainer.backends import cuda
        >>> cuda.get_device(np.zeros(3)).id  # the CPU
        -1
    """
    warnings.warn(
        "get_device is deprecated. Please use get_device_from_id or get_device_from_array instead.",
        DeprecationWarning,
        stacklevel=2,
    )
    for arg in args:
        if is_cupy(arg):
            return arg.device
        if isinstance(arg, (int, numpy.integer)) and not isinstance(arg, bool):
            return get_device_from_id(int(arg))
        if isinstance(arg, DummyDeviceType) or type(arg).__module__.startswith("cupy"):
            return arg
    return DummyDevice


# -- copies ---------------------------------------------------------------------------------------


def to_gpu(array: ArrayTree, device: Any = None, stream: Any = None) -> Any:
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
        ValueError: If ``device`` is a negative number.

    Example:
        On a GPU:

        >>> from chainer.backends import cuda
        >>> x = cuda.to_gpu(np.arange(3))
        >>> isinstance(x, cuda.ndarray), x.device.id
        (True, 0)
    """
    if stream is not None:
        warnings.warn(
            "The stream option is deprecated in chainer.backends.cuda.to_gpu. "
            "Please remove the option.",
            DeprecationWarning,
            stacklevel=2,
        )
    check_cuda_available()
    target = get_backend("cupy").device(_index(device))
    with nullcontext() if stream is None else target, nullcontext() if stream is None else stream:
        return map_arrays(array, lambda item: target.send(_array_or_scalar(item, "gpu")))


def _array_or_scalar(item: Any, where: str) -> Array:
    """Returns an array, or a number as an array without axes; raises TypeError otherwise."""
    scalars = (numpy.generic, int, float, complex)
    # Texts are scalars for NumPy, and have no counterpart on a GPU.
    if isinstance(item, (*scalars, str, bytes) if where == "cpu" else scalars):
        return numpy.asarray(item)
    if find_backend(type(item)) is None:
        raise TypeError(
            f"The array sent to {where} must be numpy.ndarray or cupy.ndarray, or a scalar.\n"
            f"Actual type: {type(item)}."
        )
    return item


def to_cpu(array: ArrayTree, stream: Any = None) -> Any:
    """Copies the given GPU array to host CPU.

    Args:
        array (array, None, list or tuple): Array or arrays to be sent to CPU. A number becomes an
            array without axes.
        stream (cupy.cuda.Stream): CUDA stream.

    Returns:
        numpy.ndarray, list or tuple: Arrays on CPU. Arrays that are there already, and None, are
            returned unchanged.

    Raises:
        TypeError: If something is not an array.

    Example:
        >>> from chainer.backends import cuda
        >>> cuda.to_cpu((np.arange(3), None))  # on the CPU already
        (array([0, 1, 2]), None)
    """
    host = get_backend("numpy").device()

    def move(item: Any) -> Any:
        item = _array_or_scalar(item, "cpu")
        if stream is None or not is_cupy(item):
            return host.send_array(item)
        with item.device:
            return item.get(stream=stream)

    return map_arrays(array, move)


def map_arrays(arrays: ArrayTree, function: Callable[[Array], Array]) -> Any:
    """Applies a function to an array, or to the arrays in a list or tuple.

    Args:
        arrays: The array or arrays. None is returned as it is.
        function: The function. An array that occurs twice is passed to it once.

    Example:
        >>> from chainer.backends import cuda
        >>> cuda.map_arrays([np.arange(3), None], lambda x: x + 1)
        [array([1, 2, 3]), None]
    """
    if arrays is None:
        return None
    if not isinstance(arrays, (list, tuple)):
        return function(arrays)
    results: dict[int, Any] = {}
    items: list[Any] = []
    for item in cast("Sequence[Any]", arrays):
        if item is not None and id(item) not in results:
            results[id(item)] = function(item)
        items.append(results.get(id(item)))
    return items if isinstance(arrays, list) else tuple(items)


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

    Example:
        On a GPU:

        >>> from chainer.backends import cuda
        >>> x = cuda.to_gpu(np.arange(3))
        >>> cuda.copy(x)
        array([0, 1, 2])
    """
    cupy = library.require()
    index = None if out is not None else _index(out_device)
    return copy_array(cupy, array, out, index, stream)


def _index(device: Any) -> int | None:
    """Returns the index of a CUDA device given by any specifier; None for the current device."""
    if device is None or isinstance(device, DummyDeviceType):
        return None
    index = getattr(device, "id", device)
    if not isinstance(index, _integer_types):
        found = _get_device(device)
        index = -1 if found.backend.name != "cupy" else found.index
    if index is not None and index < 0:
        raise ValueError(f"Invalid CUDA device specifier: {device!r}")
    return None if index is None else int(index)


def _get_device_or_current(device: Any) -> Any:
    """Returns the CuPy device of a specifier, or the current one; a name of release 7."""
    cupy = library.require()
    index = _index(device)
    return cupy.cuda.Device() if index is None else cupy.cuda.Device(index)


# -- cuDNN ----------------------------------------------------------------------------------------

_max_workspace_size = 8 * 1024 * 1024


def get_max_workspace_size() -> int:
    """Gets the workspace size for cuDNN in bytes; 8 MiB by default.

    Example:
        >>> from chainer.backends import cuda
        >>> cuda.get_max_workspace_size()
        8388608
    """
    return _max_workspace_size


def set_max_workspace_size(size: int) -> None:
    """Sets the workspace size for cuDNN.

    Args:
        size: The workspace size in bytes.

    Example:
        >>> from chainer.backends import cuda
        >>> cuda.set_max_workspace_size(512 << 20)
        >>> cuda.get_max_workspace_size()
        536870912
        >>> cuda.set_max_workspace_size(8 << 20)  # the default
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

    Example:
        >>> with chainer.using_config("use_cudnn", "never"):
        ...     print(chainer.should_use_cudnn(">=auto"))
        False
    """
    # Through the module object, because a module's own code does not see its lazy attributes.
    this_module: Any = sys.modules[__name__]
    # Before the level is looked at: portable programs may give one that is not valid here.
    if not this_module.cudnn_enabled:
        return False
    if lowest_version and cudnn_library.require().backend_version() < lowest_version:
        return False
    return _allowed("use_cudnn", level, config.use_cudnn)


def should_use_cudnn_tensor_core(dtype: Any) -> bool:
    """Returns whether Tensor Cores should be used for a data type.

    Args:
        dtype: Data type of the inputs.

    Example:
        >>> with chainer.using_config("use_cudnn_tensor_core", "always"):
        ...     if chainer.backends.cuda.cudnn_enabled:
        ...         print(chainer.should_use_cudnn_tensor_core(np.float16))
    """
    if not should_use_cudnn(">=auto"):
        return False
    setting = config.use_cudnn_tensor_core
    if setting == "auto":
        return numpy.dtype(dtype) == numpy.float16
    return setting == "always"


def get_cudnn_dropout_states() -> Any:
    """Refuses: dropout keeps no states of cuDNN in this release.

    Raises:
        RuntimeError: Always, as in earlier releases where cuDNN is not enabled.

    Example:
        >>> from chainer.backends import cuda
        >>> cuda.get_cudnn_dropout_states()
        Traceback (most recent call last):
            ...
        RuntimeError: cuDNN is not enabled for dropout: there are no dropout states.
    """
    raise RuntimeError("cuDNN is not enabled for dropout: there are no dropout states.")
