"""Batched Variables: what :func:`chainer.vmap` gives to the function that it maps.

The function sees a Variable of the shape of one sample. Its array is a :class:`BatchedArray`, which
refers to the Variable of all samples, with one axis more in front. Each function node applies its
rule :meth:`~chainer.FunctionNode.batched` to the Variables of all samples, so that the graph
consists of ordinary nodes. A value that the function reads from the array would be another one for
each sample, so reading it raises :class:`BatchingError`, and ``vmap`` runs a loop instead.
"""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn

from chainer.core.arrays.lookup import add_private_backend, backend_of
from chainer.core.arrays.protocol import Backend
from chainer.core.autograd.applied_again import applied_again
from chainer.core.autograd.input_types import check_types
from chainer.core.autograd.variable import Variable
from chainer.core.registry import registries

if TYPE_CHECKING:
    from chainer.core.arrays.device import Device
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.typing import Array, Arrays, DType, Shape, VariableLike, Variables


class BatchingError(Exception):
    """A function reads values that differ from sample to sample, so it needs a loop."""


class Levels(threading.local):
    """The calls of ``vmap`` that are running in a thread, the innermost last."""

    def __init__(self) -> None:
        self.active: list[Level] = []


LEVELS = Levels()


class Level:
    """One running call of ``vmap``.

    Args:
        size: Number of samples.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.depth = 0

    def __enter__(self) -> Level:
        self.depth = len(LEVELS.active) + 1
        LEVELS.active.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        LEVELS.active.remove(self)
        self.depth = 0

    def wrap(self, variable: Variable) -> Variable:
        """Returns the Variable of one sample of a Variable whose first axis is the samples."""
        array = _class_for(backend_of(variable._array))(self, variable)
        return Variable._from_array(array, variable._requires_grad)

    def expand(self, variable: Variable) -> Variable:
        """Returns the Variable of all samples, the same for each unless it is batched here."""
        array = variable._array
        if isinstance(array, BatchedArray) and array.level is self:
            return array.variable
        broadcast_to: Any = registries.functions.get("broadcast_to")
        return broadcast_to(variable, (self.size, *variable.shape))


def lowered(variable: Variable) -> Variable:
    """Returns a Variable with one axis in front for each running call of ``vmap``.

    Args:
        variable: A Variable as the mapped function has it.
    """
    for level in reversed(LEVELS.active):
        variable = level.expand(variable)
    return variable


def raised(variable: Variable) -> Variable:
    """The opposite of :func:`lowered`.

    Args:
        variable: A Variable with axes of samples in front.
    """
    for level in LEVELS.active:
        variable = level.wrap(variable)
    return variable


@contextmanager
def on_all_samples() -> Generator[None]:
    """A part of the code that computes with results of :func:`lowered` only.

    For it no call of ``vmap`` is running, and a call of its own is the first one.
    """
    active, LEVELS.active = LEVELS.active, []
    try:
        yield
    finally:
        LEVELS.active = active


def array_of_samples(variable: Variable) -> Array:
    """Returns the array of a Variable; the one of all samples if it is batched.

    Args:
        variable: Any Variable.
    """
    while isinstance(variable._array, BatchedArray):
        variable = variable._array.variable
    return variable._array


def is_batched(variable: object) -> bool:
    """Returns whether an object is a batched Variable.

    Args:
        variable: Any object.
    """
    return isinstance(variable, Variable) and isinstance(variable._array, BatchedArray)


class BatchedArray:
    """The array of a batched Variable: it has a shape and a dtype, but no values.

    Args:
        level: The call of ``vmap``.
        variable: The Variable of all samples.
    """

    __slots__ = ("level", "variable")
    __hash__ = object.__hash__

    def __init__(self, level: Level, variable: Variable) -> None:
        self.level = level
        self.variable = variable

    @property
    def shape(self) -> Shape:
        """Shape of one sample."""
        return self.variable.shape[1:]

    @property
    def dtype(self) -> DType:
        """Data type."""
        return self.variable.dtype

    @property
    def ndim(self) -> int:
        """Number of axes of one sample."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements of one sample."""
        return prod(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getattr__(self, name: str) -> NoReturn:
        _refuse(name)


def need_values(*arrays: object) -> None:
    """Ends a call for all samples at once if values of a batched array are needed.

    NumPy's functions ask a batched array, which refuses. Functions of other libraries raise errors
    of their own. So a function that computes with arrays outside of nodes calls this before.

    Args:
        arrays: The arrays.

    Raises:
        BatchingError: If one of them is batched. :func:`chainer.vmap` then calls the function for
            each sample.
    """
    for array in arrays:
        if isinstance(array, BatchedArray):
            _refuse("values")


def _refuse(name: str) -> NoReturn:
    raise BatchingError(f"{name} of a batched array was read")


def _refusing(name: str) -> Callable[..., NoReturn]:
    def method(self: object, *args: object, **kwargs: object) -> NoReturn:
        _refuse(name)

    return method


#: Methods that Python and NumPy look up on the class. Each of them reads values.
_READS_VALUES = (
    *("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow", "rpow"),
    *("floordiv", "rfloordiv", "mod", "rmod", "matmul", "rmatmul", "neg", "abs", "invert"),
    *("and", "rand", "or", "ror", "xor", "rxor", "lt", "le", "gt", "ge", "eq", "ne"),
    *("bool", "int", "float", "index", "iter", "getitem", "setitem", "contains"),
    *("array", "array_ufunc", "array_function"),
)
for _name in _READS_VALUES:
    setattr(BatchedArray, f"__{_name}__", _refusing(f"__{_name}__"))


class _BatchedBackend(Backend):
    """Backend of batched arrays: what functions ask for before they are applied.

    Args:
        physical: Backend of the arrays of all samples.
    """

    name = "batched"
    array_types = ()

    def __init__(self, physical: Backend) -> None:
        self._physical = physical
        # Gradients of samples belong to arrays of the backend.
        self.family = physical.family  # type: ignore[misc]

    @property
    def xp(self) -> Any:
        """The array namespace of the samples."""
        return self._physical.xp

    def device(self, index: int | None = None) -> Device:
        """Returns a device of the samples."""
        return self._physical.device(index)

    def device_of(self, array: Array) -> Device:
        """Returns the device of the samples."""
        inner: Any = array.variable._array
        return backend_of(inner).device_of(inner)

    def from_host(self, array: Array, device: Device) -> Array:
        """Returns an array that is the same for each sample."""
        return self._physical.from_host(array, device)

    def to_host(self, array: Array) -> Array:
        """Raises: the values differ from sample to sample."""
        _refuse("values")


#: Classes of batched arrays by the id of their backend; empty until the first call of ``vmap``.
CLASSES: dict[int, type[BatchedArray]] = {}


def _class_for(backend: Backend) -> type[BatchedArray]:
    """Returns the class of batched arrays of a backend: backends are found by class."""
    if isinstance(backend, _BatchedBackend):
        backend = backend._physical
    found = CLASSES.get(id(backend))
    if found is None:
        found = type("BatchedArray", (BatchedArray,), {"__slots__": ()})
        # The backend object lives as long as the class, so its id is not used again.
        add_private_backend(found, _BatchedBackend(backend))
        CLASSES[id(backend)] = found
    return found


def apply_batched(
    function: FunctionNode, inputs: Sequence[VariableLike], in_data: Arrays
) -> Variables | None:
    """Applies a function to inputs of which some are batched; returns None if none is.

    Args:
        function: The function.
        inputs: Its inputs, Variables or arrays.
        in_data: Their arrays.
    """
    levels = [array.level for array in in_data if isinstance(array, BatchedArray)]
    if not levels:
        return None
    level = max(levels, key=lambda each: each.depth)
    if not level.depth:
        raise RuntimeError(
            f"an input of {function.label} is a Variable of a chainer.vmap that has ended: return "
            "it from the mapped function instead of storing it"
        )
    if function._traits.checks_types:
        check_types(function, in_data)
    taken: list[Variable] = []
    flags: list[bool] = []
    for x, array in zip(inputs, in_data, strict=True):
        is_here = isinstance(array, BatchedArray) and array.level is level
        flags.append(is_here)
        if is_here:
            taken.append(array.variable)
        else:
            taken.append(x if isinstance(x, Variable) else Variable(array, requires_grad=False))
    # As apply() sets it, which the function may not reach.
    function.xp = taken[flags.index(True)].xp
    active = LEVELS.active
    # The rule computes with the Variables of all samples, so this call of vmap and those in it are
    # not running for the rule.
    LEVELS.active = active[: active.index(level)]
    try:
        outputs = function.batched(tuple(taken), tuple(flags), level.size)
        if outputs is None:
            outputs = in_a_loop(function, taken, flags, level.size)
    finally:
        LEVELS.active = active
    return tuple([level.wrap(y) for y in outputs])


def in_a_loop(
    function: FunctionNode, inputs: Sequence[Variable], are_batched: Sequence[bool], size: int
) -> Variables:
    """Applies copies of a function to one sample after the other.

    Args:
        function: The function.
        inputs: Its inputs, of all samples.
        are_batched: Which inputs have an axis of samples in front.
        size: Number of samples.
    """
    if not size:
        raise BatchingError(f"{function.label} has no batching rule for an empty batch")
    stack: Any = registries.functions.get("stack")
    rows: list[Variables] = []
    for i in range(size):
        sample = [x[i] if b else x for x, b in zip(inputs, are_batched, strict=True)]
        rows.append(applied_again(function, sample))
    return tuple([stack(column) for column in zip(*rows, strict=True)])


def batched_by_default(
    function: FunctionNode, inputs: Variables, are_batched: tuple[bool, ...], size: int
) -> Variables | None:
    """The default of :meth:`FunctionNode.batched`.

    Args:
        function: The function, which was not applied yet.
        inputs: Its inputs, of all samples.
        are_batched: Which inputs have an axis of samples in front.
        size: Number of samples.
    """
    if function.is_elementwise or function.is_pointwise:
        shapes = [x.shape[1:] if b else x.shape for x, b in zip(inputs, are_batched, strict=True)]
        if len(set(shapes)) == 1:
            return function.apply(_with_samples(inputs, are_batched, size))
    folded = function.batch_inputs
    moving = tuple([i for i, is_here in enumerate(are_batched) if is_here])
    if folded and set(moving) <= set(folded):
        return _folded(function, inputs, are_batched, size)
    return None


def _with_samples(inputs: Variables, are_batched: Sequence[bool], size: int) -> Variables:
    broadcast_to: Any = registries.functions.get("broadcast_to")
    return tuple(
        [
            x if is_here else broadcast_to(x, (size, *x.shape))
            for x, is_here in zip(inputs, are_batched, strict=True)
        ]
    )


def _folded(
    function: FunctionNode, inputs: Variables, are_batched: Sequence[bool], size: int
) -> Variables:
    """Applies a function once to a batch of batches."""
    reshape: Any = registries.functions.get("reshape")
    wanted = function.batch_inputs
    all_of = [b or i not in wanted for i, b in enumerate(are_batched)]
    taken = list(_with_samples(inputs, all_of, size))
    length = 0
    for i in wanted:
        if i < len(taken):
            x = taken[i]
            length = x.shape[1]
            taken[i] = reshape(x, (size * length, *x.shape[2:]))
    outputs = function.apply(tuple(taken))
    return tuple([reshape(y, (size, length, *y.shape[1:])) for y in outputs])
