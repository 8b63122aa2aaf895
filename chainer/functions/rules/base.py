"""Common base of the rule classes: a class declares which inputs and outputs are retained."""

# The base classes extend FunctionNode and read its private state for speed.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, VariableLike, Variables
from chainer.functions.rules.formulas.tracing import Programs

Ops: TypeAlias = Any
"""The functions of ``chainer.functions`` by their names, for arrays or for Variables."""

Value: TypeAlias = VariableLike
"""An array or a Variable, whichever a rule is evaluated on."""

Values: TypeAlias = tuple[Any, ...]
"""Arrays or Variables; None where there is no gradient."""


class RuleFunction(FunctionNode):
    """Base of the base classes.

    Attributes:
        retained_inputs: Indexes of the inputs that the gradient needs. A function that decides at
            each call uses :meth:`~chainer.FunctionNode.retain_inputs` in ``forward`` instead.
        retained_outputs: Indexes of the outputs that the gradient needs.
    """

    retained_inputs: ClassVar[Indexes] = ()
    retained_outputs: ClassVar[Indexes] = ()
    is_rule_pure = True
    _formulas: ClassVar[Programs] = Programs()
    #: Whether gradients of gradients are zeros, and not None, where they depend on nothing.
    _gradients_have_zeros: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for attribute in ("retained_inputs", "retained_outputs"):
            if isinstance(getattr(cls, attribute), int):
                raise TypeError(
                    f"{attribute} of {cls.__name__} must be a tuple of indexes, such as (0,), "
                    f"got {getattr(cls, attribute)!r}"
                )
        #: Programs of the rule. Each class has its own, and they are gone with the class.
        cls._formulas = Programs(cls._gradients_have_zeros)
        # Set once per class. This saves two method calls per application of the function.
        cls._retained_inputs = cls.retained_inputs
        cls._retained_outputs = cls.retained_outputs

    def retained_variables(self) -> Variables:
        """Returns the retained inputs and then the retained outputs, as Variables."""
        inputs = self.get_retained_inputs() if self._retained_inputs else ()
        return inputs + self.get_retained_outputs() if self._retained_outputs else inputs

    def rule_arguments(self, first: tuple[Any, ...], grad_outputs: ArrayGrads) -> tuple[Any, ...]:
        """Returns the arguments of a rule on arrays.

        Args:
            first: The arguments that come first.
            grad_outputs: Gradients of the outputs.

        Returns:
            tuple: ``first``, the retained inputs, the retained outputs, and the gradients.
        """
        outputs = self._retained_output_arrays
        values = grad_outputs if outputs is None else outputs + grad_outputs
        indexes: Any = self._retained_inputs
        if not indexes:
            return first + values
        # On small arrays the property retained_input_arrays takes as long as the arithmetic. So the
        # common cases are handled here: one or two inputs, of a type that needs no conversion.
        nodes = self.inputs
        if nodes is None or self._converted is not None or len(indexes) > 2:
            return first + self.retained_input_arrays + values
        if len(indexes) == 1:
            (i,) = indexes
            return (*first, nodes[i].data, *values)
        i, j = indexes
        return (*first, nodes[i].data, nodes[j].data, *values)


def explain_arguments(
    error: TypeError, rule: RuleFunction, method: Callable[..., Any], first: int, outputs: int
) -> None:
    """Adds the arguments of a formula to an error, if the formula cannot be called with them.

    Args:
        error: The error that the call raised.
        rule: The function.
        method: The formula: ``gradient`` or ``gradients``.
        first: Number of arguments that precede the retained arrays.
        outputs: Number of outputs of the function.
    """
    import inspect  # only needed after an error

    retained = len(rule._retained_inputs), len(rule._retained_outputs)
    try:
        inspect.signature(method).bind(*[None] * (first + sum(retained) + outputs))
    except TypeError:
        names = "ops" if first == 1 else "ops, targets"
        error.add_note(
            f"{type(rule).__name__}.{method.__name__}() gets {names}, {retained[0]} retained "
            f"inputs, {retained[1]} retained outputs and {outputs} gradients of outputs. Name the "
            "arrays that it needs in retained_inputs and retained_outputs."
        )


def array_of(x: Array) -> Array:
    """Returns the array of a Variable, and an array as it is: a constant in an expression."""
    return x.array if isinstance(x, Variable) else x


def as_outputs(variables: Variables) -> Arrays:
    """Returns the arrays of Variables."""
    return tuple([variable.array for variable in variables])


def as_constants(arrays: Arrays) -> Variables:
    """Returns Variables of arrays, None for None, which require no gradient."""
    return tuple([None if x is None else _constant(x) for x in arrays])  # type: ignore[misc]


def _constant(array: Array) -> Variable:
    return Variable._from_array(array, False)
