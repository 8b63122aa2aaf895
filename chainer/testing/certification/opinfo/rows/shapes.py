"""Functions that move, join and choose elements."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.testing.certification.opinfo.row import (
    Arguments,
    Difference,
    Row,
    keyword,
    without_axes,
)

_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _pad(F: Any, x: Any, pad: Any, mode: str = "constant", value: float | None = None) -> Any:
    # PyTorch begins with the last axis.
    pairs = [tuple(pad[i : i + 2]) for i in range(0, len(pad), 2)][::-1]
    widths = [(0, 0)] * (x.ndim - len(pairs)) + pairs
    keywords = {"constant_values": value or 0.0} if mode == "constant" else {}
    return F.pad(x, widths, _MODES[mode], **keywords)


def _split(F: Any, x: Any, size: Any, dim: int = 0) -> Any:
    """Splits: PyTorch has sizes, Chainer has places."""
    if isinstance(size, int):
        return F.split_axis(x, list(range(size, x.shape[dim], size)), dim)
    return F.split_axis(x, numpy.cumsum(size)[:-1].tolist(), dim)


def _flip(F: Any, x: Any, dims: Any) -> Any:
    for axis in dims:
        x = F.flip(x, axis)
    return x


def _places(index: Any, dim: int) -> tuple[Any, ...]:
    """Returns the index of NumPy for an index along an axis."""
    numbers = [numpy.arange(n) for n in index.shape]
    places: list[Any] = list(numpy.ix_(*numbers))
    places[dim] = index
    return tuple(places)


def _gather(F: Any, x: Any, dim: int, index: Any) -> Any:
    return F.get_item(x, _places(index, dim))


def _scatter_add(F: Any, x: Any, dim: int, index: Any, src: Any) -> Any:
    used = F.get_item(src, tuple(slice(n) for n in index.shape))
    return F.scatter_add(x, _places(index, dim), used)


def _other_axes(given: Arguments) -> bool:
    return given.args[2].ndim != given.args[0].ndim or given.args[0].ndim == 0


def _not_a_permutation(given: Arguments) -> bool:
    x, axis, index = given.args
    return sorted(index.tolist()) != list(range(x.shape[axis]))


def _longer_axis(given: Arguments) -> bool:
    x, axes = given.args[0], given.get(1, "dim", ())
    axes = (axes,) if isinstance(axes, int) else axes
    return any(x.shape[axis] != 1 for axis in axes)


def _other_ndims(given: Arguments) -> bool:
    return len({x.ndim for x in given.args[0]}) > 1


def _part_of_memory(given: Arguments) -> bool:
    # The samples of PyTorch's variant "partial_views" are the only ones of this shape.
    return given.args[0].shape == (10,) and "storage_offset" in given.kwargs


ROWS = (
    Row(
        "as_strided",
        "as_strided",
        differences=(
            Difference(
                "the input is a part of larger memory, which the file of samples does not have",
                _part_of_memory,
            ),
        ),
    ),
    Row("broadcast", "broadcast_tensors"),
    Row("broadcast_to", "broadcast_to"),
    Row(
        "concat",
        "cat",
        lambda F, xs, dim=0: F.concat(xs, axis=dim),
        differences=(
            Difference("all arrays have the same number of axes, also empty ones", _other_ndims),
        ),
    ),
    Row("stack", "stack"),
    Row("hstack", "hstack"),
    Row("vstack", "vstack"),
    Row("dstack", "dstack"),
    Row(
        "diagonal",
        "diagonal",
        lambda F, x, offset=0, dim1=0, dim2=1: F.diagonal(x, offset, dim1, dim2),
    ),
    Row("expand_dims", "unsqueeze"),
    Row(
        "flatten",
        "flatten",
        differences=(keyword("start_dim", "all axes become one: F.reshape joins some"),),
    ),
    Row("flip", "flip", _flip),
    Row("fliplr", "fliplr"),
    Row("flipud", "flipud"),
    Row("get_item", "__getitem__"),
    Row(
        "get_item",
        "gather",
        _gather,
        differences=(Difference("an index has the axes of the array", _other_axes),),
    ),
    Row(
        "scatter_add",
        "scatter_add",
        _scatter_add,
        differences=(Difference("an index has an axis", lambda given: given.args[2].ndim == 0),),
    ),
    Row(
        "permutate",
        "index_select",
        lambda F, x, dim, index: F.permutate(x, index, axis=dim),
        differences=(
            without_axes,
            Difference("the indices are a permutation: F.get_item selects", _not_a_permutation),
        ),
    ),
    Row("moveaxis", "movedim"),
    Row(
        "pad",
        "nn.functional.pad",
        _pad,
        differences=(
            Difference(
                "negative widths cut: F.get_item does", lambda given: min(given.args[1]) < 0
            ),
        ),
    ),
    Row("tile", "tile"),
    Row("tile", "repeat"),
    Row("reshape", "reshape"),
    Row("separate", "unbind"),
    Row("split_axis", "split", _split),
    Row(
        "squeeze",
        "squeeze",
        differences=(
            without_axes,
            Difference("an axis of another length than 1 is an error", _longer_axis),
        ),
    ),
    Row("swapaxes", "transpose", differences=(without_axes,)),
    Row("transpose", "permute"),
)
