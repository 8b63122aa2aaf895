"""Second derivatives of functions of one element: :func:`chainer.hvp`, :func:`chainer.hessian`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.functions.transforms.applied import (
    Applied,
    apply_to_chosen,
    gradients_of,
    with_aux,
)
from chainer.functions.transforms.forward import jacobian_columns

__all__ = ["hessian", "hvp"]


def hvp(func: Callable[..., Any], primals: Any, vectors: Any) -> tuple[Variable, Any]:
    """Computes the product of the Hessian of a function with vectors, without the Hessian.

    The signature is the one of ``torch.autograd.functional.hvp``. The product can be differentiated
    in turn by Variables that require gradients: primals, vectors, and what ``func`` reads, such as
    parameters. If there is none, no graph of the product is built.

    Args:
        func (callable): Function of the primals that returns one element.
        primals: The argument; or a tuple of arguments. Each is an array or a Variable, or a nested
            list or dict of them.
        vectors: As ``primals``, with the same shapes and dtypes.

    Returns:
        tuple: The value of the function, and the product in the structure of ``primals``.

    Raises:
        TypeError: If a primal is an array of integers or not an array.
        ValueError: If the function returns more than one element, or vectors have another
            structure, shape or dtype.

    Example:
        >>> x, v = np.array([1., 2.], np.float32), np.array([1., 0.], np.float32)
        >>> value, product = chainer.hvp(lambda x: F.sum(x ** 3), x, v)
        >>> product.array
        array([6., 0.], dtype=float32)
    """
    is_tuple = isinstance(primals, tuple)
    applied = Applied("hvp", func, primals if is_tuple else (primals,))
    value = applied.scalar()
    found = applied.like_inputs(vectors if is_tuple else (vectors,), "vectors")
    # Two walks back. Forward mode over the graph of the gradient gives the same, but visits the
    # functions of both walks with a rule each, which takes longer.
    is_differentiable = config.enable_backprop and applied.are_differentiable(found)
    # The graph of the gradient leads to no other leaves than the graph of the function.
    products = gradients_of(
        applied.gradient(), applied.inputs, found, is_differentiable, applied.is_closed()
    )
    of_inputs = applied.of_inputs(products)
    return value, of_inputs if is_tuple else of_inputs[0]


def hessian(
    func: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Returns a function that computes the Hessian of a function that returns one element.

    The signature is the one of JAX and ``torch.func``. The work grows with the number of elements
    of the arguments.

    Args:
        func (callable): Function that returns one element.
        argnums (int or sequence of ints): Which arguments to differentiate by. These are arrays or
            Variables, or nested tuples, lists and dicts of them.
        has_aux (bool): Whether ``func`` returns a tuple ``(output, aux)``. Then the result is a
            tuple of the Hessian and ``aux``.

    Returns:
        callable: Function of the same arguments. It returns a Variable with the shape of the
        argument twice. If ``argnums`` is a sequence, it returns a tuple for each argument, with the
        derivatives of its gradient by each argument.

    Raises:
        TypeError: By that function, if an argument is not an array of floating-point numbers.
        ValueError: By that function, if ``func`` returns more than one element, or if
            ``argnums`` names an argument that was not given.

    Example:
        >>> x = np.array([1., 2.], np.float32)
        >>> chainer.hessian(lambda x: F.sum(x) ** 3)(x).array
        array([[18., 18.],
               [18., 18.]], dtype=float32)
    """

    def second(*args: Any) -> Any:
        is_differentiable = config.enable_backprop
        applied = apply_to_chosen("hessian", func, args, argnums, has_aux)
        # Forward over reverse: one walk carries all directions.
        blocks = jacobian_columns(applied, applied.gradient(), is_differentiable)
        rows = [applied.of_inputs(row) for row in blocks]
        if isinstance(argnums, int):
            found = applied.of_inputs([row[0] for row in rows])[0]
        else:
            found = applied.of_inputs(rows)
        return with_aux(found, applied, has_aux)

    return second
