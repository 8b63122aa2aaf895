"""Random numbers, and Dropout. They are drawn from the generator of the inputs' backend.

An attribute ``seed`` starts a generator of its own, so that the numbers repeat.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

import chainer.functions as F
from chainer import config
from chainer.backend import get_array_module
from onnx_chainer.importing.attributes import Attributes
from onnx_chainer.importing.declarations import constants
from onnx_chainer.importing.limits import check_shape
from onnx_chainer.importing.values import Tensor, array_of, dtype_of, number_of
from onnx_chainer.optional import require
from onnx_chainer.tensors import element_type

if TYPE_CHECKING:
    from chainer.typing import ArrayModule, DTypeLike


def _generator(attributes: Attributes, xp: ArrayModule) -> Any:
    seed = attributes.get("seed")
    if seed is None:
        return xp.random
    # ONNX's seeds are floats, except in Dropout. The bits of a fraction are the seed of NumPy.
    whole = int(seed) == seed and seed >= 0
    return xp.random.RandomState(int(seed) if whole else numpy.float32(seed).view(numpy.uint32))


def _dtype(attributes: Attributes, x: Tensor | None = None) -> Any:
    default = 1 if x is None or dtype_of(x).kind != "f" else element_type(dtype_of(x))
    number = attributes.get("dtype", default)
    return require("onnx").helper.tensor_dtype_to_np_dtype(number)


def _normal(attributes: Attributes, shape: Any, dtype: DTypeLike, xp: ArrayModule) -> Tensor:
    mean, scale = attributes.get("mean", 0.0), attributes.get("scale", 1.0)
    draw = _generator(attributes, xp).normal(mean, scale, tuple(shape))
    return xp.asarray(draw).astype(dtype)


def _uniform(attributes: Attributes, shape: Any, dtype: DTypeLike, xp: ArrayModule) -> Tensor:
    low, high = attributes.get("low", 0.0), attributes.get("high", 1.0)
    draw = _generator(attributes, xp).uniform(low, high, tuple(shape))
    return xp.asarray(draw).astype(dtype)


def _of_shape(draw: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def compute(attributes: Attributes) -> Tensor:
        check_shape(attributes.operator, attributes["shape"])
        return draw(attributes, attributes["shape"], _dtype(attributes), numpy)

    return compute


def _like(draw: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def compute(attributes: Attributes, x: Tensor) -> Tensor:
        array = array_of(x)
        return draw(attributes, array.shape, _dtype(attributes, x), get_array_module(array))

    return compute


def _bernoulli(attributes: Attributes, x: Tensor) -> Tensor:
    array = array_of(x)
    draw = _generator(attributes, get_array_module(array)).uniform(0.0, 1.0, array.shape)
    return (draw < array).astype(_dtype(attributes, x))


def _multinomial(attributes: Attributes, x: Tensor) -> Tensor:
    """Draws classes of unnormalized logarithms of probabilities."""
    array = array_of(x)
    xp = get_array_module(array)
    shape = (array.shape[0], attributes.get("sample_size", 1), array.shape[1])
    check_shape("Multinomial", shape)
    noise = _generator(attributes, xp).gumbel(size=shape)
    dtype = require("onnx").helper.tensor_dtype_to_np_dtype(attributes.get("dtype", 6))
    return (array[:, None, :] + noise).argmax(axis=-1).astype(dtype)


@constants(1, 2)
def _dropout(
    attributes: Attributes, x: Tensor, ratio: Tensor | None = None, training: Tensor | None = None
) -> tuple[Tensor, ...]:
    share = attributes.get("ratio", 0.5) if ratio is None else number_of(ratio)
    # Since operator set 12 a graph may ask for training. A graph of test mode, which is what
    # exporters write, is trained further if the configuration says so.
    drops = config.train or bool(number_of(training))
    array = array_of(x)
    xp = get_array_module(array)
    if not drops or share == 0:
        return x, xp.ones(array.shape, bool)
    if attributes.outputs < 2 and "seed" not in attributes:
        with _training():
            return F.dropout(x, share), None
    kept = _generator(attributes, xp).uniform(size=array.shape) >= share
    factor = 0.0 if share == 1 else 1 / (1 - share)
    return x * (kept * factor).astype(array.dtype), kept


def _training() -> Any:
    import chainer

    return chainer.using_config("train", True)


OPERATORS: dict[str, Callable[..., Any]] = {
    "Bernoulli": _bernoulli,
    "Dropout": _dropout,
    "Multinomial": _multinomial,
    "RandomNormal": _of_shape(_normal),
    "RandomNormalLike": _like(_normal),
    "RandomUniform": _of_shape(_uniform),
    "RandomUniformLike": _like(_uniform),
}
