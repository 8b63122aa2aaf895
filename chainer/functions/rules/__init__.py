"""Base classes of differentiable functions, in which a gradient is written only once.

A :class:`~chainer.FunctionNode` may define its gradient twice: ``backward`` on Variables, which can
be differentiated again, and ``backward_arrays`` on arrays, which is faster. With the classes here,
a function defines its gradient once, and both methods are derived from that:

========================================  =========================================================
:class:`ExpressionFunction`               The gradient is an expression. Arrays and Variables
                                          evaluate the same line. :class:`UnaryFunction` and
                                          :class:`ElementwiseFunction` are its common cases.
:class:`KernelFunction`                   Output and gradient are array code, such as the kernels of
                                          an operation; a formula gives gradients of gradients.
:class:`PiecewiseLinearFunction`,         Output and gradient are array code, and the derivative
:class:`LinearMap`                        does not depend on the input: no formula is needed.
:class:`ComposedFunction`                 The function is composed of differentiable functions;
                                          array code for its output and gradient is optional.
========================================  =========================================================

:func:`gradients_of_composition` and :func:`once_differentiable` serve classes that derive from
:class:`~chainer.FunctionNode` directly.
"""

from typing import TYPE_CHECKING

from chainer.core.lazy import lazy_module

if TYPE_CHECKING:
    from chainer.functions.rules.base import Ops, Value, Values, array_of
    from chainer.functions.rules.composed_functions import ComposedFunction
    from chainer.functions.rules.compositions import (
        Composition,
        DifferentiableComposition,
        gradients_of_composition,
        tangents_of_composition,
    )
    from chainer.functions.rules.expressions import (
        ElementwiseFunction,
        ExpressionFunction,
        UnaryFunction,
    )
    from chainer.functions.rules.kernels import KernelFunction
    from chainer.functions.rules.linear import LinearMap, PiecewiseLinearFunction
    from chainer.functions.rules.once import once_differentiable
    from chainer.functions.rules.type_checks import (
        OneFloat,
        expect_bias,
        expect_kinds,
        expect_label_of_each,
        expect_one_array,
        expect_one_dtype,
        expect_one_float,
        expect_scores_of_labels,
        expect_two_equal_floats,
        expect_weighted,
    )

__all__ = [
    "ComposedFunction",
    "Composition",
    "DifferentiableComposition",
    "ElementwiseFunction",
    "ExpressionFunction",
    "KernelFunction",
    "LinearMap",
    "OneFloat",
    "Ops",
    "PiecewiseLinearFunction",
    "UnaryFunction",
    "Value",
    "Values",
    "array_of",
    "expect_bias",
    "expect_kinds",
    "expect_label_of_each",
    "expect_one_array",
    "expect_one_dtype",
    "expect_one_float",
    "expect_scores_of_labels",
    "expect_two_equal_floats",
    "expect_weighted",
    "gradients_of_composition",
    "once_differentiable",
    "tangents_of_composition",
]

# Imported at first use. A package that imports its modules can be stopped by a thread that imports
# one of them at the same time, see chainer.core.imports.
_NAMES: dict[str, str] = {
    "Ops": ".base",
    "Value": ".base",
    "Values": ".base",
    "array_of": ".base",
    "ComposedFunction": ".composed_functions",
    "Composition": ".compositions",
    "DifferentiableComposition": ".compositions",
    "gradients_of_composition": ".compositions",
    "tangents_of_composition": ".compositions",
    "ElementwiseFunction": ".expressions",
    "ExpressionFunction": ".expressions",
    "UnaryFunction": ".expressions",
    "KernelFunction": ".kernels",
    "LinearMap": ".linear",
    "PiecewiseLinearFunction": ".linear",
    "once_differentiable": ".once",
    "OneFloat": ".type_checks",
    "expect_bias": ".type_checks",
    "expect_kinds": ".type_checks",
    "expect_label_of_each": ".type_checks",
    "expect_one_array": ".type_checks",
    "expect_one_dtype": ".type_checks",
    "expect_one_float": ".type_checks",
    "expect_scores_of_labels": ".type_checks",
    "expect_two_equal_floats": ".type_checks",
    "expect_weighted": ".type_checks",
}

__getattr__, __dir__ = lazy_module(globals(), _NAMES)
