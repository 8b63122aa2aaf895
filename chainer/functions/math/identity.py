"""Identity."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, Indexes, VariableLike, Variables
from chainer.functions.rules import ExpressionFunction, Ops, Value, Values
from chainer.functions.rules.batching import with_samples


class Identity(ExpressionFunction):
    """Returns its inputs."""

    is_linear = True

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        return self.apply(with_samples(inputs, are_batched, size))

    type_check_key = ()

    def forward(self, inputs: Arrays) -> Arrays:
        return inputs

    def gradients(self, ops: Ops, targets: Indexes, *gys: Value) -> Values:
        # Inputs and outputs have the same numbers.
        return tuple([gys[i] for i in targets])


def identity(*inputs: VariableLike) -> Variable | tuple[Variable, ...]:
    """Just returns input variables, through a node of the graph.

    Args:
        inputs (:class:`~chainer.Variable` or array): Inputs.

    Returns:
        ~chainer.Variable or tuple of them: Variables that share the arrays of the inputs; one
        variable for one input.

    Raises:
        TypeError: If an input is neither a Variable nor an array.

    Example:
        >>> F.identity(np.array([1., 2.]))
        variable([1., 2.])
    """
    ys = Identity().apply(inputs)
    return ys[0] if len(ys) == 1 else ys
