"""Functions whose output and gradient are array code, such as the kernels of an operation."""

from __future__ import annotations

from typing import Any, ClassVar

from chainer.core.arrays.kernel import Operation
from chainer.core.typing import ArrayGrads, Arrays, Grads, Indexes
from chainer.functions.rules.base import RuleFunction
from chainer.functions.rules.gradient_nodes import FormulaGradient, OpaqueFormulaGradient


class KernelFunction(RuleFunction):
    """Function whose output and gradient are array code; a formula gives gradients of gradients.

    Subclasses name an operation, which has a method ``forward`` for the output and a method
    ``backward`` for the gradient, or define ``forward`` and ``backward_arrays`` themselves. In the
    graph of gradients, the gradient is one node that runs the array code. :meth:`gradients` is
    evaluated only when that node is differentiated.

    Attributes:
        operation: The operation. ``select`` and ``forward`` of its kernels get the inputs and the
            attributes. ``backward`` gets the retained inputs, the retained outputs, the gradient of
            the output and the attributes, and returns one array or a tuple with one for each input.
        attributes: Names of the attributes of this object that are arguments of the operation.

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

    operation: ClassVar[Operation]
    attributes: ClassVar[tuple[str, ...]] = ()
    _kernel: Any = None

    def gradients(self, ops: Any, targets: Indexes, *values: Any) -> tuple[Any, ...]:
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
        if not self.attributes:
            kernel = self._kernel = self.operation.select(*inputs)
            return (kernel.forward(*inputs),)
        arguments = {name: getattr(self, name) for name in self.attributes}
        kernel = self._kernel = self.operation.select(*inputs, **arguments)
        return (kernel.forward(*inputs, *arguments.values()),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        arguments = self.rule_arguments((), grad_outputs)
        if self.attributes:
            arguments += tuple([getattr(self, name) for name in self.attributes])
        gradients = self._kernel.backward(*arguments)
        if gradients.__class__ is not tuple:
            return (gradients,)
        return tuple([gradients[i] for i in target_input_indexes])

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        given = tuple([i for i, gy in enumerate(grad_outputs) if gy is not None])
        node_class = OpaqueFormulaGradient if self.accepts_opaque_arrays else FormulaGradient
        node = node_class(self, target_input_indexes, given)
        gradients = node.apply((*self.retained_variables(), *[grad_outputs[i] for i in given]))
        return node.of_targets(target_input_indexes, gradients)
