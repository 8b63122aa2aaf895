"""Type checks that many functions share: the number of inputs and their dtypes."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.utils import type_check


def expect_one_array(self: FunctionNode, in_types: type_check.TypeInfoTuple) -> None:
    """Type check (``check_type_forward``) of one input of any shape and dtype."""
    type_check.expect(in_types.size() == 1)


def expect_one_float(self: FunctionNode, in_types: type_check.TypeInfoTuple) -> None:
    """Type check (``check_type_forward``) of one floating-point input of any shape."""
    type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")


def expect_two_equal_floats(self: FunctionNode, in_types: type_check.TypeInfoTuple) -> None:
    """Type check (``check_type_forward``) of two floating-point inputs of one dtype and shape."""
    first, second = expect_kinds(in_types, "ff")
    type_check.expect(first.dtype == second.dtype, first.shape == second.shape)


def expect_label_of_each(self: FunctionNode, in_types: type_check.TypeInfoTuple) -> None:
    """Type check (``check_type_forward``) of scores and an integer label of each score."""
    scores, labels = expect_kinds(in_types, "fi")
    type_check.expect(scores.shape == labels.shape)


def expect_kinds(in_types: type_check.TypeInfoTuple, kinds: str) -> tuple[Any, ...]:
    """Checks the number of inputs and the kinds of their dtypes.

    Args:
        in_types: Types of the inputs.
        kinds: One letter for each input: ``"f"`` for floating point, ``"i"`` for integer.

    Returns:
        tuple: The types of the inputs.
    """
    type_check.expect(in_types.size() == len(kinds))
    types = tuple(in_types)
    type_check.expect(*[t.dtype.kind == kind for t, kind in zip(types, kinds, strict=True)])
    return types


def expect_one_dtype(in_types: type_check.TypeInfoTuple, count: int) -> tuple[Any, ...]:
    """Checks that there are ``count`` inputs of the same floating-point dtype; returns their types.

    Args:
        in_types: Types of the inputs.
        count: Number of inputs.

    Returns:
        tuple: The types of the inputs.
    """
    type_check.expect(in_types.size() == count)
    first, *others = in_types
    type_check.expect(first.dtype.kind == "f", *[t.dtype == first.dtype for t in others])
    return first, *others


def expect_weighted(in_types: type_check.TypeInfoTuple) -> tuple[Any, Any]:
    """Checks number and dtypes of an input, weights and possibly a bias.

    Args:
        in_types: Types of ``x``, ``W`` and possibly ``b``.

    Returns:
        tuple: The types of ``x`` and ``W``.
    """
    n_in = in_types.size()
    type_check.expect(n_in >= 2, n_in <= 3)
    x_type, w_type = in_types[:2]
    type_check.expect(x_type.dtype.kind == "f", w_type.dtype.kind == "f")
    return x_type, w_type


def expect_bias(in_types: type_check.TypeInfoTuple) -> None:
    """Checks a third input, if there is one: a vector of the length and dtype of the output.

    Args:
        in_types: Types of ``x``, ``W`` and possibly ``b``. The first axis of ``W`` is the output.
    """
    if len(in_types) == 3:
        x_type, w_type, b_type = in_types
        type_check.expect(
            b_type.dtype == x_type.dtype, b_type.ndim == 1, b_type.shape[0] == w_type.shape[0]
        )


def expect_scores_of_labels(in_types: type_check.TypeInfoTuple) -> None:
    """Checks scores of classes, of shape ``(B, C, ...)``, and labels of shape ``(B, ...)``.

    Further axes of the scores, which the labels lack, must have the length 1.

    Args:
        in_types: Types of the scores and the labels.
    """
    scores, labels = expect_kinds(in_types, "fi")
    ndim = type_check.eval(labels.ndim)
    type_check.expect(
        scores.ndim >= labels.ndim,
        scores.shape[0] == labels.shape[0],
        scores.shape[2 : ndim + 1] == labels.shape[1:],
    )
    for i in range(ndim + 1, type_check.eval(scores.ndim)):
        type_check.expect(scores.shape[i] == 1)


class OneFloat:
    """Mixin of functions that take one array of floating point numbers, whatever its shape."""

    # The check depends on the dtype alone, which is part of every key.
    type_check_key: tuple[str, ...] | None = ()
    check_type_forward = expect_one_float
