"""Functions whose gradient is an expression that arrays and Variables both evaluate."""

# The code below reads private state of FunctionNode: whether a function retains anything.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import Any, ClassVar

import numpy

from chainer import functions
from chainer.core.typing import Array, ArrayGrads, Arrays, Grads, Indexes, Variables
from chainer.functions.rules.array_functions import array_functions, numpy_functions
from chainer.functions.rules.base import (
    Ops,
    RuleFunction,
    Value,
    Values,
    explain_arguments,
)
from chainer.functions.rules.formulas.nodes import gradients_by_formula
from chainer.functions.rules.type_checks import OneFloat


class ExpressionFunction(RuleFunction):
    """Function whose gradient is an expression, written once.

    Subclasses define :meth:`~chainer.FunctionNode.forward` and :meth:`gradients`, and name what the
    gradient needs in ``retained_inputs`` and ``retained_outputs``. The expression is evaluated on
    arrays, which is fast, or on Variables where the gradient is to be differentiated in turn.

    A subclass may still define ``backward_arrays``, for example by a kernel.

    Example:
        >>> from chainer.functions.rules import ExpressionFunction
        >>> class Multiply(ExpressionFunction):
        ...     retained_inputs = (0, 1)
        ...     def forward(self, inputs):
        ...         return inputs[0] * inputs[1],
        ...     def gradients(self, ops, targets, x0, x1, gy):
        ...         return tuple([gy * (x0 if i else x1) for i in targets])
        >>> Multiply().apply((np.array([2.]), np.array([3.])))[0]
        variable([6.])
    """

    def gradients(self, ops: Ops, targets: Indexes, *values: Any, **unused: Any) -> Values:
        """Computes gradients of inputs from arrays or Variables.

        Use the operators and methods that arrays and Variables share on ``values``, and the
        functions of ``ops``. An augmented assignment, such as ``gx *= gy``, changes an array in
        place, so only use it on arrays created here.

        Args:
            ops: The functions of ``chainer.functions``, for arrays or for Variables.
            targets: Indexes of the inputs whose gradients are required.
            values: The retained inputs, the retained outputs, and the gradients of all outputs;
                None where an output has no gradient.
            unused: Nothing. With it, type checkers accept subclasses that name the values.

        Returns:
            tuple: One gradient for each target; None where the function is not differentiable.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define gradients()")

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        values: Variables = ()
        # Where nothing is retained, the gradient is a linear function of the gradients of the
        # outputs, which is one operator: no program computes it faster.
        if self._retained_inputs or self._retained_outputs:
            values = self.retained_variables()
        if values and not self._formulas.is_hopeless:
            gradients = gradients_by_formula(self, values, target_input_indexes, grad_outputs)
            if gradients is not None:
                return gradients
        try:
            return self.gradients(functions, target_input_indexes, *values, *grad_outputs)
        except TypeError as error:
            self._explain(error, len(grad_outputs))
            raise

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        ops = numpy_functions if self.xp is numpy else array_functions(self.xp)
        arguments = self.rule_arguments((ops, target_input_indexes), grad_outputs)
        try:
            return self.gradients(*arguments)
        except TypeError as error:
            self._explain(error, len(grad_outputs))
            raise

    def _explain(self, error: TypeError, outputs: int) -> None:
        explain_arguments(error, self, self.gradients, 2, outputs)


class UnaryFunction(ExpressionFunction):
    """Function of one input and one output whose gradient is an expression.

    Subclasses define :meth:`~chainer.FunctionNode.forward` and :meth:`gradient`.

    Example:
        >>> from chainer.functions.rules import UnaryFunction
        >>> class Exp(UnaryFunction):
        ...     retained_outputs = (0,)
        ...     def forward(self, inputs):
        ...         return self.xp.exp(inputs[0]),
        ...     def gradient(self, ops, y, gy):
        ...         return y * gy
        >>> x = chainer.Variable(np.array([0.]))
        >>> Exp().apply((x,))[0].backward()
        >>> x.grad
        array([1.])
    """

    argument_names = ("x",)

    #: Whether :meth:`gradients` is the one below, so that :meth:`gradient` may be called at once.
    _has_plain_gradients: ClassVar[bool] = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._has_plain_gradients = cls.gradients is UnaryFunction.gradients

    def gradient(self, ops: Ops, *values: Any, **unused: Any) -> Value | None:
        """Computes the gradient of the input from arrays or Variables.

        Args:
            ops: The functions of ``chainer.functions``, for arrays or for Variables.
            values: The input if it is retained, the output if it is retained, and the gradient of
                the output.
            unused: Nothing. With it, type checkers accept subclasses that name the values.

        Returns:
            The gradient of the input, or None if the output does not depend on it differentiably.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define gradient()")

    def gradients(self, ops: Ops, targets: Indexes, *values: Any, **unused: Any) -> Values:
        return (self.gradient(ops, *values),)

    # Same as in the base class, without the calls in between where nothing is retained: changes of
    # shape and sums are half of the nodes of a gradient.
    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        if self._retained_inputs or self._retained_outputs:
            return super().backward(target_input_indexes, grad_outputs)
        try:
            if not self._has_plain_gradients:
                return self.gradients(functions, target_input_indexes, *grad_outputs)
            return (self.gradient(functions, grad_outputs[0]),)  # type: ignore[return-value]
        except TypeError as error:
            self._explain(error, 1)
            raise

    # Same as in the base class, but with the few cases written out. Most functions are unary, and
    # on small arrays the overhead of the calls counts.
    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        ops = numpy_functions if self.xp is numpy else array_functions(self.xp)
        outputs = self._retained_output_arrays
        try:
            if not self._retained_inputs:
                if outputs is None:
                    return (self.gradient(ops, grad_outputs[0]),)
                return (self.gradient(ops, outputs[0], grad_outputs[0]),)
            if self._converted is None:
                x = (self.inputs or self.input_nodes)[0].data
            else:
                (x,) = self.retained_input_arrays
            if outputs is None:
                return (self.gradient(ops, x, grad_outputs[0]),)
            return (self.gradient(ops, x, outputs[0], grad_outputs[0]),)
        except TypeError as error:
            self._explain(error, 1)
            raise

    def _explain(self, error: TypeError, outputs: int) -> None:
        explain_arguments(error, self, self.gradient, 1, outputs)


