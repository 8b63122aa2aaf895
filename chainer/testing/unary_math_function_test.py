"""Test classes for unary elementwise functions from one line."""

from __future__ import annotations

import functools
import unittest
import warnings
from collections.abc import Callable
from typing import Any

import numpy

from chainer.core.arrays.backend import get_device
from chainer.core.autograd.function import Function
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, DTypeLike, HostArray
from chainer.testing import gradient_check
from chainer.testing.array import assert_allclose, to_host
from chainer.testing.attr import gpu_or_skip
from chainer.testing.parameterized import parameterize, product

#: Options of forward computation, and of both checks of gradients, in float16 and in wider types.
#: float16 has a precision of 2**-10; a difference of its gradients needs a step of 2**-4.
_FORWARD = {"e": {"atol": 2**-10, "rtol": 2**-10}, "f": {"atol": 1e-4, "rtol": 1e-4}}
_BACKWARD = {
    "e": {"eps": 2**-4, "atol": 2**-4, "rtol": 2**-4, "dtype": numpy.float64},
    "f": {"atol": 1e-4, "rtol": 1e-4, "dtype": numpy.float64},
}


def unary_math_function_unittest(
    func: Callable[..., Any],
    func_expected: Callable[..., Any] | None = None,
    label_expected: str | None = None,
    make_data: Callable[..., Any] | None = None,
    is_linear: bool | None = None,
    forward_options: dict[str, Any] | None = None,
    backward_options: dict[str, Any] | None = None,
    double_backward_options: dict[str, Any] | None = None,
) -> Callable[[type], Any]:
    """Decorator for testing unary mathematical Chainer functions.

    It makes test classes that test forward, backward and double backward computation, on the CPU
    and (marked ``gpu``) on the GPU, for a zero-dimensional and a matrix input of float16, float32
    and float64, and the label of the function. Functions so tested take one array, work elementwise
    and keep the dtype.

    Args:
        func (function or Function): Chainer function to be tested. Taking a (v1-style) Function
            object or class is for backward compatibility.
        func_expected: Function of an array that returns the expected values, called with the
            keyword ``dtype`` if it takes one, as NumPy's functions do; by default the NumPy
            function of the same name.
        label_expected (string): Expected label of the function; by default its name.
        make_data: Function of shape and dtype that returns arrays of input, gradient and double
            gradient; by default they are uniformly distributed in [-1, 1].
        is_linear (bool): Deprecated. If True, the double backward test squares ``func``.
        forward_options (dict): Options of :func:`chainer.testing.assert_allclose`, such as
            tolerances, that differ from the presets.
        backward_options (dict): Options of :func:`chainer.gradient_check.check_backward`.
        double_backward_options (dict): Options of
            :func:`chainer.gradient_check.check_double_backward`.

    Returns:
        Class decorator for a :class:`unittest.TestCase`. Instances have the attributes ``x``,
        ``gy``, ``ggx``, ``shape``, ``dtype``, ``forward_options``, ``backward_options`` and
        ``double_backward_options``, and the methods ``check_forward(x_data)``,
        ``check_backward(x_data, y_grad)`` and ``check_double_backward(x_data, y_grad,
        x_grad_grad)``.

    Raises:
        ValueError: If NumPy has no function of the name, and ``func_expected`` is not given.
        AssertionError: If the decorated class is not a :class:`unittest.TestCase`.

    Example:
        >>> import unittest
        >>> @chainer.testing.unary_math_function_unittest(chainer.functions.sin)
        ... class TestSin(unittest.TestCase):
        ...     pass
    """
    if isinstance(func, type) and issubclass(func, (Function, FunctionNode)):
        function_class, name = func, func.__name__.lower()
        func = functools.partial(_apply_class, function_class)
    elif isinstance(func, (Function, FunctionNode)):
        name = type(func).__name__.lower()
    else:
        name = func.__name__
    expected = getattr(numpy, name, None) if func_expected is None else func_expected
    if expected is None:
        raise ValueError(f"NumPy has no function {name!r}: give func_expected")
    if is_linear is not None:
        warnings.warn(
            "is_linear is deprecated: linear functions are tested as all others",
            DeprecationWarning,
            stacklevel=2,
        )
    plan = _Plan(
        func,
        expected,
        name if label_expected is None else label_expected,
        make_data or _uniform,
        bool(is_linear),
        (forward_options or {}, backward_options or {}, double_backward_options or {}),
        # Old functions are differentiable once.
        twice=not isinstance(func, Function),
    )

    def decorate(cls: type) -> Any:
        if not issubclass(cls, unittest.TestCase):
            raise AssertionError(f"a unittest.TestCase must be decorated, got {cls!r}")
        for attribute, method in vars(_Methods).items():
            if attribute == "setUp" or attribute.startswith(("test", "check")):
                setattr(cls, attribute, method)
        if not plan.twice:
            for attribute in ("check_double_backward", *_DOUBLE_BACKWARD_TESTS):
                setattr(cls, attribute, None)
        cls._plan = plan  # type: ignore[attr-defined]
        cases = product(
            {"shape": [(3, 2), ()], "dtype": [numpy.float16, numpy.float32, numpy.float64]}
        )
        return parameterize(*cases)(cls)

    return decorate


