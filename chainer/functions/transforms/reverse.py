"""Reverse mode: :func:`chainer.vjp` and :func:`chainer.jacrev`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from chainer.core.arrays.backend import backend_of
from chainer.core.autograd.batching import (
    LEVELS,
    BatchingError,
    Level,
    lowered,
    on_all_samples,
    raised,
)
from chainer.core.autograd.grad import grad
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.functions.array.moveaxis import moveaxis
from chainer.functions.array.reshape import reshape
from chainer.functions.array.stack import stack
from chainer.functions.transforms.applied import (
    Applied,
    apply_to_chosen,
    gradients_of,
    of_blocks,
    units_like,
    units_of,
    with_aux,
)

__all__ = ["jacrev", "vjp"]


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """Applies a function, and returns its vector-Jacobian product besides the result.

    The signature is the one of ``jax.vjp`` and ``torch.func.vjp``. Unless backpropagation is turned
    off (:func:`chainer.no_backprop_mode`), gradients can be differentiated in turn by Variables
    that require gradients: primals, cotangents, and what ``func`` reads, such as parameters. If
    there is none, no graph of the gradients is built.

    Args:
        func (callable): Function of the primals. It returns Variables or arrays, or nested tuples,
            lists and dicts of them.
        primals: Arrays or Variables of floating-point numbers, or nested tuples, lists and dicts of
            them.
        has_aux (bool): Whether ``func`` returns a tuple ``(output, aux)``. Then ``aux``, which may
            be anything, is not differentiated, and is returned as a third element.

    Returns:
        tuple: The result of ``func``, and a function ``pull``. ``pull(cotangents)`` takes arrays in
        the structure and the shapes of the result, and returns a tuple with the gradients of each
        primal. They are zero for a primal that the result does not depend on.

    Raises:
        TypeError: If a primal is an array of integers or not an array.
        ValueError: By ``pull``, if cotangents have another structure, shape or dtype.

    Example:
        >>> x = np.array([1., 2.], np.float32)
        >>> y, pull = chainer.vjp(lambda x: x ** 3, x)
        >>> gx, = pull(np.array([1., 10.], np.float32))
        >>> gx.array
        array([  3., 120.], dtype=float32)
    """
    was_enabled = config.enable_backprop
    applied = Applied("vjp", func, primals, has_aux)

    def pull(cotangents: Any) -> tuple[Any, ...]:
        found = applied.like_result(cotangents, "cotangents")
        is_differentiable = was_enabled and applied.are_differentiable(found)
        return applied.of_inputs(applied.pull(found, is_differentiable))

    return (applied.result, pull, applied.aux) if has_aux else (applied.result, pull)


def jacobian_rows(
    output: Variable, inputs: Sequence[Variable], is_differentiable: bool
) -> list[Any]:
    """Returns the Jacobian of an output by each input, by one walk back.

    Args:
        output: The output.
        inputs: The inputs.
        is_differentiable: Whether the Jacobian can be differentiated in turn.
    """
    try:
        return _rows_at_once(output, inputs, is_differentiable)
    except BatchingError:  # a rule reads values of gradients
        return _rows_in_a_loop(output, inputs, is_differentiable)


def _rows_at_once(
    output: Variable, inputs: Sequence[Variable], is_differentiable: bool
) -> list[Any]:
    """Pulls the units of all elements back in one walk, as samples of a batch."""
    levels, size = len(LEVELS.active), output.size
    raw_output, raw_inputs = lowered(output), [lowered(x) for x in inputs]
    found: list[Variable | None] = [None] * len(inputs)
    if size and raw_output.requires_grad:
        units = units_of(output, raw_output, levels)
        with on_all_samples(), Level(size) as level:
            rows = grad(
                [raw_output],
                raw_inputs,
                [level.wrap(units)],
                [None] * len(inputs),
                enable_double_backprop=is_differentiable,
            )
            found = [None if row is None else level.expand(row) for row in rows]
    blocks: list[Any] = []
    for x, raw, row in zip(inputs, raw_inputs, found):
        shape = (*raw.shape[:levels], *output.shape, *x.shape)
        if row is None:
            block = Variable(backend_of(raw.array).xp.zeros(shape, x.dtype), requires_grad=False)
        else:
            block = reshape(row if not levels else moveaxis(row, 0, levels), shape)
        blocks.append(raised(block))
    return blocks


def _rows_in_a_loop(
    output: Variable, inputs: Sequence[Variable], is_differentiable: bool
) -> list[Any]:
    rows = [
        gradients_of([output], inputs, [unit], is_differentiable) for unit in units_like(output)
    ]
    found: list[Any] = []
    for i, x in enumerate(inputs):
        shape = (*output.shape, *x.shape)
        found.append(reshape(stack([row[i] for row in rows]), shape))
    return found


def jacrev(
    func: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Returns a function that computes the Jacobian of a function in reverse mode.

    The signature is the one of JAX and ``torch.func``. The work grows with the number of elements
    of the result. :func:`chainer.jacfwd` gives the same with work that grows with the arguments.

    Args:
        func (callable): Function that returns Variables or arrays, or nested tuples, lists and
            dicts of them.
        argnums (int or sequence of ints): Which arguments to differentiate by. These are arrays or
            Variables, or nested tuples, lists and dicts of them.
        has_aux (bool): Whether ``func`` returns a tuple ``(output, aux)``. Then the result is a
            tuple of the Jacobian and ``aux``.

    Returns:
        callable: Function of the same arguments. It returns a Variable of the shape of the output,
        followed by the shape of the argument; a tuple of them if ``argnums`` is a sequence. If
        outputs or arguments are nested, the result has the structure of the outputs, with the
        structure of the arguments in each place.

    Raises:
        TypeError: By that function, if an argument is not an array of floating-point numbers.
        ValueError: By that function, if ``argnums`` names an argument that was not given.

    Example:
        >>> A = np.array([[1., 2.], [3., 4.]], np.float32)
        >>> jacobian = chainer.jacrev(lambda x: F.matmul(A, x) ** 2)
        >>> jacobian(np.array([1., 1.], np.float32)).array
        array([[ 6., 12.],
               [42., 56.]], dtype=float32)
    """

    def jacobian(*args: Any) -> Any:
        is_differentiable = config.enable_backprop
        applied = apply_to_chosen("jacrev", func, args, argnums, has_aux)
        blocks = [jacobian_rows(y, applied.inputs, is_differentiable) for y in applied.outputs]
        return with_aux(of_blocks(applied.result, applied, blocks, argnums), applied, has_aux)

    return jacobian