class ElementwiseFunction(OneFloat, UnaryFunction):
    """Function of one floating-point array, element by element, with a formula for the derivative.

    Subclasses define :meth:`derivative`. They also define :meth:`compute`, unless the array
    namespace has the function under the name of the class in lower case.

    Example:
        >>> from chainer.functions.rules import ElementwiseFunction
        >>> class Sin(ElementwiseFunction):
        ...     def derivative(self, ops, x):
        ...         return ops.cos(x)
        >>> x = chainer.Variable(np.array([0.]))
        >>> Sin().apply((x,))[0].backward()
        >>> x.grad
        array([1.])
    """

    is_pointwise = True

    retained_inputs = (0,)

    @property
    def label(self) -> str:
        return type(self).__name__.lower()

    def compute(self, x: Array) -> Array:
        """Returns the values of the function.

        Args:
            x: Array of any shape.

        Returns:
            Array of the shape and dtype of ``x``.
        """
        return getattr(self.xp, self.label.lower())(x)

    def derivative(self, ops: Ops, *values: Value) -> Value:
        """Returns the derivative as a new array or Variable.

        Args:
            ops: The functions of ``chainer.functions``, for arrays or for Variables.
            values: The retained arrays or Variables; by default the input.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define derivative()")

    def forward(self, inputs: Arrays) -> Arrays:
        return (self.compute(inputs[0]),)

    def gradient(self, ops: Ops, *values: Value) -> Value:
        *retained, gy = values
        gx = self.derivative(ops, *retained)
        gx *= gy
        # Python numbers promote dtypes that NumPy does not know, such as bfloat16. Cast back.
        return gx if gx.dtype == gy.dtype else ops.cast(gx, gy.dtype)
