"""Losses that compare two arrays element by element."""

from __future__ import annotations

import math
from typing import ClassVar

from chainer import functions
from chainer.core.typing import Indexes, Variables
from chainer.core.utils import type_check
from chainer.core.utils.documentation import SharedSections
from chainer.functions.rules import ExpressionFunction, Ops, Value, Values, expect_one_dtype
from chainer.functions.rules.batching import ReducesLosses, sums_of_samples, with_samples

pair_sections = SharedSections(
    """
    Args:
        x0 (Variable or array): First input, of any shape, floating point.
        x1 (Variable or array): Second input of the same shape and dtype.

    Returns:
        Variable: $result.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
    """
)


class PairLoss(ExpressionFunction):
    """Function of the difference of two floating-point arrays of the same dtype and shape."""

    argument_names = ("x0", "x1")

    type_check_key = ()
    retained_inputs = (0, 1)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        x0_type, x1_type = expect_one_dtype(in_types, 2)
        type_check.expect(x0_type.shape == x1_type.shape)

    def gradient(self, ops: Ops, difference: Value, gy: Value) -> Value:
        """Returns the gradient of the difference of the first and the second input.

        Args:
            ops: The functions of ``chainer.functions``, for arrays or for Variables.
            difference: The difference, which may be changed in place.
            gy: The gradient of the output.
        """
        raise NotImplementedError

    def gradients(self, ops: Ops, targets: Indexes, x0: Value, x1: Value, gy: Value) -> Values:
        gx0 = self.gradient(ops, x0 - x1, gy)
        return tuple([-gx0 if i else gx0 for i in targets])


class MeanOfPairs(PairLoss):
    """Mean of the losses of all elements."""

    #: The node of the losses of the elements.
    of_elements: ClassVar[type[PairLoss]]

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        taken = with_samples(inputs, are_batched, size)
        dtype = taken[0].dtype
        if dtype.itemsize < 4:  # squares of float16 numbers overflow
            taken = tuple([functions.cast(x, "f") for x in taken])
        (losses,) = self.of_elements().apply(taken)
        # The mean of nothing is NaN, without a warning of NumPy.
        count = math.prod(losses.shape[1:])
        return (functions.cast(sums_of_samples(losses, 1 / count if count else math.nan), dtype),)


def check_reduce(reduce: str, *choices: str) -> None:
    """Raises ValueError unless ``reduce`` is one of the choices."""
    if reduce not in choices:
        names = [repr(choice) for choice in choices]
        text = ", ".join(names[:-1]) + f" and {names[-1]}"
        raise ValueError(f"only {text} are valid for 'reduce', but {reduce!r} is given")


class MarginLoss(ReducesLosses):
    """Base of the losses with a margin: takes their arguments. All inputs are batches.

    Args:
        margin (float): The margin.
        reduce (str): ``'mean'`` or ``'no'``.
    """

    def __init__(self, margin: float, reduce: str = "mean") -> None:
        if margin <= 0:
            raise ValueError(f"margin should be positive value. Actual: {margin}")
        check_reduce(reduce, "mean", "no")
        self.margin = margin
        self.reduce = reduce
