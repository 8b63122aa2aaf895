"""Base class of our distributions: parameters, points and random numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, Self, cast

import numpy

from chainer import functions as F
from chainer.core.arrays.backend import backend_of, is_array
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.config.dtype import get_dtype
from chainer.core.typing import Array, Shape, VariableLike
from chainer.core.utils.cache import cached_property
from chainer.distributions.distribution import Distribution

# As Any: to the checker, an instance of numpy.generic is "partially unknown".
_Scalar: Any = numpy.generic


class ParametricDistribution(Distribution):
    """A distribution whose batch shape is the shape to which its parameters broadcast.

    Args:
        parameters: The given parameters by name: Variables, arrays or numbers. They are converted
            when they are used.
    """

    #: Number of the last axes of parameters that belong to an event.
    _event_ndim: ClassVar[int] = 0

    def __init__(self, **parameters: VariableLike) -> None:
        self._given = parameters

    @property
    def batch_shape(self) -> Shape:
        return self._broadcast(lambda shape: shape[: len(shape) - self._event_ndim])

    @property
    def event_shape(self) -> Shape:
        if not self._event_ndim:
            return ()
        return self._broadcast(lambda shape: shape[-self._event_ndim :])

    def _broadcast(self, part: Callable[[Shape], Shape]) -> Shape:
        """Returns the shape to which a part of the shapes of all parameters broadcasts."""
        shapes = {name: _shape(value) for name, value in self._given.items()}
        try:
            return numpy.broadcast_shapes(*[part(shape) for shape in shapes.values()])
        except ValueError as error:
            given = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
            raise ValueError(
                f"the parameters of {type(self).__name__} must have shapes that broadcast, "
                f"got {given}"
            ) from error

    @property
    def params(self) -> dict[str, Variable]:
        return {name: getattr(self, name) for name in self._given}

    def __copy__(self) -> Self:
        return self._copy_to(type(self).__new__(type(self)))

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} batch_shape={self.batch_shape} "
            f"event_shape={self.event_shape} parameters={', '.join(self._given)}>"
        )

    # -- for subclasses ---------------------------------------------------------------------------

    def _parameter(self, name: str) -> Variable | None:
        """Returns a given parameter as a Variable; None if another one was given instead of it."""
        value = self._given.get(name)
        if value is None:
            return None
        if isinstance(value, (int, float, _Scalar)):
            value = numpy.asarray(value, get_dtype())
        return as_variable(value)

    @property
    def _first(self) -> Variable:
        """A parameter, whose dtype and device results have."""
        return next(iter(self.params.values()))

    def _point(self, x: VariableLike) -> Variable:
        """Returns values as a Variable; arrays and numbers get the dtype of the parameters."""
        return as_point(x, self._first)

    def _full(self, values: Variable) -> Variable:
        """Broadcasts a function of some parameters to the shape of all."""
        shape = self.batch_shape + self.event_shape
        return values if values.shape == shape else F.broadcast_to(values, shape)

    def _full_batch(self, values: Variable) -> Variable:
        """Broadcasts a function of some parameters, without axes of events, to the batch shape."""
        shape = self.batch_shape
        return values if values.shape == shape else F.broadcast_to(values, shape)

    def _draw(self, method: str, n: int, *parameters: Array, event_shape: Shape = ()) -> Array:
        """Draws numbers of shape ``(n,) + B + event_shape`` on the device of the parameters.

        Args:
            method: Name of a function of ``numpy.random``.
            n: Number of samples.
            parameters: Its arguments before ``size``.
            event_shape: Shape of the numbers for one value.
        """
        device = self._first.device
        with device:
            generator = device.backend.random(device)
            size = (n, *self.batch_shape, *event_shape)
            return getattr(generator, method)(*parameters, size=size)

    def _draw_floats(
        self, method: str, n: int, *parameters: Array, event_shape: Shape = ()
    ) -> Array:
        """Draws numbers in the dtype of the first parameter; see :meth:`_draw`."""
        # NumPy draws in float64, so that the numbers do not depend on the dtype.
        numbers = self._draw(method, n, *parameters, event_shape=event_shape)
        with self._first.device:
            return numbers.astype(self._first.dtype)


class LocationScale(ParametricDistribution):
    """A distribution of real numbers with a location and a scale.

    Args:
        loc: Location, of any shape.
        scale: Scale.
    """

    loc: Any
    scale: Any

    def __init__(self, loc: VariableLike, scale: VariableLike) -> None:
        super().__init__(loc=loc, scale=scale)

    @property
    def support(self) -> str:
        return "real"


class CenteredLocationScale(LocationScale):
    """A distribution whose mean and mode are its location."""

    @cached_property
    def mean(self) -> Variable:
        return self._full(self.loc)

    @cached_property
    def mode(self) -> Variable:
        return self._full(self.loc)


def parameter(name: str, doc: str) -> Any:
    """Returns the property of a parameter that must be given.

    Args:
        name: Its name.
        doc: Its description.
    """

    def get(self: ParametricDistribution) -> Variable:
        return cast("Variable", self._parameter(name))

    return _cached(get, name, doc)


def either(name: str, doc: str, otherwise: Callable[[Any], Variable]) -> Any:
    """Returns the property of a parameter instead of which another one may be given.

    Args:
        name: Its name.
        doc: Its description.
        otherwise: Computes it from the other parameters.
    """

    def get(self: ParametricDistribution) -> Variable:
        given = self._parameter(name)
        return otherwise(self) if given is None else given

    return _cached(get, name, doc)


def _cached(get: Callable[[Any], Variable], name: str, doc: str) -> Any:
    get.__name__ = name
    get.__doc__ = doc
    return cached_property(get)


def only_one(**values: VariableLike | None) -> dict[str, VariableLike]:
    """Returns the one argument of several that was given.

    Raises:
        ValueError: If none or more than one was given.
    """
    given = {name: value for name, value in values.items() if value is not None}
    if len(given) != 1:
        names = " or ".join(f"`{name}`" for name in values)
        raise ValueError(f"Either {names} (not both) must have a value.")
    return given


def as_point(x: VariableLike, like: Variable) -> Variable:
    """Returns values as a Variable.

    Args:
        x: A Variable, which is returned unchanged, an array, a number, or nested lists of numbers.
        like: Variable whose dtype, and device for numbers, the result has.
    """
    if isinstance(x, Variable):
        return x
    if not is_array(x):
        with like.device:
            x = like.xp.asarray(x, dtype=like.dtype)
    elif x.dtype != like.dtype:
        backend = backend_of(x)
        with backend.device_of(x):
            x = backend.to_xp(x).astype(like.dtype)
    return Variable(x, requires_grad=False)


def masked(x: Variable, mask: Array, value: float) -> Variable:
    """Returns ``x`` with a number where a mask is True; no gradient flows there.

    Args:
        x: Floating-point Variable.
        mask: Boolean array whose shape broadcasts with ``x``.
        value: The number.
    """
    with x.device:
        constant = x.xp.asarray(value, dtype=x.dtype)
    return F.where(mask, constant, x)


def mask_of(test: Callable[..., Array], *variables: Variable) -> Array:
    """Evaluates a comparison of arrays on their device.

    Args:
        test: Function of arrays that returns a boolean array.
        variables: Variables of the arrays.
    """
    with variables[0].device:
        # Comparisons of arrays without dimensions are scalars in NumPy.
        return variables[0].xp.asarray(test(*[variable.array for variable in variables]))


def log(x: Variable) -> Variable:
    """Computes the logarithm, with ``-inf`` for 0, without a warning."""
    with numpy.errstate(divide="ignore"):
        return F.log(x)


def xlogy(x: Variable, y: Variable) -> Variable:
    """Computes ``x * log(y)``, which is 0 where both are 0."""
    both = mask_of(lambda x, y: (x == 0) & (y == 0), x, y)
    return x * log(masked(y, both, 1.0))


def log_beta(a: Variable, b: Variable) -> Variable:
    """Computes the logarithm of the beta function."""
    return F.lgamma(a) + F.lgamma(b) - F.lgamma(a + b)


def _shape(value: VariableLike) -> Shape:
    return value.shape if hasattr(value, "shape") else numpy.shape(value)


#: Half the logarithm of 2 pi.
HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
