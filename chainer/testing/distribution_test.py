"""Test cases of probability distributions against SciPy."""

from __future__ import annotations

import unittest
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy

from chainer.core.arrays.backend import get_device
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, Shape
from chainer.testing import attr
from chainer.testing.array import assert_allclose, to_host

#: Target -> method of SciPy's distribution, or a pair: for continuous and for discrete ones.
_SCIPY_METHODS: dict[str, str | tuple[str, str]] = {
    "cdf": "cdf",
    "entropy": "entropy",
    "icdf": "ppf",
    "log_cdf": "logcdf",
    "log_prob": ("logpdf", "logpmf"),
    "log_survival": "logsf",
    "mean": "mean",
    "prob": ("pdf", "pmf"),
    "stddev": "std",
    "survival": "sf",
    "variance": "var",
}

#: Target -> name in Chainer, where it is another one.
_OWN_NAMES = {"log_survival": "log_survival_function", "survival": "survival_function"}

_PROPERTIES = frozenset({"entropy", "mean", "stddev", "variance"})
_TARGETS = frozenset({*_SCIPY_METHODS, "batch_shape", "event_shape", "sample", "support"})

#: Targets that honor ``scipy_onebyone``: SciPy's multivariate distributions take one set of
#: parameters at a time.
_ONE_BY_ONE = frozenset({"entropy", "log_prob", "mean", "sample", "variance"})

#: Number of samples whose mean and standard deviation are compared.
_SAMPLES = 100000


