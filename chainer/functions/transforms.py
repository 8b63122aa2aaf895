"""Transforms of functions: :func:`chainer.vjp`, :func:`~chainer.hvp`, :func:`~chainer.jacrev`.

Inputs of a transformed function are results of :func:`~chainer.functions.identity`. So a derivative
within another one stays partial, and both may be of the same Variable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy

from chainer.core.arrays.backend import backend_of, is_array
from chainer.core.arrays.extended_dtypes import kind_of
from chainer.core.autograd.grad import grad
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config, using_config
from chainer.core.typing import Array
from chainer.functions.array.reshape import reshape
from chainer.functions.array.stack import stack
from chainer.functions.math.identity import identity

__all__ = ["hessian", "hvp", "jacrev", "vjp"]


class _Applied:
    """A function, applied to inputs that can be differentiated by.

    Args:
        name: Name of the transform, for messages.
        func: The function.
        primals: Its arguments.
    """

    def __init__(self, name: str, func: Callable[..., Any], primals: Sequence[Any]) -> None:
        if not callable(func):
            raise TypeError(f"{name}: func must be callable, got {type(func).__name__}")
        self._name = name
        #: What the function gets, in the order of the primals.
        self.inputs: list[Variable] = []
        # A transform computes derivatives where the code around it needs none.
        with using_config("enable_backprop", True):
            self.arguments = [_mapped(p, self._input, f"{name}: primals") for p in primals]
            result = func(*self.arguments)
        #: The Variables of the result.
        self.outputs: list[Variable] = []
        self.result = _mapped(result, self._output, f"{name}: results of func")

    def _input(self, value: Any, what: str) -> Variable:
        array = value.array if isinstance(value, Variable) else value
        if array is None or kind_of(array.dtype) not in "fc":
            dtype = None if array is None else array.dtype
            raise TypeError(f"{what} must be arrays of floating-point numbers, got {dtype}")
        is_differentiable = isinstance(value, Variable) and value.requires_grad
        variable = cast(Variable, identity(value if is_differentiable else Variable(array)))
        self.inputs.append(variable)
        return variable

    def _output(self, value: Any, what: str) -> Variable:
        variable = value if isinstance(value, Variable) else Variable(value, requires_grad=False)
        self.outputs.append(variable)
        return variable

    def pull(self, cotangents: Sequence[Variable], is_differentiable: bool) -> list[Variable]:
        """Returns the gradients of the inputs; zeros where outputs do not depend on one."""
        return _gradients(self.outputs, self.inputs, cotangents, is_differentiable)

    def of_inputs(self, values: Sequence[Variable]) -> tuple[Any, ...]:
        """Returns values in the structure of the primals."""
        found = iter(values)
        return tuple([_mapped(a, lambda *_: next(found), "") for a in self.arguments])

    def as_cotangents(self, values: Any, structure: Any, argument: str) -> list[Variable]:
        """Returns the Variables of cotangents or vectors; refuses other structures and shapes."""
        found: list[Variable] = []

        def check(expected: Any, value: Any) -> None:
            if isinstance(expected, Variable):
                if not (isinstance(value, Variable) or is_array(value)):
                    value = numpy.asarray(value, expected.dtype)
                if value.shape != expected.shape:
                    raise ValueError(
                        f"{self._name}: {argument} must have the shape {expected.shape}, "
                        f"got {value.shape}"
                    )
                found.append(value if isinstance(value, Variable) else Variable(value))
            elif isinstance(expected, dict):
                if not isinstance(value, dict) or value.keys() != expected.keys():
                    raise ValueError(f"{self._name}: {argument} must be a dict of the same keys")
                for key in expected:
                    check(expected[key], value[key])
            else:
                if not isinstance(value, (tuple, list)) or len(value) != len(expected):
                    raise ValueError(
                        f"{self._name}: {argument} must be {len(expected)} arrays, as the "
                        f"function has them"
                    )
                for part, given in zip(expected, value):
                    check(part, given)

        check(structure, values)
        return found


def _gradients(
    outputs: Sequence[Variable],
    inputs: Sequence[Variable],
    cotangents: Sequence[Variable],
    is_differentiable: bool,
) -> list[Variable]:
    pairs = [(y, gy) for y, gy in zip(outputs, cotangents, strict=True) if y.requires_grad]
    found: list[Variable | None] = [None] * len(inputs)
    if pairs:
        ys, gys = zip(*pairs)
        # A derivative may be zero here: grad() does not warn about that if it gets a list.
        none = [None] * len(inputs)
        found = grad(ys, inputs, gys, none, enable_double_backprop=is_differentiable)
    return [_zeros_like(x.array) if g is None else g for x, g in zip(inputs, found)]


def _zeros_like(array: Array) -> Variable:
    return Variable(backend_of(array).xp.zeros_like(array), requires_grad=False)


def _mapped(value: Any, function: Callable[[Any, str], Any], what: str) -> Any:
    """Applies a function to the arrays and Variables in nested tuples, lists and dicts."""
    if isinstance(value, Variable) or is_array(value):
        return function(value, what)
    if isinstance(value, dict):
        return {key: _mapped(part, function, what) for key, part in value.items()}
    if isinstance(value, (tuple, list)):
        parts = [_mapped(part, function, what) for part in value]
        return parts if isinstance(value, list) else tuple(parts)
    raise TypeError(
        f"{what} must be arrays or Variables, or tuples, lists and dicts of them, "
        f"got {type(value).__name__}"
    )


def vjp(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """Applies a function, and returns its vector-Jacobian product besides the result.

    The signature is the one of ``jax.vjp``. Unless backpropagation is turned off
    (:func:`chainer.no_backprop_mode`), gradients can be differentiated in turn.

    Args:
        func (callable): Function of the primals. It returns Variables or arrays, or nested tuples,
            lists and dicts of them.
        primals: Arrays or Variables of floating-point numbers, or nested tuples, lists and dicts of
            them.

    Returns:
        tuple: The result of ``func``, and a function ``pull``. ``pull(cotangents)`` takes arrays in
        the structure and the shapes of the result, and returns a tuple with the gradients of each
        primal. They are zero for a primal that the result does not depend on.

    Raises:
        TypeError: If a primal is an array of integers or not an array.
        ValueError: By ``pull``, if cotangents have another structure or shape.

    Example:
        >>> x = np.array([1., 2.], np.float32)
        >>> y, pull = chainer.vjp(lambda x: x ** 3, x)
        >>> gx, = pull(np.array([1., 10.], np.float32))
        >>> gx.array
        array([  3., 120.], dtype=float32)
    """
    is_differentiable = config.enable_backprop
    applied = _Applied("vjp", func, primals)

    def pull(cotangents: Any) -> tuple[Any, ...]:
        found = applied.as_cotangents(cotangents, applied.result, "cotangents")
        return applied.of_inputs(applied.pull(found, is_differentiable))

    return applied.result, pull


def _scalar_of(applied: _Applied, name: str) -> Variable:
    result = applied.result
    if not isinstance(result, Variable) or result.size != 1:
        shape = result.shape if isinstance(result, Variable) else type(result).__name__
        raise ValueError(f"{name}: func must return an array of one element, got {shape}")
    return result


def _ones_like(variable: Variable) -> Variable:
    array = variable.array
    return Variable(backend_of(array).xp.ones_like(array), requires_grad=False)


def hvp(func: Callable[..., Any], primals: Any, vectors: Any) -> tuple[Variable, Any]:
    """Computes the product of the Hessian of a function with vectors, without the Hessian.

    The signature is the one of ``torch.autograd.functional.hvp``.

    Args:
        func (callable): Function of the primals that returns one element.
        primals: The argument; or a tuple of arguments. Each is an array or a Variable, or a nested
            list or dict of them.
        vectors: As ``primals``, with the same shapes.

    Returns:
        tuple: The value of the function, and the product in the structure of ``primals``.

    Raises:
        TypeError: If a primal is an array of integers or not an array.
        ValueError: If the function returns more than one element, or vectors have another structure
            or shape.

    Example:
        >>> x, v = np.array([1., 2.], np.float32), np.array([1., 0.], np.float32)
        >>> value, product = chainer.hvp(lambda x: F.sum(x ** 3), x, v)
        >>> product.array
        array([6., 0.], dtype=float32)
    """
    is_differentiable = config.enable_backprop
    is_tuple = isinstance(primals, tuple)
    applied = _Applied("hvp", func, primals if is_tuple else (primals,))
    value = _scalar_of(applied, "hvp")
    given = vectors if is_tuple else (vectors,)
    found = applied.as_cotangents(given, tuple(applied.arguments), "vectors")
    gradients = applied.pull([_ones_like(value)], True)
    products = _gradients(gradients, applied.inputs, found, is_differentiable)
    of_inputs = applied.of_inputs(products)
    return value, of_inputs if is_tuple else of_inputs[0]


def _argnums(name: str, argnums: int | Sequence[int], count: int) -> list[int]:
    found = [argnums] if isinstance(argnums, int) else list(argnums)
    for number in found:
        if not isinstance(number, int) or not -count <= number < count:
            raise ValueError(
                f"{name}: argnums must be numbers of the {count} arguments, got {argnums!r}"
            )
    return [number % count for number in found]


def _jacobians(output: Variable, inputs: Sequence[Variable], is_differentiable: bool) -> list[Any]:
    """Returns the Jacobian of an output for each input, of the shape of both."""
    array = output.array
    xp = backend_of(array).xp
    rows: list[list[Variable]] = []
    for i in range(output.size):
        unit = xp.zeros(output.size, array.dtype)
        unit[i] = 1
        seed = Variable(unit.reshape(output.shape), requires_grad=False)
        rows.append(_gradients([output], inputs, [seed], is_differentiable))
    found: list[Any] = []
    for i, x in enumerate(inputs):
        shape = (*output.shape, *x.shape)
        if not rows:
            found.append(Variable(xp.zeros(shape, x.dtype), requires_grad=False))
        else:
            found.append(reshape(stack([row[i] for row in rows]), shape))
    return found


def jacrev(func: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """Returns a function that computes the Jacobian of a function, one row at a time.

    The signature is the one of JAX and ``torch.func``. The work grows with the number of elements
    of the result.

    Args:
        func (callable): Function that returns one Variable or array.
        argnums (int or sequence of ints): Which arguments to differentiate by. These are arrays or
            Variables.

    Returns:
        callable: Function of the same arguments. It returns a Variable of the shape of the result,
        followed by the shape of the argument; a tuple of them if ``argnums`` is a sequence.

    Example:
        >>> A = np.array([[1., 2.], [3., 4.]], np.float32)
        >>> jacobian = chainer.jacrev(lambda x: F.matmul(A, x) ** 2)
        >>> jacobian(np.array([1., 1.], np.float32)).array
        array([[ 6., 12.],
               [42., 56.]], dtype=float32)
    """

    def jacobian(*args: Any) -> Any:
        is_differentiable = config.enable_backprop
        applied, single = _with_argnums("jacrev", func, args, argnums)
        if not isinstance(applied.result, Variable):
            raise TypeError(
                f"jacrev: func must return one Variable or array, got {type(applied.result)}"
            )
        found = _jacobians(applied.result, applied.inputs, is_differentiable)
        return found[0] if single else tuple(found)

    return jacobian


def hessian(func: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """Returns a function that computes the Hessian of a function that returns one element.

    The signature is the one of JAX and ``torch.func``. The work grows with the number of elements
    of the arguments.

    Args:
        func (callable): Function that returns one element.
        argnums (int or sequence of ints): Which arguments to differentiate by. These are arrays or
            Variables.

    Returns:
        callable: Function of the same arguments. It returns a Variable with the shape of the
        argument twice. If ``argnums`` is a sequence, it returns a tuple for each argument, with the
        derivatives of its gradient by each argument.

    Example:
        >>> x = np.array([1., 2.], np.float32)
        >>> chainer.hessian(lambda x: F.sum(x) ** 3)(x).array
        array([[18., 18.],
               [18., 18.]], dtype=float32)
    """

    def second(*args: Any) -> Any:
        is_differentiable = config.enable_backprop
        applied, single = _with_argnums("hessian", func, args, argnums)
        value = _scalar_of(applied, "hessian")
        gradients = applied.pull([_ones_like(value)], True)
        found = [tuple(_jacobians(g, applied.inputs, is_differentiable)) for g in gradients]
        return found[0][0] if single else tuple(found)

    return second


def _with_argnums(
    name: str, func: Callable[..., Any], args: Sequence[Any], argnums: int | Sequence[int]
) -> tuple[_Applied, bool]:
    """Applies a function to arguments of which some are differentiated by."""
    numbers = _argnums(name, argnums, len(args))
    for number in numbers:
        if not (isinstance(args[number], Variable) or is_array(args[number])):
            raise TypeError(
                f"{name}: argument {number} must be an array or a Variable, got "
                f"{type(args[number]).__name__}"
            )

    def chosen(*inputs: Any) -> Any:
        given = list(args)
        for number, x in zip(numbers, inputs):
            given[number] = x
        return func(*given)

    applied = _Applied(name, chosen, cast("list[Any]", [args[number] for number in numbers]))
    return applied, isinstance(argnums, int)
