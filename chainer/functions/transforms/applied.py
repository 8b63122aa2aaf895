"""A function that was applied to inputs which can be differentiated by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy

from chainer.core.arrays.backend import backend_of
from chainer.core.arrays.extended_dtypes import kind_of
from chainer.core.autograd.backprop import initial_gradient
from chainer.core.autograd.batching import (
    LEVELS,
    BatchingError,
    lowered,
    on_all_samples,
    raised,
)
from chainer.core.autograd.forward_mode import push_forward
from chainer.core.autograd.grad import closed_gradients, grad, has_other_leaves
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import threads, using_config
from chainer.core.typing import Array
from chainer.functions.math.identity import identity
from chainer.functions.transforms.trees import (
    Tree,
    filled,
    is_leaf,
    leaves_like,
    leaves_of,
    mapped,
)


def check_callable(name: str, func: object) -> None:
    """Refuses what cannot be called.

    Args:
        name: Name of the transform, for the message.
        func: The argument ``func``.

    Raises:
        TypeError: If it cannot be called.
    """
    if not callable(func):
        raise TypeError(f"{name}: func must be callable, got {type(func).__name__}")


class Applied:
    """A function, applied to inputs that can be differentiated by.

    Args:
        name: Name of the transform, for messages.
        func: The function.
        primals: Its arguments.
        has_aux: Whether the function returns a pair, whose second part is not differentiated.
    """

    def __init__(
        self, name: str, func: Callable[..., Any], primals: Sequence[Tree], has_aux: bool = False
    ) -> None:
        check_callable(name, func)
        self._name = name
        #: What the function gets, in the order of the primals.
        self.inputs: list[Variable] = []
        #: The second part of the result, with ``has_aux``.
        self.aux: Any = None
        self._levels = list(LEVELS.active)
        self._is_known_outside = False
        #: Whether the inputs are all leaves that lead to the outputs; None until it was asked.
        self._has_inputs_only: bool | None = None
        # A transform computes derivatives where the code around it needs none.
        if threads.state.enable_backprop:
            result = self._call(func, primals)
        else:
            with using_config("enable_backprop", True):
                result = self._call(func, primals)
        if has_aux:
            if not isinstance(result, tuple) or len(result) != 2:
                raise TypeError(
                    f"{name}: with has_aux=True, func must return a tuple (output, aux), got "
                    f"{type(result).__name__}"
                )
            result, self.aux = result
        self.result = mapped(result, _as_variable, f"{name}: results of func")
        #: The Variables of the result.
        self.outputs: list[Variable] = leaves_of(self.result, "")

    def _call(self, func: Callable[..., Any], primals: Sequence[Tree]) -> Any:
        what = f"{self._name}: primals"
        self.arguments = [mapped(p, lambda x: self._input(x, what), what) for p in primals]
        return func(*self.arguments)

    def _input(self, value: Any, what: str) -> Variable:
        array = value.array if isinstance(value, Variable) else value
        if array is None or kind_of(array.dtype) not in "fc":
            dtype = None if array is None else array.dtype
            raise TypeError(f"{what} must be arrays of floating-point numbers, got {dtype}")
        is_differentiable = isinstance(value, Variable) and value.requires_grad
        if is_differentiable:
            self._is_known_outside = True
        if LEVELS.active:
            # A gradient by a value that is the same for all samples differs from sample to sample.
            raw = lowered(value if is_differentiable else Variable(array, requires_grad=False))
            if raw.requires_grad:
                with on_all_samples():
                    of_all = cast(Variable, identity(raw))
            else:
                of_all = Variable(raw.array)
            variable = raised(of_all)
        elif is_differentiable:
            variable = cast(Variable, identity(value))
        else:
            # Nothing outside knows it, so that it may be the input itself, without a function.
            variable = Variable(array)
        self.inputs.append(variable)
        return variable

    def pull(self, cotangents: Sequence[Variable], is_differentiable: bool) -> list[Variable]:
        """Returns the gradients of the inputs; zeros where outputs do not depend on one."""
        if LEVELS.active != self._levels:
            raise BatchingError("the graph was built outside of chainer.vmap, or inside of another")
        return gradients_of(
            self.outputs, self.inputs, cotangents, is_differentiable, self.is_closed()
        )

    def push(
        self, outputs: Sequence[Variable], tangents: Sequence[Variable], is_differentiable: bool
    ) -> list[Variable]:
        """Returns the tangents of outputs; zeros where one does not depend on the inputs."""
        if not self.inputs:
            return [zeros_like(y.array) for y in outputs]
        pairs = zip(self.inputs, tangents, strict=True)
        if LEVELS.active:
            moving = {lowered(x).node: lowered(t) for x, t in pairs}
            found = push_forward([lowered(y) for y in outputs], moving, is_differentiable)
            found = [None if t is None else raised(t) for t in found]
        else:
            found = push_forward(outputs, {x.node: t for x, t in pairs}, is_differentiable)
        return [zeros_like(y.array) if t is None else t for y, t in zip(outputs, found)]

    def are_differentiable(self, vectors: Sequence[Variable] = ()) -> bool:
        """Returns whether derivatives may be differentiated in turn.

        This takes a Variable that requires gradients and that the code outside knows: an argument,
        a vector, or a parameter that the function reads. Without one, the walk that computes the
        derivatives needs no graph, and takes about half of the time.

        Args:
            vectors: Cotangents or tangents.
        """
        if self._is_known_outside or any([v.requires_grad for v in vectors]):
            return True
        return not self.is_closed()

    def is_closed(self) -> bool:
        """Returns whether the inputs were made here, and are all leaves that lead to the outputs.

        Then every path of the graph leads to them, and no walk has to look for paths first.
        """
        if self._is_known_outside:
            return False
        if self._has_inputs_only is None:
            outputs, inputs = self.outputs, self.inputs
            if LEVELS.active:
                outputs, inputs = [[lowered(v) for v in each] for each in (outputs, inputs)]
            self._has_inputs_only = not has_other_leaves(outputs, inputs)
        return self._has_inputs_only

    def of_inputs(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Returns values in the structure of the primals."""
        return filled(tuple(self.arguments), values)

    def like_inputs(self, values: Tree, argument: str) -> list[Variable]:
        """Returns the Variables of vectors like the inputs; refuses other shapes."""
        return leaves_like(tuple(self.arguments), values, f"{self._name}: {argument}")

    def like_result(self, values: Tree, argument: str) -> list[Variable]:
        """Returns the Variables of vectors like the result; refuses other shapes."""
        return leaves_like(self.result, values, f"{self._name}: {argument}")

    def scalar(self) -> Variable:
        """Returns the result, which must have one element."""
        result = self.result
        if not isinstance(result, Variable) or result.size != 1:
            shape = result.shape if isinstance(result, Variable) else type(result).__name__
            raise ValueError(f"{self._name}: func must return an array of one element, got {shape}")
        return result

    def gradient(self, is_differentiable: bool = True) -> list[Variable]:
        """Returns the gradients of the only element of the result.

        Args:
            is_differentiable: Whether they can be differentiated in turn.
        """
        ones = initial_gradient(self.scalar().array, None)
        return self.pull([Variable(ones, requires_grad=False)], is_differentiable)