class distribution_unittest(unittest.TestCase):
    """Base class of test cases of distributions.

    A subclass defines ``setUp_configure(self)``, which sets

    - ``self.dist``: the class of the distribution;
    - ``self.scipy_dist``: SciPy's distribution, such as ``scipy.stats.norm``;
    - ``self.params``: dictionary of the arrays that ``dist`` takes;
    - ``self.scipy_params``: dictionary of the arguments of SciPy's methods;
    - ``self.test_targets``: set of what is tested: ``batch_shape``, ``cdf``, ``entropy``,
      ``event_shape``, ``icdf``, ``log_cdf``, ``log_prob``, ``log_survival``, ``mean``, ``prob``,
      ``sample``, ``stddev``, ``support``, ``survival``, ``variance``;
    - if they differ from the defaults: ``self.support`` (``'real'``), ``self.continuous`` (True),
      ``self.event_shape`` (``()``), ``self.options`` (further arguments of ``dist``).

    and has the attributes ``shape`` (batch shape), ``is_variable`` (whether the parameters are
    Variables) and ``sample_shape``, usually by :func:`~chainer.testing.parameterize`. It may
    define ``sample_for_test(self)``, which returns the points at which densities are compared, an
    array of shape ``sample_shape + shape + event_shape``.

    Each target is tested on the CPU and (marked ``gpu``) on the GPU; tests of other targets are
    skipped.

    Attributes:
        scipy_onebyone (bool): Whether SciPy's methods take the parameters of one element of the
            batch at a time.

    Example:
        >>> from scipy import stats
        >>> from chainer import testing
        >>> class TestNormal(testing.distribution_unittest):
        ...     scipy_onebyone = True
        ...     def setUp_configure(self):
        ...         self.dist, self.scipy_dist = chainer.distributions.Normal, stats.norm
        ...         self.test_targets = {"log_prob", "mean"}
        ...         loc = np.random.uniform(-1, 1, self.shape).astype(np.float32)
        ...         scale = np.random.uniform(1, 2, self.shape).astype(np.float32)
        ...         self.params = {"loc": loc, "scale": scale}
        ...         self.scipy_params = {"loc": loc, "scale": scale}
    """

    scipy_onebyone: ClassVar[bool] = False

    dist: Any
    scipy_dist: Any
    params: dict[str, Any]
    scipy_params: dict[str, Any]
    test_targets: set[str]
    shape: Shape
    sample_shape: Shape
    is_variable: bool
    event_shape: Shape = ()

    def setUp(self) -> None:
        """Sets the defaults, calls ``setUp_configure`` and checks its result."""
        self.support = "real"
        self.continuous = True
        self.test_targets = set()
        self.options: dict[str, Any] = {}
        self.setUp_configure()
        unknown = set(self.test_targets) - _TARGETS
        if unknown:
            raise ValueError(
                f"test_targets must be among {sorted(_TARGETS)}, got {sorted(unknown)}"
            )
        if self.is_variable:
            self.params = {name: Variable(value) for name, value in self.params.items()}

    def setUp_configure(self) -> None:
        """Sets the distribution, its parameters and what is tested."""
        raise NotImplementedError("setUp_configure() is not implemented.")

    def sample_for_test(self) -> Array:
        """Returns points at which densities are compared; standard normal numbers by default."""
        shape = self.sample_shape + self.shape + self.event_shape
        return numpy.asarray(numpy.random.normal(size=shape), numpy.float32)

    # -- distributions ----------------------------------------------------------------------------

    @property
    def cpu_dist(self) -> Any:
        """The distribution with parameters in host memory."""
        return self.dist(**self.params, **self.options)

    @property
    def gpu_dist(self) -> Any:
        """The distribution with parameters on the GPU."""
        device = get_device("@cupy:0")
        moved = {
            name: Variable(device.send(value.array))
            if isinstance(value, Variable)
            else device.send(value)
            for name, value in self.params.items()
        }
        return self.dist(**moved, **self.options)

    def _dist(self, is_gpu: bool) -> Any:
        return self.gpu_dist if is_gpu else self.cpu_dist

    def _scipy_name(self, target: str) -> str:
        names = _SCIPY_METHODS[target]
        return names if isinstance(names, str) else names[0 if self.continuous else 1]

    def _scipy(self, target: str, *points: Array) -> Array:
        """Returns SciPy's values, with parameters for the whole batch or element by element."""
        method = getattr(self.scipy_dist, self._scipy_name(target))
        if not (self.scipy_onebyone and target in _ONE_BY_ONE):
            return method(*points, **self.scipy_params)
        # For points: one value for each sample and element of the batch.
        values = [
            method(*[point[(..., *index, *_all(self.event_shape))] for point in points], **params)
            for index, params in zip(
                numpy.ndindex(*self.shape), self.scipy_onebyone_params_iter(), strict=True
            )
        ]
        own_shape = numpy.shape(values[0]) if values else ()
        if points:
            # The shape is one argument: it is () for a single element.
            return numpy.stack(values, axis=-1).reshape((*self.sample_shape, *self.shape))
        return numpy.reshape(values, (*self.shape, *own_shape))

    def scipy_onebyone_params_iter(self) -> Iterator[dict[str, Any]]:
        """Yields SciPy's parameters of each element of the batch."""
        for index in numpy.ndindex(*self.shape):
            yield {name: value[index] for name, value in self.scipy_params.items()}

    # -- checks -----------------------------------------------------------------------------------

    def _check_values(self, target: str, is_gpu: bool, *points: Array) -> None:
        found = getattr(self._dist(is_gpu), _OWN_NAMES.get(target, target))
        if target not in _PROPERTIES:
            found = found(*[get_device("@cupy:0").send(p) if is_gpu else p for p in points])
        assert_allclose(to_host(found), self._scipy(target, *points))

    def check_cdf(self, is_gpu: bool) -> None:
        """Compares the cumulative distribution function."""
        self._check_values("cdf", is_gpu, self.sample_for_test())

    def check_entropy(self, is_gpu: bool) -> None:
        """Compares the entropy."""
        self._check_values("entropy", is_gpu)

    def check_icdf(self, is_gpu: bool) -> None:
        """Compares the inverse of the cumulative distribution function."""
        # 0 and 1 are left out: there the inverse is infinite for many distributions.
        shape = self.sample_shape + self.shape
        points = numpy.asarray(numpy.random.uniform(1e-5, 1 - 1e-5, shape), numpy.float32)
        self._check_values("icdf", is_gpu, points)

    def check_log_cdf(self, is_gpu: bool) -> None:
        """Compares the logarithm of the cumulative distribution function."""
        self._check_values("log_cdf", is_gpu, self.sample_for_test())

    def check_log_prob(self, is_gpu: bool) -> None:
        """Compares the logarithm of the density."""
        self._check_values("log_prob", is_gpu, self.sample_for_test())

    def check_log_survival(self, is_gpu: bool) -> None:
        """Compares the logarithm of the survival function."""
        self._check_values("log_survival", is_gpu, self.sample_for_test())

    def check_mean(self, is_gpu: bool) -> None:
        """Compares the mean."""
        self._check_values("mean", is_gpu)

    def check_prob(self, is_gpu: bool) -> None:
        """Compares the density."""
        self._check_values("prob", is_gpu, self.sample_for_test())

    def check_stddev(self, is_gpu: bool) -> None:
        """Compares the standard deviation."""
        self._check_values("stddev", is_gpu)

    def check_survival(self, is_gpu: bool) -> None:
        """Compares the survival function."""
        self._check_values("survival", is_gpu, self.sample_for_test())

    def check_variance(self, is_gpu: bool) -> None:
        """Compares the variance."""
        self._check_values("variance", is_gpu)

    def check_batch_shape(self, is_gpu: bool) -> None:
        """Compares the batch shape."""
        assert self._dist(is_gpu).batch_shape == self.shape

    def check_event_shape(self, is_gpu: bool) -> None:
        """Compares the event shape."""
        assert self._dist(is_gpu).event_shape == self.event_shape

    def check_support(self, is_gpu: bool) -> None:
        """Compares the support."""
        assert self._dist(is_gpu).support == self.support

    def check_sample(self, is_gpu: bool) -> None:
        """Compares mean and standard deviation of samples with SciPy's samples."""
        found = to_host(self._dist(is_gpu).sample(sample_shape=(_SAMPLES, *self.sample_shape)))
        size = (_SAMPLES, *self.sample_shape, *self.shape)
        if self.scipy_onebyone:
            own = [
                self.scipy_dist.rvs(size=(_SAMPLES, *self.sample_shape), **params)
                for params in self.scipy_onebyone_params_iter()
            ]
            axis = 1 + len(self.sample_shape)
            expected = numpy.stack(own, axis=axis).reshape(*size, *self.event_shape)
        else:
            expected = self.scipy_dist.rvs(size=(*size, *self.event_shape), **self.scipy_params)
        assert found.shape == expected.shape
        for moment in (numpy.mean, numpy.std):
            assert_allclose(moment(found, axis=0), moment(expected, axis=0), atol=3e-2, rtol=3e-2)


def _all(event_shape: Shape) -> tuple[slice, ...]:
    return tuple(slice(None) for _ in event_shape)


def _test(target: str, is_gpu: bool) -> Callable[[distribution_unittest], None]:
    """Returns the test of a target on the CPU or the GPU."""

    def test(self: distribution_unittest) -> None:
        if target not in self.test_targets:
            raise unittest.SkipTest(f"{target!r} does not exist in test_targets.")
        getattr(self, f"check_{target}")(is_gpu)

    test.__name__ = f"test_{target}_{'gpu' if is_gpu else 'cpu'}"
    test.__doc__ = f"Tests {target} on the {'GPU' if is_gpu else 'CPU'}."
    return test


for _target in sorted(_TARGETS):
    for _method in (_test(_target, False), attr.gpu_or_skip(_test(_target, True))):
        setattr(distribution_unittest, _method.__name__, _method)
