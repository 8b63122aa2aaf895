"""Hinge loss."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions._callable import CallableNode
from chainer.functions._label_range import label_error
from chainer.functions.activation.relu import relu
from chainer.functions.loss._pair import check_reduce
from chainer.functions.math.sum import sum
from chainer.functions.rules import ComposedFunction, expect_kinds
from chainer.functions.rules.batching import ReducesLosses


class Hinge(ReducesLosses, CallableNode, ComposedFunction):
    """Hinge loss of a one-of-many classification."""

    argument_names = ("x", "t")

    batch_inputs = (0, 1)
    type_check_key = ()
    retained_inputs = (0, 1)

    def __init__(self, norm: str = "L1", reduce: str = "mean") -> None:
        if norm not in ("L1", "L2"):
            raise NotImplementedError(f"norm should be either 'L1' or 'L2', got {norm!r}")
        check_reduce(reduce, "mean", "no")
        self.norm = norm
        self.reduce = reduce

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        x_type, t_type = expect_kinds(in_types, "fi")
        type_check.expect(
            x_type.ndim == 2,
            t_type.ndim == 1,
            x_type.shape[0] == t_type.shape[0],
        )

    def forward(self, inputs: Arrays) -> Arrays:
        x, t = inputs
        loss = self._slack(x, t)
        if self.norm == "L2":
            loss *= loss
        if self.reduce == "no":
            return (loss,)
        return ((loss.sum() / max(len(x), 1)).astype(x.dtype),)

    def _flip(self, array: Array, t: Array) -> Any:
        """Changes the sign at the labels."""
        try:
            array[self.xp.arange(len(t)), t] *= -1
        except IndexError as error:
            raise label_error(error, "t", t, array.shape[1]) from error
        return array

    def _slack(self, x: Array, t: Array) -> Any:
        slack = self._flip(x.copy(), t)
        slack += 1
        # In place, on the copy made above.
        return self.xp.maximum(slack, 0, out=slack)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        x, t = self.retained_input_arrays
        gy: Array = grad_outputs[0]
        if self.norm == "L1":
            # Only the sign is kept, so that the slack is freed before the gradient is made.
            inside = self._slack(x, t) > 0
            gx = inside.astype(x.dtype)
        else:
            gx = self._slack(x, t)
            gx *= 2
        # The slack decreases with the score of the label, and increases with other scores.
        gx = self._flip(gx, t)
        gx *= gy if self.reduce == "no" else gy / max(len(x), 1)
        return tuple([None if i else gx for i in target_input_indexes])

    def compose(self, x: Variable, t: Variable) -> Variables:
        slack = relu(x * self._flip(self.xp.ones_like(x.array), t.array) + 1)
        loss = slack * slack if self.norm == "L2" else slack
        return (loss if self.reduce == "no" else sum(loss) * (1.0 / max(len(x), 1)),)


@explained_keywords
def hinge(x: VariableLike, t: VariableLike, norm: str = "L1", reduce: str = "mean") -> Variable:
    """Computes the hinge loss for a one-of-many classification task.

    The loss of sample ``n`` and class ``k`` is ``max(0, 1 - d x[n, k]) ** p``, where ``d`` is 1 for
    the class ``t[n]`` and -1 for others, and ``p`` is 1 for the norm ``'L1'`` and 2 for ``'L2'``.
    They are summed over classes and averaged over samples.

    Args:
        x (Variable or array): Scores of shape ``(N, K)``, floating point.
        t (Variable or array): Labels of shape ``(N,)``, signed integer.
        norm (str): ``'L1'`` or ``'L2'``.
        reduce (str): ``'mean'``: a scalar. ``'no'``: the elementwise losses of shape ``(N, K)``.

    Returns:
        Variable: The loss.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        NotImplementedError: If ``norm`` is something else.
        ValueError: If ``reduce`` is something else.

    Example:
        >>> x = np.array([[-2.0, 3.0, 0.5], [5.0, 2.0, -0.5]], np.float32)
        >>> F.hinge(x, np.array([1, 0], np.int32))
        variable(2.5)
    """
    return Hinge(norm, reduce).apply((x, t))[0]