def _as_variable(value: Any) -> Variable:
    return value if isinstance(value, Variable) else Variable(value, requires_grad=False)


def gradients_of(
    outputs: Sequence[Variable],
    inputs: Sequence[Variable],
    cotangents: Sequence[Variable],
    is_differentiable: bool,
    is_closed: bool = False,
) -> list[Variable]:
    """Returns the gradients of inputs; zeros where outputs do not depend on one.

    Args:
        outputs: Results of a function.
        inputs: Its inputs.
        cotangents: The gradient of each output.
        is_differentiable: Whether the gradients can be differentiated in turn.
        is_closed: Whether the inputs are all leaves that lead to the outputs.
    """
    pairs = [(y, gy) for y, gy in zip(outputs, cotangents, strict=True) if y.requires_grad]
    found: list[Variable | None] = [None] * len(inputs)
    if pairs:
        ys, gys = zip(*pairs)
        # A derivative may be zero here: grad() does not warn about that if it gets a list.
        none = [None] * len(inputs)
        if LEVELS.active:
            # The samples are independent of each other, so one walk gives the gradients of all.
            ys, inputs_of_all, gys = [[lowered(v) for v in each] for each in (ys, inputs, gys)]
        else:
            inputs_of_all = inputs
        if is_closed:
            found = closed_gradients(ys, inputs_of_all, gys, is_differentiable)
        else:
            found = grad(ys, inputs_of_all, gys, none, enable_double_backprop=is_differentiable)
        if LEVELS.active:
            found = [None if g is None else raised(g) for g in found]
    return [zeros_like(x.array) if g is None else g for x, g in zip(inputs, found)]


