"""Forward mode: :func:`chainer.jvp` and :func:`chainer.jacfwd`."""

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
from chainer.core.autograd.forward_mode import push_forward
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.functions.array.moveaxis import moveaxis
from chainer.functions.array.reshape import reshape
from chainer.functions.array.stack import stack
from chainer.functions.transforms.applied import (
    Applied,
    apply_to_chosen,
    of_blocks,
    units_like,
    units_of,
    with_aux,
    zeros_like,
)
from chainer.functions.transforms.trees import filled

__all__ = ["jacfwd", "jvp"]


def jvp(
    func: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool = False,
) -> tuple[Any, ...]:
    """Applies a function, and returns its Jacobian-vector product besides the result.

    This is the directional derivative, computed in forward mode: a walk over the graph that the
    function built, from the inputs to the outputs. The signature is the one of ``jax.jvp`` and
    ``torch.func.jvp``. Unless backpropagation is turned off (:func:`chainer.no_backprop_mode`),
    tangents can be differentiated in turn by Variables that require gradients: primals, tangents,
    and what ``func`` reads, such as parameters. If there is none, they have no graph.

    Args:
        func (callable): Function of the primals. It returns Variables or arrays, or nested tuples,
            lists and dicts of them.
        primals (tuple or list): The arguments: arrays or Variables of floating-point numbers, or
            nested tuples, lists and dicts of them.
        tangents (tuple or list): The direction, in the structure, shapes and dtypes of the primals.
        has_aux (bool): Whether ``func`` returns a tuple ``(output, aux)``. Then ``aux``, which may
            be anything, is not differentiated, and is returned as a third element.

    Returns:
        tuple: The result of ``func``, and the tangents in the structure of the result. They are
        zero for a result that does not depend on the primals.

    Raises:
        TypeError: If ``primals`` or ``tangents`` is not a tuple or a list, or a primal is not an
            array of floating-point numbers.
        ValueError: If tangents have another structure, shape or dtype.

    Example:
        >>> x, t = np.array([1., 2.]), np.array([1., 0.])
        >>> chainer.jvp(lambda x: x ** 3, (x,), (t,))
        (variable([1., 8.]), variable([3., 0.]))
    """
    for name, value in (("primals", primals), ("tangents", tangents)):
        if not isinstance(value, (tuple, list)):
            raise TypeError(
                f"jvp: {name} must be a tuple or a list of arrays, got {type(value).__name__}"
            )
    applied = Applied("jvp", func, primals, has_aux)
    given = applied.like_inputs(tuple(tangents), "tangents")
    is_differentiable = config.enable_backprop and applied.are_differentiable(given)
    found = filled(applied.result, applied.push(applied.outputs, given, is_differentiable))
    return (applied.result, found, applied.aux) if has_aux else (applied.result, found)


def jacobian_columns(
    applied: Applied, outputs: Sequence[Variable], is_differentiable: bool
) -> list[list[Any]]:
    """Returns the Jacobian of each output by each input, by one walk for each input.

    Args:
        applied: The function, with its inputs.
        outputs: Variables that were computed from the inputs.
        is_differentiable: Whether the Jacobian can be differentiated in turn.
    """
    try:
        return _columns_at_once(applied, outputs, is_differentiable)
    except BatchingError:  # a rule reads values of tangents
        return _columns_in_a_loop(applied, outputs, is_differentiable)


def _columns_at_once(
    applied: Applied, outputs: Sequence[Variable], is_differentiable: bool
) -> list[list[Any]]:
    """Pushes all tangents forward in one walk, as samples of a batch."""
    levels = len(LEVELS.active)
    raw_inputs = [lowered(x) for x in applied.inputs]
    raw_outputs = [lowered(y) for y in outputs]
    blocks: list[list[Any]] = [[] for _ in outputs]
    for x, raw in zip(applied.inputs, raw_inputs):
        size, xp = x.size, backend_of(raw.array).xp
        found: list[Variable | None] = [None] * len(outputs)
        if size:
            units = units_of(x, raw, levels)
            with on_all_samples(), Level(size) as level:
                pushed = push_forward(raw_outputs, {raw.node: level.wrap(units)}, is_differentiable)
                found = [None if t is None else level.expand(t) for t in pushed]
        for j, (y, raw_y, t) in enumerate(zip(outputs, raw_outputs, found)):
            shape = (*raw_y.shape, *x.shape)
            if t is None:
                block = Variable(xp.zeros(shape, y.dtype), requires_grad=False)
            else:
                block = reshape(moveaxis(t, 0, -1), shape)
            blocks[j].append(raised(block))
    return blocks


def _columns_in_a_loop(
    applied: Applied, outputs: Sequence[Variable], is_differentiable: bool
) -> list[list[Any]]:
    inputs = applied.inputs
    zeros = [zeros_like(x.array) for x in inputs]
    blocks: list[list[Any]] = [[] for _ in outputs]
    for i, x in enumerate(inputs):
        columns: list[list[Variable]] = []
        for unit in units_like(x):
            tangents = [unit if k == i else zero for k, zero in enumerate(zeros)]
            columns.append(applied.push(outputs, tangents, is_differentiable))
        for j, y in enumerate(outputs):
            shape = (*y.shape, *x.shape)
            if columns:
                block = reshape(stack([column[j] for column in columns], axis=-1), shape)
            else:
                xp = backend_of(y.array).xp
                block = Variable(xp.zeros(shape, y.dtype), requires_grad=False)
            blocks[j].append(block)
    return blocks


def jacfwd(
    func: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Returns a function that computes the Jacobian of a function in forward mode.

    The signature is the one of JAX and ``torch.func``. One walk carries the directions of all
    elements of an argument, and the work grows with their number. :func:`chainer.jacrev` gives the
    same with work that grows with the results.

    Args:
        func (callable): Function that returns Variables or arrays, or nested tuples, lists and
            dicts of them.
        argnums (int or sequence of ints): Which arguments to differentiate by. These are arrays or
            Variables, or nested tuples, lists and dicts of them.
        has_aux (bool): Whether ``func`` returns a tuple ``(output, aux)``. Then the result is a
            tuple of the Jacobian and ``aux``.

    Returns:
        callable: Function of the same arguments. It returns the same as the function that
        :func:`chainer.jacrev` returns.

    Raises:
        TypeError: By that function, if an argument is not an array of floating-point numbers.
        ValueError: By that function, if ``argnums`` names an argument that was not given.

    Example:
        >>> A = np.array([[1., 2.], [3., 4.]], np.float32)
        >>> jacobian = chainer.jacfwd(lambda x: F.matmul(A, x) ** 2)
        >>> jacobian(np.array([1., 1.], np.float32)).array
        array([[ 6., 12.],
               [42., 56.]], dtype=float32)
    """

    def jacobian(*args: Any) -> Any:
        # Rules on batched tangents are faster with a graph: a formula is one node then.
        is_differentiable = config.enable_backprop
        applied = apply_to_chosen("jacfwd", func, args, argnums, has_aux)
        blocks = jacobian_columns(applied, applied.outputs, is_differentiable)
        return with_aux(of_blocks(applied.result, applied, blocks, argnums), applied, has_aux)

    return jacobian
