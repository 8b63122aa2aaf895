"""Arrays as ONNX's tensors, and the dtypes of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import Variable, get_device
from chainer.backend import find_backend
from chainer.typing import Array, DTypeLike
from onnx_chainer.optional import require

if TYPE_CHECKING:
    from chainer import Parameter
    from onnx_chainer.context import Context


def as_numpy(array: Array) -> Any:
    """Returns an array of any backend as one of NumPy.

    Args:
        array: The array.
    """
    # Not contiguous arrays are copied when they are serialized, so the layout does not matter.
    # Numbers and lists are arrays of no backend.
    if not isinstance(array, numpy.ndarray) and find_backend(type(array)) is not None:
        array = get_device("@numpy").send(array)
    return numpy.asarray(array)


def element_type(dtype: DTypeLike) -> int:
    """Returns the number that ONNX gives to a dtype.

    Args:
        dtype: The dtype, which may be one of ml_dtypes.

    Raises:
        ValueError: If ONNX has no such type.
    """
    onnx = require("onnx")
    try:
        return onnx.helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype))
    except (KeyError, ValueError) as error:
        raise ValueError(f"ONNX has no type for dtype {numpy.dtype(dtype)}") from error


def tensor_of(array: Array, name: str) -> Any:
    """Returns an array as a TensorProto with raw data.

    Args:
        array: The array.
        name: Name of the tensor.
    """
    onnx = require("onnx")
    return onnx.numpy_helper.from_array(as_numpy(array), name)


def constant_tensor(array: Array, name: str) -> Any:
    """Returns a small array as a TensorProto with typed fields, which tools print readably.

    Args:
        array: The array.
        name: Name of the tensor.
    """
    onnx = require("onnx")
    array = as_numpy(array)
    # Types of 16 bits have a packed representation in typed fields: raw data is simpler there.
    if array.dtype.itemsize == 2 or array.size > 64:
        return onnx.numpy_helper.from_array(array, name)
    return onnx.helper.make_tensor(
        name, element_type(array.dtype), array.shape, array.ravel().tolist()
    )


def value_info(name: str, dtype: DTypeLike, shape: Any) -> Any:
    """Returns the declaration of a value of the graph.

    Args:
        name: Name of the value.
        dtype: Its dtype.
        shape: Its shape; an axis may have a name instead of a length. None: unknown.
    """
    onnx = require("onnx")
    return onnx.helper.make_tensor_value_info(name, element_type(dtype), shape)


def convert_parameter(parameter: Parameter, context: Context) -> Any:
    """Converts a parameter to a tensor that has the name which the context has for it.

    Args:
        parameter (array, Variable or Parameter): The parameter.
        context (onnx_chainer.context.Context): Context of the export.

    Returns:
        onnx.TensorProto: The tensor.

    Raises:
        ValueError: If ``parameter`` is something else.

    Example:
        In a converter of your own, with the context that it gets:

        >>> import onnx_chainer
        >>> class Context:  # a part of the context of an export
        ...     def get_name(self, variable):
        ...         return "W"
        >>> tensor = onnx_chainer.convert_parameter(np.zeros((2, 3), np.float32), Context())
        >>> tensor.name, list(tensor.dims)
        ('W', [2, 3])
    """
    array = parameter.array if isinstance(parameter, Variable) else parameter
    if find_backend(type(array)) is None:
        raise ValueError(
            f"parameter must be an array, a Variable or a Parameter, got {type(parameter)}"
        )
    return tensor_of(array, context.get_name(parameter))
