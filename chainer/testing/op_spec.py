"""Rows of the table that the conformance suite runs: what a function computes, and on which inputs.

To add a function to the table put a row into ``specs/<category>.py`` (the category is the directory
of the function under ``chainer/functions``)::

    OpSpec(
        "softplus",                                        # name of the function, or of the row
        reference=lambda x, beta=1.0: np.log1p(np.exp(beta * x)) / beta,
        samples=lambda draw: [
            Sample(draw((2, 3))),
            Sample(draw((2, 3)), beta=2.0),
            Sample(draw(()), kind="zero-dim"),
            Sample(draw((0, 3)), kind="empty"),
        ],
        errors=lambda draw: [
            ErrorInput(np.arange(3), error=InvalidType, match=r"in_types\\[0\\].dtype.kind == f"),
        ],
    )

- ``reference`` is an independent formula in NumPy or SciPy. It gets the same positional arrays as
  float64 (integer and boolean arrays unchanged) and the same keywords. Write it as the
  documentation says it, not as the kernel does it. First and second gradients are compared with
  finite differences of the reference.
- ``draw(shape)`` gives float64 values uniform in [-1, 1); ``draw.positive``, ``draw.integers``,
  ``draw.distinct`` (for maxima) and ``draw.away_from`` (for kinks) give others. The suite converts
  floating-point arrays, also those among the keywords, to the dtype under test, gives them the
  layout under test, and moves everything to the device under test.
- A function that takes lists, or is a method, gets an adapter: ``call=lambda F, *xs, axis=1:
  F.concat(xs, axis=axis)``. The adapter and the reference may return any nesting of lists and
  tuples.
- A function that draws random numbers gets a mask as a keyword, or ``reference=None``: then it is
  compared with itself in float64 with the same seed.
- ``gradient_order`` is 0 for functions that are not differentiable and 1 for those without double
  backprop.

Then run ``pytest tests/conformance -k softplus``, or for a table of your own
``pytest --pyargs chainer.testing.conformance --chainer-specs my_package.specs:SPECS``.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy

from chainer.core.registry import registries
from chainer.core.typing import ArrayTree, DTypeLike, VariableLike

#: Kinds of inputs: ordinary arrays, arrays without elements, arrays without dimensions.
Kind = Literal["regular", "empty", "zero-dim"]

_Pair = tuple[float, float]
# As Any: to the checker what is an instance of numpy.ndarray is "partially unknown".
_Array: Any = numpy.ndarray


@dataclass(frozen=True)
class Tolerance:
    """Accepted errors, each as ``(atol, rtol)``.

    Attributes:
        forward: Of the outputs.
        backward: Of the gradients, along a direction of unit length.
        double: Of the gradients of gradients, along a direction of unit length.

    Example:
        >>> from chainer import testing
        >>> tolerance = testing.Tolerance(
        ...     forward=(1e-6, 1e-6), backward=(1e-4, 1e-4), double=(1e-3, 1e-3)
        ... )
        >>> tolerance.forward
        (1e-06, 1e-06)
    """

    forward: _Pair
    backward: _Pair
    double: _Pair


TOLERANCES: dict[str, Tolerance] = {
    "float16": Tolerance((5e-3, 1e-2), (3e-2, 5e-2), (1e-1, 1e-1)),
    "float32": Tolerance((1e-5, 1e-4), (1e-4, 1e-3), (1e-3, 5e-3)),
    "float64": Tolerance((1e-9, 1e-7), (1e-7, 1e-5), (1e-5, 1e-4)),
}
"""Tolerances of a row that does not set its own."""


class Sample:
    """Valid inputs of a function.

    Args:
        arrays: Positional arrays: floating-point ones are converted to the dtype under test, others
            stay.
        kind: ``'regular'``, ``'empty'`` or ``'zero-dim'``.
        label: Text that tells the sample in reports; the keywords by default.
        skip_grad: Indexes of floating-point inputs that get no gradient.
        kwargs: Keywords for the function and its reference; arrays are treated like positional
            ones, but get no gradient, and each call gets copies.

    Example:
        >>> from chainer import testing
        >>> sample = testing.Sample(np.ones((2, 3)), axis=1)
        >>> len(sample.arrays), sample.kwargs
        (1, {'axis': 1})
    """

    def __init__(
        self,
        *arrays: ArrayTree,
        kind: Kind = "regular",
        label: str | None = None,
        skip_grad: Sequence[int] = (),
        **kwargs: Any,
    ) -> None:
        self.arrays = tuple(numpy.asarray(array) for array in arrays)
        self.kind: Kind = kind
        self.skip_grad = tuple(skip_grad)
        self.kwargs = kwargs
        self.label = _describe(self.arrays, kwargs) if label is None else label

    def __repr__(self) -> str:
        return f"Sample({self.label})"


class ErrorInput:
    """Inputs a function must refuse.

    Args:
        arrays: Positional arrays, passed as they are (moved to the device under test).
        error: Class of the expected exception.
        match: Regular expression that must be found in its text.
        debug: Whether it is refused in debug mode only, because devices that compute
            asynchronously would have to wait for a result to tell.
        kwargs: Keywords for the function.

    Example:
        >>> from chainer import testing
        >>> wrong = testing.ErrorInput(np.zeros(3), axes=(0, 0), error=ValueError, match="axes")
        >>> wrong.error.__name__, wrong.match
        ('ValueError', 'axes')
    """

    def __init__(
        self,
        *arrays: ArrayTree,
        error: type[Exception],
        match: str,
        debug: bool = False,
        **kwargs: Any,
    ) -> None:
        self.arrays = arrays
        self.error = error
        self.match = match
        self.debug = debug
        self.kwargs = kwargs

    def __repr__(self) -> str:
        return f"ErrorInput({_describe(self.arrays, self.kwargs)})"


def _describe(arrays: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    parts = [
        f"{array.dtype}{list(array.shape)}" if isinstance(array, _Array) else repr(array)
        for array in arrays
    ]
    parts += [
        f"{name}={list(value.shape) if isinstance(value, _Array) else value!r}"
        for name, value in kwargs.items()
    ]
    return ", ".join(parts)


class Draw:
    """Random inputs; the same ones in every run.

    Args:
        seed: Seed of the generator.
    """

    def __init__(self, seed: int) -> None:
        self.generator = numpy.random.default_rng(seed)

    def __call__(self, shape: Sequence[int], low: float = -1.0, high: float = 1.0) -> Any:
        """Returns float64 values, uniform in ``[low, high)``.

        Args:
            shape: Shape.
            low: Lower bound.
            high: Upper bound.
        """
        return numpy.asarray(self.generator.uniform(low, high, tuple(shape)))

    def positive(self, shape: Sequence[int], low: float = 0.2, high: float = 2.0) -> Any:
        """Returns float64 values, uniform between two positive bounds.

        Args:
            shape: Shape.
            low: Lower bound.
            high: Upper bound.
        """
        return self(shape, low, high)

    def integers(
        self, shape: Sequence[int], low: int, high: int, dtype: DTypeLike = numpy.int32
    ) -> Any:
        """Returns integers in ``[low, high)``.

        Args:
            shape: Shape.
            low: Lower bound.
            high: Upper bound, excluded.
            dtype: Integer dtype.
        """
        return numpy.asarray(self.generator.integers(low, high, tuple(shape)), dtype)

    def booleans(self, shape: Sequence[int]) -> Any:
        """Returns truth values.

        Args:
            shape: Shape.
        """
        return self.integers(shape, 0, 2).astype(bool)

    def distinct(self, shape: Sequence[int], step: float = 0.05) -> Any:
        """Returns values no two of which are closer than half of ``step``, in random order.

        Maxima, minima and sorting are differentiable there, in float16 too.

        Args:
            shape: Shape.
            step: Mean distance of adjacent values.
        """
        size = int(numpy.prod(shape))
        values = (numpy.arange(size) - size / 2 + self.generator.uniform(-0.25, 0.25, size)) * step
        return self.generator.permutation(values).reshape(tuple(shape))

    def away_from(
        self,
        shape: Sequence[int],
        points: Sequence[float] = (0.0,),
        margin: float = 0.1,
        low: float = -1.0,
        high: float = 1.0,
    ) -> Any:
        """Returns values at some distance from the points where a function has a kink or a jump.

        Args:
            shape: Shape.
            points: The points.
            margin: Least distance.
            low: Lower bound.
            high: Upper bound.
        """
        values = numpy.array(self(shape, low, high))
        while True:
            near = numpy.zeros(values.shape, bool)
            for point in points:
                near |= numpy.abs(values - point) < margin
            if not near.any():
                return values
            values[near] = self.generator.uniform(low, high, int(near.sum()))


@dataclass(frozen=True)
class OpSpec:
    """Description of a function: how to call it, its formula, inputs, limits.

    Attributes:
        name: Name of the row; the name of the function in ``chainer.functions`` unless ``call`` is
            given.
        reference: Formula on NumPy arrays, or None (see the description of this module).
        samples: Function of a :class:`Draw` that returns the valid inputs.
        errors: Function of a :class:`Draw` that returns inputs to be refused.
        call: Adapter ``call(F, *variables, **kwargs)``; by default ``F.<name>(*variables,
            **kwargs)``.
        covers: Names in ``chainer.functions`` the row is about; by default ``name``.
        dtypes: Names of the floating-point dtypes to test.
        tolerances: Tolerances other than :data:`TOLERANCES`, by dtype.
        gradient_order: How often the function can be differentiated, up to 2.
        output_dtype: Dtype of floating-point outputs; None if they have the dtype of the inputs.
        constant_outputs: Indexes of floating-point outputs that have no gradient, such as running
            statistics. An adapter may return plain arrays for them.
        train: Value of ``chainer.config.train`` during the calls.
        requires: Names of capabilities that the function needs besides the dtype and its own name
            (:data:`chainer.backend.CAPABILITIES`).

    Example:
        >>> from chainer import testing
        >>> spec = testing.OpSpec(
        ...     "square",
        ...     reference=lambda x: x**2,
        ...     samples=lambda draw: [testing.Sample(draw((2, 3))), testing.Sample(draw((0, 3)))],
        ... )
        >>> spec.reference(np.array([3.0]))
        array([9.])
    """

    name: str
    reference: Callable[..., Any] | None
    samples: Callable[[Draw], Iterable[Sample]]
    errors: Callable[[Draw], Iterable[ErrorInput]] | None = None
    call: Callable[..., Any] | None = None
    covers: tuple[str, ...] | None = None
    dtypes: tuple[str, ...] = ("float16", "float32", "float64")
    tolerances: Mapping[str, Tolerance] = field(default_factory=dict[str, Tolerance])
    gradient_order: int = 2
    output_dtype: str | None = None
    constant_outputs: tuple[int, ...] = ()
    train: bool = True
    requires: tuple[str, ...] = ()

    @property
    def functions(self) -> tuple[str, ...]:
        """Names in ``chainer.functions`` the row is about."""
        if self.covers is not None:
            return self.covers
        return (self.name,) if self.call is None else ()

    def requirements(self, dtype: str | None = None) -> tuple[str, ...]:
        """Returns the names of the capabilities that the row needs.

        Args:
            dtype: Name of the dtype under test; None for none, as for refusals of bad inputs.
        """
        names = [f"F.{name}" for name in dict.fromkeys((self.name, *self.functions))]
        if dtype is not None:
            # Without a formula, results are compared with the results of the function in float64.
            of_reference = ("float64",) if self.reference is None else ()
            names = [dtype, *of_reference, *names, *(f"{name}:{dtype}" for name in names)]
        return (*self.requires, *names)

    def tolerance(self, dtype: str) -> Tolerance:
        """Returns the tolerances for a dtype.

        Args:
            dtype: Name of the dtype.
        """
        return self.tolerances.get(dtype, TOLERANCES[dtype])

    def draw(self) -> Draw:
        """Returns the source of random inputs of this row."""
        return Draw(zlib.crc32(self.name.encode()))

    def apply(self, *arguments: VariableLike, **kwargs: Any) -> Any:
        """Calls the function.

        Args:
            arguments: Variables or arrays.
            kwargs: Keywords.
        """
        if self.call is None:
            return registries.functions.get(self.name)(*arguments, **kwargs)
        return self.call(FunctionNamespace, *arguments, **kwargs)


class _FunctionNamespace:
    """``F`` of the adapters: the functions of all packs, by name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return registries.functions.get(name)


FunctionNamespace = _FunctionNamespace()
"""The object that adapters get as ``F``."""
