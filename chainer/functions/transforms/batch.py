"""Functions of samples as functions of batches: :func:`chainer.vmap`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy

from chainer.core.arrays.backend import backend_of, get_device_from_array
from chainer.core.autograd.batching import BatchingError, Level, array_of_samples
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.functions.array.concat import concat
from chainer.functions.array.moveaxis import moveaxis
from chainer.functions.array.stack import stack
from chainer.functions.transforms.applied import Applied, check_callable
from chainer.functions.transforms.trees import Tree, filled, leaves_of, mapped

__all__ = ["per_sample_grad", "vmap"]

Axes = Any
"""An axis, None, or a tuple, list or dict of axes."""

Randomness = Literal["error", "different", "same"]


def vmap(
    func: Callable[..., Any],
    in_axes: Axes = 0,
    out_axes: Axes = 0,
    randomness: Randomness = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Returns a function that maps a function of one sample over a batch of samples.

    The signature is the one of ``torch.func.vmap`` and ``jax.vmap``. The mapped function is called
    once, with Variables of the shape of one sample. Each function in it is applied to all samples
    at once if it has a batching rule (:meth:`chainer.FunctionNode.batched`), and to one sample
    after the other if not. If the mapped function reads values, as ``if x.array > 0`` does, it is
    called again for each sample. So it should have no side effects.

    Args:
        func (callable): Function of arrays or Variables, or nested tuples, lists and dicts of them.
        in_axes (int, None, or nested tuple, list or dict): The axis of the samples in each
            argument; None for an argument that is the same for each sample. One value holds for all
            arguments, or for all arrays of a nested one. Keyword arguments have axis 0.
        out_axes (int or nested tuple, list or dict): Where the axis of the samples goes in each
            result.
        randomness (str): What to do if ``func`` draws random numbers: raise an error, draw
            ``"different"`` ones for each sample, or use the ``"same"`` ones for each sample. The
            last two call ``func`` for each sample.
        chunk_size (int): Largest number of samples that are computed at once, to save memory; all
            by default.

    Returns:
        callable: Function of the same arguments, with one axis more.

    Raises:
        TypeError: By that function, if an argument with an axis is not an array.
        ValueError: If ``randomness`` or ``chunk_size`` is invalid; by that function, if
            ``in_axes`` or ``out_axes`` do not fit, or numbers of samples differ.
        RuntimeError: By that function, if random numbers are drawn with ``randomness="error"``.

    Example:
        >>> x, y = np.array([[1., 2.], [3., 4.]]), np.array([1., 0.])
        >>> chainer.vmap(F.matmul, in_axes=(0, None))(x, y)
        variable([1., 3.])
        >>> gradient = lambda x: chainer.vjp(lambda x: F.sum(x) ** 2, x)[1](np.ones(()))[0]
        >>> chainer.vmap(gradient)(x)
        variable([[ 6.,  6.],
                  [14., 14.]])
    """
    check_callable("vmap", func)
    if randomness not in ("error", "different", "same"):
        raise ValueError(
            f"vmap: randomness must be 'error', 'different' or 'same', got {randomness!r}"
        )
    if chunk_size is not None and not (isinstance(chunk_size, int) and chunk_size > 0):
        raise ValueError(f"vmap: chunk_size must be a positive integer, got {chunk_size!r}")

    def mapped_function(*args: Any, **kwargs: Any) -> Any:
        batch = _Batch(args, in_axes, kwargs)
        size = batch.size
        step = size if chunk_size is None else min(chunk_size, size)
        if step == size:
            parts = [_called(func, batch, randomness)]
        else:
            starts = range(0, size, step)
            parts = [_called(func, batch.part(i, i + step), randomness) for i in starts]
        structure, first = parts[0]
        if len(parts) == 1:
            columns = first
        else:
            columns = [concat(list(row), axis=0) for row in zip(*[p[1] for p in parts])]
        axes = _flat_axes(structure, out_axes, "out_axes")
        return filled(structure, [_out(y, axis) for y, axis in zip(columns, axes)])

    return mapped_function


