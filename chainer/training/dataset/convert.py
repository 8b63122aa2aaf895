"""Converters: they make arrays of minibatches."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any, Generic, ParamSpec, TypeAlias, TypeVar

import numpy

from chainer.core.arrays import backend
from chainer.core.arrays.device import Device
from chainer.core.arrays.lookup import HOST_FAMILY
from chainer.core.freed_memory import keep_freed_memory
from chainer.core.lazy import lazy_module
from chainer.core.misuse import warn_once
from chainer.core.spans import measured
from chainer.core.typing import Array, ArrayTree, DeviceLike, DType, HostArray
from chainer.core.utils.repr_texts import ShowsArguments
from chainer.training.dataset.batch import Batch as FastBatch
from chainer.training.dataset.batch import Example

_P = ParamSpec("_P")
_R = TypeVar("_R")

Batch: TypeAlias = Sequence[Example]
"""Examples that an iterator returned."""

Converted: TypeAlias = ArrayTree
"""Result of a converter: an array, or a tuple or dictionary of arrays."""

ConverterLike: TypeAlias = Callable[..., Any]
"""A :class:`Converter`, or any function that takes a batch and a device."""

Padding: TypeAlias = Any
"""None, a number, or one of these for each element of an example, as a tuple or dictionary."""


class UnequalExamplesError(ValueError, IndexError):
    """The examples of a batch have different numbers of elements.

    Earlier releases raise IndexError, or cut the longer ones off without a word.
    """


def to_device(device: DeviceLike, x: ArrayTree) -> ArrayTree:
    """Sends an array to a given device.

    This method sends a given array to a given device. This method is used in
    :func:`concat_examples`. You can also use this method in a custom converter method used in
    :class:`~chainer.training.Updater` and :class:`~chainer.training.Extension` such as
    :class:`~chainer.training.updaters.StandardUpdater` and
    :class:`~chainer.training.extensions.Evaluator`.

    Args:
        device (int, device specifier or None): Device to which an array is sent. If it is a
            negative integer, an array is sent to CPU. If it is a non-negative one, an array is sent
            to the GPU with the given ID. Anything :func:`chainer.get_device` takes will do. If it
            is None, an array is left in the original device.
        x (array, NumPy scalar, or list, tuple or dict of such): The arrays to send.

    Returns:
        Converted array, or list, tuple or dict of arrays.

    .. seealso:: :func:`chainer.dataset.concat_examples`

    Example:
        >>> chainer.dataset.to_device("@numpy", np.ones(2)).sum()
        2.0
    """
    if device is None:
        return x
    if not isinstance(device, Device):
        device = backend.get_device(device)
    # The usual case, once for each array of each batch: nothing has to be moved.
    if type(x) is numpy.ndarray and device.backend.name == "numpy":
        return x
    # Scalars of NumPy are what the elements of arrays of labels are.
    if isinstance(x, numpy.generic):
        x = numpy.asarray(x)
    return device.send(x)


class Converter(ShowsArguments):
    """Base class of converters.

    A converter makes arrays of a batch. An updater also accepts any other function of a batch and a
    device. The difference is the device: an instance of this class gets a
    :class:`~chainer.backend.Device` or None, other functions a number, as in release 4: -1 for the
    CPU, and the index of a CUDA device.

    Example:
        >>> class Halves(chainer.dataset.Converter):
        ...     def __call__(self, batch, device):
        ...         x = np.stack(batch) / 2
        ...         return x if device is None else device.send(x)
        >>> Halves()([np.array([1.0]), np.array([3.0])], None)
        array([[0.5],
               [1.5]])
    """

    def __call__(self, batch: Batch, device: Device | None) -> Converted:
        """Converts a batch.

        Args:
            batch (list): A list of examples.
            device (chainer.backend.Device): Device to send the arrays to, or None.

        Returns:
            Array, a tuple of arrays, or a dictionary of arrays.
        """
        raise NotImplementedError(f"{type(self).__name__} must define __call__()")


class FunctionConverter(Converter, Generic[_P, _R]):
    """A function as a converter, made by :func:`converter`.

    Args:
        function: Function of a batch and a device.
    """

    def __init__(self, function: Callable[_P, _R]) -> None:
        self._function = function
        # Pages of the reference show the function. The signature is the documented one of release
        # 7: a converter takes what its function takes.
        self.__wrapped__ = function
        self.__signature__ = inspect.signature(lambda *args, **kwargs: None)
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self.__qualname__ = getattr(function, "__qualname__", self.__name__)
        self.__module__ = getattr(function, "__module__", __name__)
        self.__doc__ = function.__doc__
        self._requires_device = _requires_device(function)

    def __repr__(self) -> str:
        return f"<converter {self.__qualname__}>"

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Calls the function with the device as a Device object.

        Args:
            args: The batch, the device, and more arguments of the function.
            kwargs: Keyword arguments of the function. ``device`` may be among them.
        """
        positional: Any = args
        # Positional or keyword, as the function has it; everything else is passed on.
        if len(args) > 1:
            positional = (args[0], as_device(args[1]), *args[2:])
        elif "device" in kwargs or self._requires_device:
            kwargs["device"] = as_device(kwargs.get("device"))
        return self._function(*positional, **kwargs)

    def __reduce__(self) -> str | tuple[Any, ...]:
        module = sys.modules.get(self.__module__)
        if getattr(module, self.__name__, None) is self:
            # The name of a decorated function denotes the converter, so that the function itself
            # cannot be pickled. The name is enough.
            return self.__name__
        return FunctionConverter, (self._function,)