def _apply_class(function_class: type[Function | FunctionNode], x: Variable) -> Any:
    function = function_class()
    return function.apply((x,))[0] if isinstance(function, FunctionNode) else function(x)


def _uniform(shape: tuple[int, ...], dtype: DTypeLike) -> tuple[Any, Any, Any]:
    x, gy, ggx = (numpy.asarray(numpy.random.uniform(-1, 1, shape), dtype) for _ in range(3))
    return x, gy, ggx


_DOUBLE_BACKWARD_TESTS = ("test_double_backward_cpu", "test_double_backward_gpu")


class _Plan:
    """The arguments of the decorator."""

    def __init__(
        self,
        func: Callable[..., Any],
        expected: Callable[..., Any],
        label: str,
        make_data: Callable[..., Any],
        is_linear: bool,
        options: tuple[dict[str, Any], dict[str, Any], dict[str, Any]],
        twice: bool,
    ) -> None:
        self.func = func
        self.expected = expected
        self.label = label
        self.make_data = make_data
        self.is_linear = is_linear
        self.twice = twice
        self._options = options

    def options(self, order: int, dtype: DTypeLike) -> dict[str, Any]:
        """Returns the options for forward (0), backward (1) or double backward (2)."""
        presets = _BACKWARD if order else _FORWARD
        return presets["e" if dtype == numpy.float16 else "f"] | self._options[order]

    def expected_values(self, x: HostArray) -> Any:
        """Returns the expected outputs of an array, in its dtype."""
        try:
            values = self.expected(x, dtype=x.dtype)
        except TypeError:
            # The function does not take the keyword. Wider inputs make its result more exact.
            values = self.expected(x.astype(numpy.float64))
        return numpy.asarray(values, x.dtype)


class _Methods(unittest.TestCase):
    """The methods the decorator puts into a class."""

    _plan: _Plan
    shape: tuple[int, ...]
    dtype: Any

    def setUp(self) -> None:
        self.x, self.gy, self.ggx = self._plan.make_data(self.shape, self.dtype)
        dtype = numpy.dtype(self.dtype)
        self.forward_options = self._plan.options(0, dtype)
        self.backward_options = self._plan.options(1, dtype)
        self.double_backward_options = self._plan.options(2, dtype)

    def check_forward(self, x_data: Array) -> None:
        y = self._plan.func(Variable(x_data))
        assert y.dtype == x_data.dtype, f"dtype of the output is {y.dtype}, expected {x_data.dtype}"
        assert_allclose(
            self._plan.expected_values(to_host(x_data)), y.array, **self.forward_options
        )

    def check_backward(self, x_data: Array, y_grad: Array) -> None:
        gradient_check.check_backward(self._plan.func, x_data, y_grad, **self.backward_options)

    def check_double_backward(self, x_data: Array, y_grad: Array, x_grad_grad: Array) -> None:
        func = self._plan.func

        def function(x: Variable) -> Variable:
            y = func(x)
            return y * y if self._plan.is_linear else y

        gradient_check.check_double_backward(
            function, x_data, y_grad, x_grad_grad, **self.double_backward_options
        )

    def test_forward_cpu(self) -> None:
        self.check_forward(self.x)

    def test_backward_cpu(self) -> None:
        self.check_backward(self.x, self.gy)

    def test_double_backward_cpu(self) -> None:
        self.check_double_backward(self.x, self.gy, self.ggx)

    @gpu_or_skip
    def test_forward_gpu(self) -> None:
        self.check_forward(get_device("@cupy").send(self.x))

    @gpu_or_skip
    def test_backward_gpu(self) -> None:
        self.check_backward(*get_device("@cupy").send((self.x, self.gy)))

    @gpu_or_skip
    def test_double_backward_gpu(self) -> None:
        self.check_double_backward(*get_device("@cupy").send((self.x, self.gy, self.ggx)))

    def test_label(self) -> None:
        y = self._plan.func(Variable(self.x))
        assert y.creator is not None, "the function made no node of the graph"
        assert y.creator.label == self._plan.label, (
            f"label is {y.creator.label!r}, expected {self._plan.label!r}"
        )