class _Batch:
    """Arguments of a mapped function: their leaves, with the samples in front."""

    def __init__(self, args: Sequence[Any], in_axes: Axes, kwargs: Mapping[str, Any]) -> None:
        if isinstance(in_axes, (tuple, list)) and len(in_axes) != len(args):
            raise ValueError(
                f"vmap: in_axes must have one element for each of the {len(args)} arguments, got "
                f"{len(in_axes)}"
            )
        each = in_axes if isinstance(in_axes, (tuple, list)) else [in_axes] * len(args)
        # An argument that no sample has a part of may be anything.
        self._fixed = {i: arg for i, (arg, axis) in enumerate(zip(args, each)) if axis is None}
        self._trees = [None if axis is None else arg for arg, axis in zip(args, each)]
        self._kwargs = dict(kwargs)
        self.values: list[Variable] = []
        self.has_samples: list[bool] = []
        for arg, axis in zip(args, each):
            if axis is not None:
                self._add(arg, _flat_axes(arg, axis, "in_axes"))
        self._add(self._kwargs, _flat_axes(self._kwargs, 0, "in_axes"))
        sizes = {v.shape[0] for v, has in zip(self.values, self.has_samples) if has}
        if not sizes:
            raise ValueError("vmap: in_axes must name an axis of at least one argument, got None")
        if len(sizes) > 1:
            raise ValueError(
                f"vmap: arguments must have the same number of samples, got {sorted(sizes)}"
            )
        (self.size,) = sizes

    def _add(self, tree: Tree, axes: Sequence[int | None]) -> None:
        for leaf, axis in zip(leaves_of(tree, "vmap: arguments"), axes, strict=True):
            value = leaf if isinstance(leaf, Variable) else Variable(leaf, requires_grad=False)
            self.has_samples.append(axis is not None)
            self.values.append(value if axis is None else _moved(value, axis, 0, "in_axes"))

    def part(self, start: int, stop: int) -> _Batch:
        """Returns some of the samples."""
        found: _Batch = object.__new__(_Batch)
        found.__dict__.update(self.__dict__)
        found.size = min(stop, self.size) - start
        pairs = zip(self.values, self.has_samples)
        found.values = [v[start:stop] if has else v for v, has in pairs]
        return found

    def call(self, func: Callable[..., Any], values: Sequence[Variable]) -> Any:
        """Calls a function with given leaves."""
        found = iter(values)
        args = [
            self._fixed[i] if i in self._fixed else mapped(tree, lambda _: next(found), "")
            for i, tree in enumerate(self._trees)
        ]
        return func(*args, **mapped(self._kwargs, lambda _: next(found), ""))

    def sample(self, index: int) -> list[Variable]:
        """Returns the leaves of one sample."""
        return [v[index] if has else v for v, has in zip(self.values, self.has_samples)]


def _flat_axes(tree: Tree, axes: Axes, name: str) -> list[int | None]:
    """Returns the axis of each leaf of a tree."""
    if axes is None or isinstance(axes, (int, numpy.integer)):
        axis = None if axes is None else int(axes)
        return [axis] * len(leaves_of(tree, "vmap: arguments with an axis"))
    if isinstance(tree, Mapping) and isinstance(axes, Mapping) and tree.keys() == axes.keys():
        return [a for key in tree for a in _flat_axes(tree[key], axes[key], name)]
    is_sequence = isinstance(tree, (tuple, list)) and isinstance(axes, (tuple, list))
    if is_sequence and len(tree) == len(axes):
        return [a for part, axis in zip(tree, axes) for a in _flat_axes(part, axis, name)]
    raise ValueError(f"vmap: {name} must have the structure of the arrays, got {axes!r}")


def _out(value: Variable, axis: int | None) -> Variable:
    if axis is None:
        raise ValueError("vmap: out_axes must be numbers, got None")
    return _moved(value, 0, axis, "out_axes")


def _moved(value: Variable, source: int, destination: int, name: str) -> Variable:
    for axis in (source, destination):
        if not -value.ndim <= axis < value.ndim:
            raise ValueError(
                f"vmap: {name} must be an axis of an array of shape {value.shape}, got {axis}"
            )
    if source == destination:
        return value
    return moveaxis(value, source, destination)


def _called(
    func: Callable[..., Any], batch: _Batch, randomness: Randomness
) -> tuple[Tree, list[Variable]]:
    """Returns the structure of the results, and its leaves with the samples in front."""
    random = _RandomNumbers(batch.values, can_restore=randomness != "error")
    try:
        found = _at_once(func, batch)
    except BatchingError:
        if randomness == "error" and random.were_drawn():
            raise _drawn() from None
        return _in_a_loop(func, batch, randomness, random)
    if not random.were_drawn():
        return found
    if randomness == "error":
        raise _drawn()
    random.restore()
    return _in_a_loop(func, batch, randomness, random)