def _requires_device(function: Callable[..., Any]) -> bool:
    """Tells whether a function has a parameter ``device`` without a default."""
    try:
        parameter = inspect.signature(function).parameters.get("device")
    except (TypeError, ValueError):  # not a callable, or one without a signature
        return False
    keyword = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return (
        parameter is not None
        and parameter.default is inspect.Parameter.empty
        and parameter.kind in keyword
    )


def as_device(device: Any) -> Device | None:
    """Returns a device as a Device object; None stays None."""
    return None if device is None else backend.get_device(device)


def converter() -> Callable[[Callable[_P, _R]], FunctionConverter[_P, _R]]:
    """Decorator of functions that are converters.

    The function gets the device as a :class:`~chainer.backend.Device`, even if a specifier was
    given. It gets None from an updater or evaluator that was not given a device, as in release 7:
    :func:`chainer.dataset.to_device` then returns the arrays as they are. All other arguments are
    passed on.

    .. admonition:: Example

        >>> import numpy as np
        >>> import chainer
        >>> @chainer.dataset.converter()
        ... def halves(batch, device):
        ...     return chainer.dataset.to_device(device, np.array(batch) / 2)
        >>> halves([1, 2], -1)
        array([0.5, 1. ])
    """
    return _make_converter


def _make_converter(function: Callable[_P, _R]) -> FunctionConverter[_P, _R]:
    if not callable(function):
        raise TypeError(f"converter() can only wrap a callable, got {function!r}")
    return FunctionConverter(function)