def zeros_like(array: Array) -> Variable:
    """Returns a Variable of zeros that requires no gradient.

    Args:
        array: Array of the shape and dtype of the zeros.
    """
    xp = backend_of(array).xp
    return Variable(xp.zeros(array.shape, array.dtype), requires_grad=False)


def units_like(variable: Variable) -> list[Variable]:
    """Returns arrays with a single one each, for each element of a Variable.

    Args:
        variable: Variable of the shape and dtype of the arrays.
    """
    size, shape = variable.size, variable.shape
    eye = numpy.eye(size, dtype=variable.dtype)
    return [constant_beside(variable, eye[i].reshape(shape)) for i in range(size)]


def units_of(variable: Variable, raw: Variable, levels: int) -> Variable:
    """Returns the arrays of :func:`units_like` as samples of one array.

    Args:
        variable: The Variable.
        raw: The Variable with an axis in front for each running call of ``vmap``.
        levels: Number of these calls.
    """
    size = variable.size
    eye = numpy.eye(size, dtype=variable.dtype).reshape((size, *[1] * levels, *variable.shape))
    return constant_beside(raw, numpy.array(numpy.broadcast_to(eye, (size, *raw.shape))))


def constant_beside(variable: Variable, array: numpy.ndarray[Any, Any]) -> Variable:
    """Returns a Variable of a NumPy array on the device of another Variable.

    Args:
        variable: The other Variable.
        array: The array. It is made on the host, so that a captured step takes it as a constant.
    """
    backend = backend_of(variable.array)
    sent = backend.from_host(array, backend.device_of(variable.array))
    return Variable(sent, requires_grad=False)


def apply_to_chosen(
    name: str,
    func: Callable[..., Any],
    args: Sequence[Any],
    argnums: int | Sequence[int],
    has_aux: bool,
) -> Applied:
    """Applies a function to arguments of which some are differentiated by.

    Args:
        name: Name of the transform, for messages.
        func: The function.
        args: All of its arguments.
        argnums: Which of them to differentiate by.
        has_aux: Whether the function returns a pair.

    Raises:
        TypeError: If a chosen argument is not a tree of arrays.
        ValueError: If ``argnums`` names an argument that was not given.
    """
    count = len(args)
    numbers = [argnums] if isinstance(argnums, int) else list(argnums)
    for number in numbers:
        if not isinstance(number, int) or not -count <= number < count:
            raise ValueError(
                f"{name}: argnums must be numbers of the {count} arguments, got {argnums!r}"
            )
        if not (is_leaf(args[number]) or isinstance(args[number], (tuple, list, dict))):
            raise TypeError(
                f"{name}: argument {number} must be an array or a Variable, or tuples, lists and "
                f"dicts of them, got {type(args[number]).__name__}"
            )

    def chosen(*inputs: Any) -> Any:
        given = list(args)
        for number, x in zip(numbers, inputs):
            given[number] = x
        return func(*given)

    return Applied(name, chosen, [args[number] for number in numbers], has_aux)


def with_aux(found: Any, applied: Applied, has_aux: bool) -> Any:
    """Returns a result, or a pair of it and what the function returned besides.

    Args:
        found: The result.
        applied: The function.
        has_aux: Whether it returned a pair.
    """
    return (found, applied.aux) if has_aux else found


def of_blocks(
    outputs: Tree,
    applied: Applied,
    blocks: Sequence[Sequence[Any]],
    argnums: int | Sequence[int],
) -> Tree:
    """Returns the Jacobians in the structure of the outputs, and in each the one of the inputs.

    Args:
        outputs: Tree of outputs.
        applied: The function.
        blocks: For each output, the Jacobian by each input.
        argnums: As the user gave it: one number, or a sequence.
    """
    rows = [applied.of_inputs(row) for row in blocks]
    return filled(outputs, [row[0] if isinstance(argnums, int) else row for row in rows])
