"""Functions whose output and gradient are array code, such as the kernels of an operation."""

from __future__ import annotations

from typing import Any, ClassVar

from chainer.core.arrays.kernel import Operation
from chainer.core.typing import ArrayGrads, Arrays, Grads, Indexes
from chainer.functions.rules.base import Ops, RuleFunction, Value, Values
from chainer.functions.rules.formulas.nodes import gradients_by_formula
from chainer.functions.rules.gradient_nodes import FormulaGradient


class KernelFunction(RuleFunction):
    """Function whose output and gradient are array code; a formula gives gradients of gradients.

    Subclasses define ``forward`` and ``backward_arrays``, or name an operation that takes nothing
    but arrays. In the graph of gradients, the gradient is one node that runs the array code.
    :meth:`gradients` is evaluated only when that node is differentiated.

    Attributes:
        operation: The operation. The method ``forward`` of its kernels gets the inputs. The method
            ``backward`` gets the retained inputs, the retained outputs and the gradient of the
            output, and returns one array, or a tuple with one for each input.

    Example:
        >>> from chainer.functions.rules import KernelFunction
        >>> from chainer.kernel import get_operation
        >>> class Sigmoid(KernelFunction):
        ...     operation = get_operation("sigmoid")
        ...     retained_outputs = (0,)
        ...     def gradients(self, ops, targets, y, gy):
        ...         return gy * y * (1 - y),
        >>> x = chainer.Variable(np.array([0.]))
        >>> Sigmoid().apply((x,))[0].backward()
        >>> x.grad
        array([0.25])
    """

    argument_names = ("x",)

    operation: ClassVar[Operation]
    # As in gradients_of_composition().
    _gradients_have_zeros = True
    _kernel: Any = None

    def gradients(self, ops: Ops, targets: Indexes, *values: Value) -> Values:
        """Computes the gradients with differentiable functions.

        Args:
            ops: The functions of ``chainer.functions``.
            targets: Indexes of the inputs whose gradients are required.
            values: The retained inputs, the retained outputs, and the gradients of all outputs, as
                Variables; None where an output has no gradient.

        Returns:
            tuple: One Variable for each target.
        """
        raise NotImplementedError(
            f"{type(self).__name__} does not define gradients(): its gradient cannot be "
            "differentiated"
        )

    def forward(self, inputs: Arrays) -> Arrays:
        if len(inputs) != 1:
            kernel = self._kernel = self.operation.select(*inputs)
            return (kernel.forward(*inputs),)
        # Fast path for relu and sigmoid: on small arrays, unpacking tuples takes noticeable time.
        (x,) = inputs
        kernel = self._kernel = self.operation.select(x)
        return (kernel.forward(x),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        gradients = self._kernel.backward(*self.rule_arguments((), grad_outputs))
        if gradients.__class__ is not tuple:
            return (gradients,)
        return tuple([gradients[i] for i in target_input_indexes])

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        values = self.retained_variables()
        if not self._formulas.is_hopeless:
            gradients = gradients_by_formula(self, values, target_input_indexes, grad_outputs)
            if gradients is not None:
                return gradients
        return FormulaGradient.gradients_of(self, values, target_input_indexes, grad_outputs)