@converter()
@measured("data")
def concat_examples(batch: Batch, device: DeviceLike = None, padding: Padding = None) -> Converted:
    """Concatenates a list of examples into array(s).

    This function converts an "array of tuples" into a "tuple of arrays". Specifically, given a list
    of examples each of which consists of a list of elements, this function first makes an array by
    taking the element in the same position from each example and concatenates them along the
    newly-inserted first axis (called *batch dimension*) into one array. It repeats this for all
    positions and returns the resulting arrays.

    The output type depends on the type of examples in ``batch``. For instance, consider each
    example consists of two arrays ``(x, y)``. Then, this function concatenates ``x`` 's into one
    array, and ``y`` 's into another array, and returns a tuple of these two arrays. Another
    example: consider each example is a dictionary of two entries whose keys are ``'x'`` and
    ``'y'``, respectively, and values are arrays. Then, this function concatenates ``x`` 's into one
    array, and ``y`` 's into another array, and returns a dictionary with two entries ``x`` and
    ``y`` whose values are the concatenated arrays.

    When the arrays to concatenate have different shapes, the behavior depends on the ``padding``
    value. If ``padding`` is None (default), it raises an error. Otherwise, it builds an array of
    the minimum shape that the contents of all arrays can be substituted to. The padding value is
    then used to the extra elements of the resulting arrays.

    .. admonition:: Example

        >>> import numpy as np
        >>> from chainer import dataset
        >>> x = [([1, 2], 1),
        ...      ([3, 4], 2),
        ...      ([5, 6], 3)]
        >>> dataset.concat_examples(x)
        (array([[1, 2],
               [3, 4],
               [5, 6]]), array([1, 2, 3]))
        >>>
        >>> y = [(np.array([1, 2]), 0),
        ...      (np.array([3]), 1),
        ...      (np.array([]), 2)]
        >>> dataset.concat_examples(y, padding=100)
        (array([[  1,   2],
               [  3, 100],
               [100, 100]]), array([0, 1, 2]))
        >>>
        >>> z = [(np.array([1, 2]), np.array([0])),
        ...      (np.array([3]), np.array([])),
        ...      (np.array([]), np.array([2]))]
        >>> dataset.concat_examples(z, padding=(100, 200))
        (array([[  1,   2],
               [  3, 100],
               [100, 100]]), array([[  0],
               [200],
               [  2]]))
        >>> w = [{'feature': np.array([1, 2]), 'label': 0},
        ...      {'feature': np.array([3, 4]), 'label': 1},
        ...      {'feature': np.array([5, 6]), 'label': 2}]
        >>> dataset.concat_examples(w)
        {'feature': array([[1, 2],
               [3, 4],
               [5, 6]]), 'label': array([0, 1, 2])}

    Args:
        batch (list): A list of examples. This is typically given by a dataset iterator.
        device (int or device specifier): Device to which each array is sent, see :func:`to_device`.
            If it is omitted, all arrays are left in the original device.
        padding: Scalar value for extra elements, or one for each element of the examples (a tuple,
            or a dictionary, as the examples are). If this is None (default), an error is raised on
            shape mismatch. Otherwise, an array of minimum dimensionalities that can accommodate all
            arrays is created, and elements outside of the examples are padded by this value. A
            padded array has the dtype of the first example.

    Returns:
        Array, a tuple of arrays, or a dictionary of arrays. The type depends on the type of each
        example in the batch.

    Raises:
        ValueError: If the batch is empty, the examples have different numbers of elements, or
            shapes differ and ``padding`` does not help.
        KeyError: If a dictionary lacks a key of the first one.
        TypeError: If the elements are nothing an array can hold.
    """
    if len(batch) == 0:
        raise ValueError("batch is empty")
    # Rows of arrays that an iterator took are copied at once.
    if type(batch) is FastBatch and padding is None:
        result = batch.concatenated(lambda array: to_device(device, array))
        if result is not None:
            return result
    first = batch[0]
    if isinstance(first, tuple):
        return _concat_tuples(batch, first, device, padding)
    if isinstance(first, dict):
        if not isinstance(padding, dict):
            padding = dict.fromkeys(first, padding)
        more = next((example for example in batch if len(example) > len(first)), None)
        if more is not None:
            left_out = sorted(map(str, set(more) - set(first)))
            warn_once(
                "keys of examples",
                f"{left_out}",
                f"examples of a batch should have the same keys, got one with {left_out}, which "
                "the first one lacks: they are left out",
            )
        return {
            key: to_device(device, _concat([example[key] for example in batch], padding[key]))
            for key in first
        }
    return to_device(device, _concat(batch, padding))


def _concat_tuples(
    batch: Batch, first: tuple[Any, ...], device: DeviceLike, padding: Padding
) -> tuple[Array, ...]:
    size = len(first)
    if not isinstance(padding, tuple):
        padding = (padding,) * size
    elif len(padding) != size:
        raise ValueError(
            f"padding must have {size} elements, as the examples have, got {len(padding)}"
        )
    # zip would cut off the elements that only some examples have.
    try:
        sizes = {len(example) for example in batch}
    except TypeError:
        i, strange = next((i, e) for i, e in enumerate(batch) if not hasattr(e, "__len__"))
        raise TypeError(
            "all examples must be tuples, as the first one of the batch is, but example "
            f"{i} of the batch is {strange!r}"
        ) from None
    if sizes != {size}:
        raise UnequalExamplesError(
            f"all examples must have the same number of elements, got {sorted(sizes)}"
        )
    return tuple(
        to_device(device, _concat(column, pad)) for column, pad in zip(zip(*batch), padding)
    )


