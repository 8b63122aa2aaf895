"""Layers of Caffe without parameters, as callable objects.

They are objects, not closures, so that a model can be copied and pickled. The private names are
the ones of release 7, which subclasses of ``CaffeFunction`` use in methods for further layers.
Functions of ``chainer.functions`` are given by name and looked up when they are called.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import using_config
from chainer.core.typing import VariableLike
from chainer.links.caffe import _schema
from chainer.links.errors import InvalidValueError

if TYPE_CHECKING:
    from chainer.links.chain import Chain


def _call(function: str | Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    if isinstance(function, str):
        named: Callable[..., Any] = getattr(importlib.import_module("chainer.functions"), function)
        return named(*args, **kwargs)
    return function(*args, **kwargs)


class _CallChildLink:
    """A link of the model, which is found by its name, so that copies of the model use their own.

    Args:
        caffe_func: Model.
        name: Name of the link.
    """

    def __init__(self, caffe_func: Chain, name: str) -> None:
        self.name = name
        self.caffe_func = caffe_func

    def __call__(self, *xs: VariableLike, **kwargs: Any) -> Any:
        return self.caffe_func[self.name](*xs, **kwargs)


class _SingleArgumentFunction:
    """A function with fixed arguments behind the input.

    Args:
        func: Function, or its name in ``chainer.functions``.
        args: Positional arguments behind the input.
        kwargs: Keyword arguments.
    """

    def __init__(self, func: str | Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        self.func = func
        self.args = args
        self.kwargs = kwargs

    def __call__(self, x: VariableLike) -> Any:
        return _call(self.func, x, *self.args, **self.kwargs)


class _SingleArgumentFunctionTestMode(_SingleArgumentFunction):
    """The same, always in test mode."""

    def __call__(self, x: VariableLike) -> Any:
        with using_config("train", False):
            return super().__call__(x)


class _SingleArgumentFunctionWithCudnn(_SingleArgumentFunction):
    """The same, with or without cuDNN.

    Args:
        use_cudnn: Whether the function may use it.
        func: Function, or its name in ``chainer.functions``.
        args: Positional arguments behind the input.
        kwargs: Keyword arguments.
    """

    def __init__(
        self, use_cudnn: bool, func: str | Callable[..., Any], *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(func, *args, **kwargs)
        self.use_cudnn = use_cudnn

    def __call__(self, x: VariableLike) -> Any:
        with using_config("use_cudnn", "always" if self.use_cudnn else "never"):
            return super().__call__(x)


class _ListArgumentFunction:
    """A function of a tuple of inputs, with fixed keyword arguments.

    Args:
        func: Function, or its name in ``chainer.functions``.
        kwargs: Keyword arguments.
    """

    def __init__(self, func: str | Callable[..., Any], **kwargs: Any) -> None:
        self.func = func
        self.kwargs = kwargs

    def __call__(self, *xs: VariableLike) -> Any:
        return _call(self.func, xs, **self.kwargs)


class _SeveralArgumentsFunction(_ListArgumentFunction):
    """The same for a function that takes the inputs one by one."""

    def __call__(self, *xs: VariableLike) -> Any:
        return _call(self.func, *xs, **self.kwargs)


class _EltwiseFunction:
    """Product, weighted sum or maximum.

    Args:
        operation: 0 for the product, 1 for the sum, 2 for the maximum.
        coeffs: Coefficient of each input of a sum; None or empty for ones.
    """

    def __init__(self, operation: int, coeffs: Sequence[float] | None = None) -> None:
        self.operation = operation
        self.coeffs = None if coeffs is None else list(coeffs)

    def __call__(self, *xs: VariableLike) -> Variable:
        if self.operation == _schema.ELTWISE_PROD:
            return reduce(lambda x, y: x * y, xs)
        if self.operation == _schema.ELTWISE_MAX:
            return reduce(lambda x, y: _call("maximum", x, y), xs)
        if self.operation != _schema.ELTWISE_SUM:
            raise ValueError(f"Invalid EltwiseParameter.EltwiseOp value: {self.operation}")
        if self.coeffs:
            if len(xs) != len(self.coeffs):
                raise InvalidValueError(
                    f"an Eltwise layer with {len(self.coeffs)} coefficients got {len(xs)} inputs"
                )
            xs = tuple(x * c for c, x in zip(self.coeffs, xs))
        return reduce(lambda x, y: x + y, xs)


class _GlobalPooling:
    """Pooling over all positions."""

    def __init__(self, func: str, stride: Any, pad: Any) -> None:
        self.func = func
        self.stride = stride
        self.pad = pad

    def __call__(self, x: VariableLike) -> Variable:
        return _call(self.func, x, x.shape[2:], stride=self.stride, pad=self.pad)


class _Reshape:
    """Change of the shape from an axis on; 0 keeps a length, -1 means all that is left."""

    def __init__(self, dims: Sequence[int], axis: int, num_axes: int) -> None:
        self.dims = list(dims)
        self.axis = axis
        self.num_axes = num_axes

    def __call__(self, x: VariableLike) -> Variable:
        return _call("reshape", x, shape=self._shape(tuple(x.shape)))

    def _shape(self, shape: tuple[int, ...]) -> list[int]:
        if self.axis == 0 and self.num_axes == -1 and 0 not in self.dims:
            return self.dims
        axis = self.axis + (len(shape) + 1 if self.axis < 0 else 0)
        end = len(shape) if self.num_axes < 0 else axis + self.num_axes
        if not 0 <= axis <= end <= len(shape):
            raise ValueError(f"a Reshape layer of axes {axis} to {end} got an input of {shape}")
        dims: list[int] = []
        for i, dim in enumerate(self.dims):
            if dim == 0 and axis + i >= len(shape):
                raise ValueError(f"a Reshape layer keeps axis {axis + i} of an input of {shape}")
            dims.append(shape[axis + i] if dim == 0 else dim)
        new = [*shape[:axis], *dims, *shape[end:]]
        if -1 not in new and math.prod(new) != math.prod(shape):
            raise ValueError(f"a Reshape layer to {tuple(new)} got an input of {shape}")
        return new
