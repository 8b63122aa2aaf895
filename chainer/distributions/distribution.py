"""The base class of distributions, and functionals of two distributions."""

from __future__ import annotations

import copy
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from chainer.core.arguments import require_attribute
from chainer.core.arrays.backend import get_array_module
from chainer.core.autograd.variable import Variable
from chainer.core.typing import ArrayModule, Shape, VariableLike
from chainer.core.utils.documentation import SharedSections
from chainer.core.utils.repr_texts import read_or_none

_KL = TypeVar("_KL", bound=Callable[..., Variable])
_D = TypeVar("_D", bound="Distribution")


#: Sections shared by the docstrings of most methods of a distribution.
_of_values = SharedSections(
    """
    Args:
        x: $x, of shape ``$of``.

    Returns:
        Variable: $y, of shape ``$shape``.
    """,
    x="Values",
    of="S + B + E",
    shape="S + B",
)


class Distribution:
    """Base class of probability distributions.

    A distribution has a batch shape *B* (the shape of its parameters, one distribution for each
    element) and an event shape *E* (the shape of one value). For an array ``x`` of shape
    ``S + B + E``, densities and the like have the shape ``S + B``. Everything but shapes,
    ``support`` and ``params`` is a :class:`~chainer.Variable`, differentiable with respect to the
    parameters.

    A distribution has no device: it computes where its parameters are.

    The properties and methods here raise :class:`NotImplementedError`. Subclasses define the ones
    that they support, and ``sample_n`` for :meth:`sample`. They need not call
    ``__init__``.

    Example:
        >>> normal = chainer.distributions.Normal(np.zeros(3, 'f'), np.ones(3, 'f'))
        >>> normal.batch_shape, normal.event_shape
        ((3,), ())
        >>> normal.sample((5, 2)).shape
        (5, 2, 3)
        >>> normal.log_prob(np.zeros((5, 3), 'f')).shape
        (5, 3)
    """

    def _copy_to(self, target: _D) -> _D:
        """Gives ``target`` the attributes of this distribution, and returns it."""
        target.__dict__ = copy.copy(self.__dict__)
        return target

    def __repr__(self) -> str:
        # Of subclasses that need not have all of it.
        shapes = (
            f" {name}={shape}"
            for name in ("batch_shape", "event_shape")
            if (shape := read_or_none(lambda name=name: getattr(self, name))) is not None
        )
        return f"<{type(self).__name__}{''.join(shapes)}>"

    # -- shapes and parameters --------------------------------------------------------------------

    @property
    def batch_shape(self) -> Shape:
        """Shape of the batch of distributions."""
        raise NotImplementedError

    @property
    def event_shape(self) -> Shape:
        """Shape of one value; ``()`` for distributions of numbers."""
        raise NotImplementedError

    @property
    def params(self) -> dict[str, Variable]:
        """The parameters by name."""
        raise NotImplementedError

    @property
    def support(self) -> str:
        """Text that names the values that can occur, such as ``'positive'``."""
        raise NotImplementedError

    @property
    def xp(self) -> ArrayModule:
        """Array namespace of the parameters."""
        return get_array_module(*self.params.values())

    # -- properties -------------------------------------------------------------------------------

    @property
    def mean(self) -> Variable:
        """Mean, of shape ``B + E``."""
        raise NotImplementedError

    @property
    def mode(self) -> Variable:
        """Mode, of shape ``B + E``."""
        raise NotImplementedError

    @property
    def variance(self) -> Variable:
        """Variance of each element, of shape ``B + E``."""
        raise NotImplementedError

    @property
    def stddev(self) -> Variable:
        """Standard deviation of each element, of shape ``B + E``."""
        raise NotImplementedError

    @property
    def covariance(self) -> Variable:
        """Covariance matrix, of shape ``B + (d, d)`` where ``d`` is the number of elements of E."""
        raise NotImplementedError

    @property
    def entropy(self) -> Variable:
        """Entropy in nats, of shape ``B``."""
        raise NotImplementedError

    # -- functions --------------------------------------------------------------------------------

    @_of_values(y="Logarithms")
    def log_prob(self, x: VariableLike) -> Variable:
        """Computes the logarithm of the density or probability."""
        raise NotImplementedError

    @_of_values(y="Densities")
    def prob(self, x: VariableLike) -> Variable:
        """Computes the density or probability."""
        raise NotImplementedError

    @_of_values(y="Probabilities")
    def cdf(self, x: VariableLike) -> Variable:
        """Computes the cumulative distribution function."""
        raise NotImplementedError

    @_of_values(y="Logarithms")
    def log_cdf(self, x: VariableLike) -> Variable:
        """Computes the logarithm of the cumulative distribution function."""
        raise NotImplementedError

    @_of_values(x="Probabilities", of="S + B", y="Values", shape="S + B + E")
    def icdf(self, x: VariableLike) -> Variable:
        """Computes the inverse of the cumulative distribution function."""
        raise NotImplementedError

    @_of_values(y="Probabilities")
    def survival_function(self, x: VariableLike) -> Variable:
        """Computes the probability of values beyond ``x``."""
        raise NotImplementedError

    @_of_values(y="Logarithms")
    def log_survival_function(self, x: VariableLike) -> Variable:
        """Computes the logarithm of the probability of values beyond ``x``."""
        raise NotImplementedError

    @_of_values(y="Perplexities")
    def perplexity(self, x: VariableLike) -> Variable:
        """Computes the perplexity of values."""
        raise NotImplementedError

    # -- samples ----------------------------------------------------------------------------------

    def sample(self, sample_shape: int | Sequence[int] = ()) -> Variable:
        """Draws random values.

        Args:
            sample_shape (int or tuple of ints): Shape *S* of the values to draw.

        Returns:
            Variable: Values, of shape ``S + B + E``. The samples of some distributions are
            differentiable functions of their parameters (reparametrized).
        """
        shape = _as_shape(sample_shape)
        values = self.sample_n(math.prod(shape))
        return values.reshape(shape + self.batch_shape + self.event_shape)

    def sample_n(self, n: int) -> Variable:
        """Draws a number of random values; :meth:`sample` calls it.

        Args:
            n (int): The number of values.

        Returns:
            Variable: Values, of shape ``(n,) + B + E``.
        """
        raise NotImplementedError