def _concat(arrays: Sequence[Array], padding: Padding) -> Array:
    """Returns the arrays, or values, joined along a new first axis."""
    first = arrays[0]
    is_host = type(first) is numpy.ndarray
    is_value = not is_host and not backend.is_array(first)
    if is_value and padding is None:
        return _array_of_values(arrays)
    # Values among arrays, and values to be padded, become arrays first.
    if not all(map(backend.is_array, arrays)):
        arrays = [numpy.asarray(value) for value in arrays]
    if not is_host:
        # Arrays of some backends need an object around them.
        arrays = [backend.wrap(array) for array in arrays]
    if padding is not None:
        # A list of numbers, such as ``[1, 2.5]``, has the data type that holds all of them.
        dtype = numpy.result_type(*arrays) if is_value else arrays[0].dtype
        return _concat_with_padding(arrays, padding, dtype)
    return _stack(arrays)


def _stack(arrays: Sequence[Array]) -> Array:
    """Returns arrays of the same shape joined along a new first axis."""
    shape = arrays[0].shape
    if any(array.shape != shape for array in arrays):
        shapes = sorted({array.shape for array in arrays})
        raise ValueError(
            f"all examples must have the same shape, got {', '.join(map(str, shapes[:5]))}; "
            "give a padding value to fill the smaller ones"
        )
    xp = backend.get_array_module(*arrays)
    if xp is numpy:
        if not shape:
            return numpy.array(arrays)
        keep_freed_memory()
        # Faster than numpy.stack, which makes a view of each array first.
        return numpy.concatenate(arrays).reshape((len(arrays), *shape))
    with backend.get_device_from_array(*arrays):
        return xp.concatenate([array[None] for array in arrays])


def _array_of_values(values: Sequence[Example]) -> HostArray:
    """Returns an array of scalars or nested lists."""
    try:
        array = numpy.asarray(values)
    except ValueError as error:  # values of several shapes
        kinds = ", ".join(sorted({type(value).__name__ for value in values}))
        error.add_note(
            f"The examples of the batch, or their elements, have the types: {kinds}. An example "
            "of several elements must be a tuple."
        )
        raise
    if array.dtype.hasobject:
        strange = next((v for v in values if numpy.asarray(v).dtype.hasobject), values[0])
        raise TypeError(
            "examples must be made of arrays, numbers, and tuples or dictionaries of them, "
            f"got {type(strange).__name__}"
        )
    return array


def _concat_with_padding(arrays: Sequence[Array], padding: Padding, dtype: DType) -> Array:
    first = arrays[0]
    if any(array.ndim != first.ndim for array in arrays):
        dimensions = sorted({array.ndim for array in arrays})
        raise ValueError(
            f"all examples must have the same number of dimensions to be padded, got {dimensions}"
        )
    shape = tuple(map(max, zip(*(array.shape for array in arrays))))
    with backend.get_device_from_array(*arrays):
        xp = backend.get_array_module(*arrays)
        result = xp.full((len(arrays), *shape), padding, dtype=dtype)
        for i, array in enumerate(arrays):
            result[(i, *map(slice, array.shape))] = array
    return result


def call_converter(converter: ConverterLike, batch: Batch, device: Device | None) -> Any:
    """Calls a converter with a device in the form that it expects.

    Converters of this package and instances of :class:`Converter` get the device itself. Other
    functions may have been written for release 4, where a device is a number, and may compare it
    with 0: they get None, -1 for devices with arrays of NumPy or iDeep, and the index of a CUDA
    device. Devices of other backends have no number, so functions get the device itself, too.

    Args:
        converter: The converter.
        batch: A list of examples.
        device: Device, or None.

    Returns:
        Array, a tuple of arrays, or a dictionary of arrays.
    """
    if device is None or isinstance(converter, Converter):
        return converter(batch, device)
    if device.backend.family == HOST_FAMILY:
        return converter(batch, -1)
    return converter(batch, device.index if device.backend.name == "cupy" else device)


# Custom updaters and evaluators of release 7 call it by this name.
_call_converter = call_converter


# Also public here. async_transfer imports this module.
__getattr__, __dir__ = lazy_module(globals(), {"ConcatWithAsyncTransfer": ".async_transfer"})


def _concat_arrays(  # pyright: ignore[reportUnusedFunction]
    arrays: Sequence[Any], padding: Any
) -> Any:
    """Joins the arrays of a column of a batch; the name that converters of client libraries use."""
    return _concat(arrays, padding)


def _concat_arrays_with_padding(  # pyright: ignore[reportUnusedFunction]
    arrays: Sequence[Any], padding: Any
) -> Any:
    """Joins arrays of different shapes; a name that converters of client libraries use."""
    return _concat([numpy.asarray(x) if numpy.isscalar(x) else x for x in arrays], padding)
