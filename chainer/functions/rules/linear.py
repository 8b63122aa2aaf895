"""Functions whose derivative does not depend on the input."""

from __future__ import annotations

from chainer.core.typing import Arrays, Grads, Indexes, Variables
from chainer.functions.rules.gradient_nodes import LinearGradient, Tangent
from chainer.functions.rules.kernels import KernelFunction


class PiecewiseLinearFunction(KernelFunction):
    """Function whose output and gradient are array code, linear in each piece of its domain.

    The second derivative of such a function is zero wherever it exists, so that no formula is
    needed: the gradient is a linear map of the gradients of the outputs, whose own gradient is the
    directional derivative :meth:`jvp`.

    Example:
        >>> from chainer.functions.rules import PiecewiseLinearFunction
        >>> class ReLU(PiecewiseLinearFunction):
        ...     retained_outputs = (0,)
        ...     def forward(self, inputs):
        ...         return self.xp.maximum(inputs[0], 0),
        ...     def backward_arrays(self, target_input_indexes, grad_outputs):
        ...         return grad_outputs[0] * (self.retained_output_arrays[0] > 0),
        >>> x = chainer.Variable(np.array([-1., 2.]))
        >>> gx, = chainer.grad(ReLU().apply((x,)), [x], enable_double_backprop=True)
        >>> gx
        variable([0., 1.])
    """

    def jvp(self, targets: Indexes, tangents: Arrays) -> Arrays:
        """Computes the directional derivative: the product of the Jacobian and a vector.

        The default is right for functions of one input that work element by element: their Jacobian
        is diagonal, and its product with a vector is the gradient for that vector.

        Args:
            targets: Indexes of the inputs along which there is a direction.
            tangents: The direction, one array for each target.

        Returns:
            tuple: One array for each output.
        """
        return self.backward_arrays(targets, tangents)

    # Define this next to backward, because FunctionNode uses both only from the same class.
    backward_arrays = KernelFunction.backward_arrays

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        return LinearGradient.gradients_of(self, (), target_input_indexes, grad_outputs)

    def tangents(self, moving: Indexes, tangents: Variables) -> Grads:
        return Tangent(self, moving, tuple(range(len(self.outputs or ())))).apply(tangents)


class LinearMap(PiecewiseLinearFunction):
    """Linear function of all its inputs.

    Subclasses define ``forward`` and, as ``backward_arrays``, the adjoint of the map. ``forward``
    is called again for gradients of gradients.

    Example:
        >>> from chainer.functions.rules import LinearMap
        >>> class Double(LinearMap):
        ...     def forward(self, inputs):
        ...         return inputs[0] * 2,
        ...     def backward_arrays(self, target_input_indexes, grad_outputs):
        ...         return grad_outputs[0] * 2,
        >>> Double().apply((np.array([1.]),))[0]
        variable([2.])
    """

    is_linear = True

    def jvp(self, targets: Indexes, tangents: Arrays) -> Arrays:
        inputs = list(tangents)
        nodes = self.inputs or ()
        if len(targets) < len(nodes):
            inputs = [self.xp.zeros(node.shape, dtype=node.dtype) for node in nodes]
            for i, tangent in zip(targets, tangents, strict=True):
                inputs[i] = tangent
        return self.forward(tuple(inputs))