def _as_shape(shape: int | Sequence[int]) -> Shape:
    if isinstance(shape, Sequence):
        return tuple(operator.index(length) for length in shape)
    return (operator.index(shape),)


#: Functions that compute the Kullback-Leibler divergence, by the classes of both distributions.
_KLDIVERGENCE: dict[tuple[type, type], Callable[..., Variable]] = {}


class UnregisteredPairError(KeyError):
    """Raised when no function for the divergence of two distributions is registered."""

    def __str__(self) -> str:
        first, second = cast("tuple[type, type]", self.args[0])
        return (
            f"no Kullback-Leibler divergence of {first.__name__} and {second.__name__} is "
            "registered; chainer.register_kl registers one"
        )


def register_kl(Dist1: type[Distribution], Dist2: type[Distribution]) -> Callable[[_KL], _KL]:
    """Decorator that registers a function for :func:`kl_divergence`.

    Args:
        Dist1 (type): Class of the first distribution.
        Dist2 (type): Class of the second distribution.

    Returns:
        Decorator of a function of two distributions that returns a Variable. A function that was
        registered for the pair before is replaced.

    Example:
        >>> class Point(chainer.Distribution):
        ...     def __init__(self, value):
        ...         super().__init__()
        ...         self.value = value
        >>> @chainer.register_kl(Point, chainer.distributions.Normal)
        ... def point_and_normal(dist1, dist2):
        ...     return -dist2.log_prob(dist1.value)
        >>> normal = chainer.distributions.Normal(np.float32(0), np.float32(1))
        >>> print(f"{float(chainer.kl_divergence(Point(np.float32(0)), normal).array):.3f}")
        0.919
    """

    def register(function: _KL) -> _KL:
        _KLDIVERGENCE[Dist1, Dist2] = function
        return function

    return register


def kl_divergence(dist1: Distribution, dist2: Distribution) -> Variable:
    r"""Computes the Kullback-Leibler divergence of two distributions.

    .. math::
        D_{KL}(p||q) = \int p(x) \log \frac{p(x)}{q(x)} dx

    Args:
        dist1 (Distribution): Distribution *p*.
        dist2 (Distribution): Distribution *q*.

    Returns:
        Variable: Divergence in nats, of the shape to which both batch shapes broadcast.

    Raises:
        KeyError: If no function is registered for the classes of the distributions or for base
            classes of them.

    Example:
        >>> p = chainer.distributions.Normal(np.zeros(2), np.ones(2))
        >>> q = chainer.distributions.Normal(np.ones(2), np.ones(2))
        >>> chainer.kl_divergence(p, q)
        variable([0.5, 0.5])
    """
    classes = type(dist1), type(dist2)
    for first in classes[0].__mro__:
        for second in classes[1].__mro__:
            function = _KLDIVERGENCE.get((first, second))
            if function is not None:
                return function(dist1, dist2)
    raise UnregisteredPairError(classes)


def cross_entropy(dist1: Distribution, dist2: Distribution) -> Variable:
    r"""Computes the cross entropy of two distributions.

    .. math::
        H(p, q) = - \int p(x) \log q(x) dx = H(p) + D_{KL}(p||q)

    Args:
        dist1 (Distribution): Distribution *p*, whose entropy is defined.
        dist2 (Distribution): Distribution *q*.

    Returns:
        Variable: Cross entropy in nats, of the shape to which both batch shapes broadcast.

    Example:
        >>> from chainer.distributions import Normal
        >>> p, q = Normal(np.float32(0), np.float32(1)), Normal(np.float32(1), np.float32(1))
        >>> print(f"{float(chainer.cross_entropy(p, q).array):.3f}, {float(p.entropy.array):.3f}")
        1.919, 1.419
    """
    require_attribute("dist1", dist1, "entropy", "a Distribution")
    # A class of a user may have made the entropy a method.
    entropy: Any = dist1.entropy
    return (entropy() if callable(entropy) else entropy) + kl_divergence(dist1, dist2)
