"""Layers of Caffe without parameters, as callable objects.

They are objects, not closures, so that a model can be copied and pickled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import using_config
from chainer.core.typing import VariableLike
from chainer.functions.activation.leaky_relu import leaky_relu
from chainer.functions.activation.relu import relu
from chainer.functions.array.concat import concat
from chainer.functions.array.reshape import reshape
from chainer.functions.array.split_axis import split_axis
from chainer.functions.loss.softmax_cross_entropy import softmax_cross_entropy
from chainer.functions.math.maximum import maximum
from chainer.links.caffe import _schema


@dataclass(frozen=True)
class Call:
    """A function with fixed arguments behind the inputs."""

    function: Callable[..., Variable]
    args: tuple[Any, ...] = ()

    def __call__(self, x: VariableLike) -> Variable:
        return self.function(x, *self.args)


@dataclass(frozen=True)
class TestMode:
    """A link that is always in test mode."""

    link: Callable[..., Variable]

    def __call__(self, x: VariableLike) -> Variable:
        with using_config("train", False):
            return self.link(x)


@dataclass(frozen=True)
class ReLU:
    """Rectifier, leaky if the slope is not zero."""

    slope: float

    def __call__(self, x: VariableLike) -> Variable:
        return leaky_relu(x, self.slope) if self.slope else relu(x)


@dataclass(frozen=True)
class Pooling:
    """Pooling; over all positions if ``ksize`` is None."""

    function: Callable[..., Variable]
    ksize: tuple[int, int] | None
    stride: tuple[int, int]
    pad: tuple[int, int]

    def __call__(self, x: VariableLike) -> Variable:
        ksize = x.shape[2:] if self.ksize is None else self.ksize
        return self.function(x, ksize, stride=self.stride, pad=self.pad)


@dataclass(frozen=True)
class Concat:
    """Concatenation."""

    axis: int

    def __call__(self, *xs: VariableLike) -> Variable:
        return concat(xs, axis=self.axis)


@dataclass(frozen=True)
class Slice:
    """Division along an axis, at points or into equal parts."""

    axis: int
    points: tuple[int, ...]
    outputs: int

    def __call__(self, x: VariableLike) -> tuple[Variable, ...] | Variable:
        sections = list(self.points) if self.points else self.outputs
        return split_axis(x, sections, self.axis, force_tuple=True)


@dataclass(frozen=True)
class Eltwise:
    """Product, weighted sum or maximum."""

    operation: int
    coefficients: tuple[float, ...]

    def __call__(self, *xs: VariableLike) -> Variable:
        if self.operation == _schema.ELTWISE_PROD:
            return reduce(lambda x, y: x * y, xs)
        if self.operation == _schema.ELTWISE_MAX:
            return reduce(maximum, xs)
        if self.coefficients:
            if len(xs) != len(self.coefficients):
                raise ValueError(
                    f"an Eltwise layer with {len(self.coefficients)} coefficients got {len(xs)} "
                    "inputs"
                )
            xs = tuple(c * x for c, x in zip(self.coefficients, xs))
        return reduce(lambda x, y: x + y, xs)


@dataclass(frozen=True)
class Reshape:
    """Change of the shape from an axis on; 0 keeps a length, -1 means all that is left."""

    dims: tuple[int, ...]
    axis: int
    num_axes: int

    def __call__(self, x: VariableLike) -> Variable:
        shape = tuple(x.shape)
        axis = self.axis + (len(shape) + 1 if self.axis < 0 else 0)
        end = len(shape) if self.num_axes < 0 else axis + self.num_axes
        if not 0 <= axis <= end <= len(shape):
            raise ValueError(f"a Reshape layer of axes {axis} to {end} got an input of {shape}")
        dims: list[int] = []
        for i, dim in enumerate(self.dims):
            if dim == 0 and axis + i >= len(shape):
                raise ValueError(f"a Reshape layer keeps axis {axis + i} of an input of {shape}")
            dims.append(shape[axis + i] if dim == 0 else dim)
        new = (*shape[:axis], *dims, *shape[end:])
        if -1 not in new and math.prod(new) != math.prod(shape):
            raise ValueError(f"a Reshape layer to {new} got an input of {shape}")
        return reshape(x, new)


@dataclass(frozen=True)
class SoftmaxWithLoss:
    """Softmax cross entropy of scores and labels."""

    normalize: bool
    ignore_label: int

    def __call__(self, x: VariableLike, t: VariableLike) -> Variable:
        return softmax_cross_entropy(x, t, normalize=self.normalize, ignore_label=self.ignore_label)


def identity(x: VariableLike) -> VariableLike:
    """Returns the input."""
    return x