def _drawn() -> RuntimeError:
    return RuntimeError(
        "vmap: func draws random numbers; say randomness='different' if they must differ from "
        "sample to sample, or randomness='same'"
    )


def _at_once(func: Callable[..., Any], batch: _Batch) -> tuple[Tree, list[Variable]]:
    with Level(batch.size) as level:
        pairs = zip(batch.values, batch.has_samples)
        result = batch.call(func, [level.wrap(v) if has else v for v, has in pairs])
        leaves = [level.expand(_as_variable(y)) for y in leaves_of(result, "vmap: results of func")]
    return result, leaves


def _in_a_loop(
    func: Callable[..., Any], batch: _Batch, randomness: Randomness, random: _RandomNumbers
) -> tuple[Tree, list[Variable]]:
    if not batch.size:
        raise ValueError("vmap: func cannot be mapped over an empty batch, because it reads values")
    rows: list[list[Any]] = []
    result: Any = None
    for i in range(batch.size):
        if randomness == "same":
            random.restore()
        result = batch.call(func, batch.sample(i))
        rows.append(leaves_of(result, "vmap: results of func"))
        if randomness == "error" and random.were_drawn():
            raise _drawn()
    return result, [stack([_as_variable(y) for y in column]) for column in zip(*rows, strict=True)]


def _as_variable(value: Any) -> Variable:
    return value if isinstance(value, Variable) else Variable(value, requires_grad=False)


class _RandomNumbers:
    """Tells whether a call drew random numbers on the device of its arrays.

    Args:
        values: Arguments of the call.
        can_restore: Whether the source has to go back. If not, less of its state is read.
    """

    def __init__(self, values: Sequence[Variable], can_restore: bool) -> None:
        array = array_of_samples(values[0])
        self._backend = backend_of(array)
        self._device = get_device_from_array(array)
        self._state = self._backend.random_state(self._device) if can_restore else None
        self._mark = self._backend.random_mark(self._device)

    def were_drawn(self) -> bool:
        """Returns whether random numbers were drawn since."""
        return not _are_equal(self._mark, self._backend.random_mark(self._device))

    def restore(self) -> None:
        """Goes back to the state before."""
        if self._state is not None:
            self._backend.set_random_state(self._state, self._device)


def _are_equal(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, Mapping):
        return all([_are_equal(a[key], b[key]) for key in a])
    if isinstance(a, (tuple, list)):
        return all([_are_equal(x, y) for x, y in zip(a, b, strict=True)])
    return bool(numpy.array_equal(a, b)) if hasattr(a, "shape") else a == b


def per_sample_grad(
    func: Callable[..., Any], params: Tree, in_axes: Axes = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Returns a function that computes the gradient of each sample of a batch.

    It is the composition of :func:`chainer.vmap` and the gradient: differential privacy, importance
    sampling and influence functions need it.

    Args:
        func (callable): Function of parameters and one sample that returns one element, such as
            a loss.
        params: Parameters: an array or a Variable, or nested tuples, lists and dicts of them.
        in_axes (int, None or tuple): The axis of the samples in each argument that follows the
            parameters, as :func:`chainer.vmap` has it.
        has_aux (bool): Whether ``func`` returns a tuple ``(loss, aux)``. Then the result is a
            tuple of the gradients and ``aux`` of all samples, which must consist of arrays.

    Returns:
        callable: Function of the batch, without the parameters. It returns gradients in the
        structure of ``params``, with one axis more in front: the samples.

    Raises:
        TypeError: If ``func`` cannot be called. By that function, if ``params`` has integers or
            something else than arrays.
        ValueError: By that function, if ``func`` returns more than one element.

    Example:
        >>> model = L.Linear(3, 1)
        >>> def loss(params, x, t):
        ...     y = chainer.functional_call(model, params, x[None])
        ...     return F.sum((y - t) ** 2)
        >>> x, t = np.ones((8, 3), np.float32), np.zeros((8, 1), np.float32)
        >>> gradients = chainer.per_sample_grad(loss, dict(model.namedparams()))(x, t)
        >>> gradients["/W"].shape
        (8, 1, 3)
    """
    check_callable("per_sample_grad", func)

    def of_sample(*sample: Any) -> Any:
        applied = Applied("per_sample_grad", lambda p: func(p, *sample), [params], has_aux=has_aux)
        is_differentiable = config.enable_backprop and applied.are_differentiable()
        found = applied.of_inputs(applied.gradient(is_differentiable))[0]
        return (found, applied.aux) if has_aux else found

    return vmap(of_sample, in_axes=in_axes)
