"""Test classes for unary elementwise functions from one line."""

from __future__ import annotations

import functools
import unittest
from collections.abc import Callable
from typing import Any

import numpy

from chainer.core.arrays.backend import get_device
from chainer.core.autograd.function import Function
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.testing import gradient_check
from chainer.testing.array import assert_allclose
from chainer.testing.parameterized import parameterize, product

_FORWARD = {"f": {"atol": 1e-5, "rtol": 1e-4}, "e": {"atol": 5e-3, "rtol": 5e-3}}
_BACKWARD = {"f": {"atol": 1e-4, "rtol": 1e-3}, "e": {"atol": 2e-2, "rtol": 2e-2}}
_DOUBLE_BACKWARD = {"f": {"atol": 1e-3, "rtol": 1e-2}, "e": {"atol": 5e-2, "rtol": 5e-2}}


def unary_math_function_unittest(
    func: Any,
    func_expected: Callable[..., Any] | None = None,
    label_expected: str | None = None,
    make_data: Callable[..., Any] | None = None,
    is_linear: bool = False,
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
        func_expected: Function of an array that gives the expected values; by default the NumPy
            function of the same name.
        label_expected (string): Expected label of the function; by default its name.
        make_data: Function of shape and dtype that returns arrays of input, gradient and double
            gradient; by default they are uniformly distributed in [-1, 1].
        is_linear (bool): Tells that ``func`` is linear, so that the double backward test squares it
            to have something to differentiate.
        forward_options (dict): Options of :func:`chainer.testing.assert_allclose`, such as
            tolerances.
        backward_options (dict): Options of :func:`chainer.gradient_check.check_backward`.
        double_backward_options (dict): Options of
            :func:`chainer.gradient_check.check_double_backward`.

    Returns:
        Class decorator.

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
    plan = _Plan(
        func,
        expected,
        name if label_expected is None else label_expected,
        make_data or _uniform,
        is_linear,
        (forward_options, backward_options, double_backward_options),
    )

    def decorate(cls: type) -> Any:
        for attribute, method in vars(_Methods).items():
            if attribute == "setUp" or attribute.startswith(("test", "_check")):
                setattr(cls, attribute, method)
        cls._plan = plan  # type: ignore[attr-defined]
        cases = product(
            {"shape": [(3, 2), ()], "dtype": [numpy.float16, numpy.float32, numpy.float64]}
        )
        return parameterize(*cases)(cls)

    return decorate


def _apply_class(function_class: Any, x: Any) -> Any:
    function = function_class()
    return function.apply((x,))[0] if isinstance(function, FunctionNode) else function(x)


def _uniform(shape: tuple[int, ...], dtype: Any) -> tuple[Any, Any, Any]:
    x, gy, ggx = (numpy.asarray(numpy.random.uniform(-1, 1, shape), dtype) for _ in range(3))
    return x, gy, ggx


class _Plan:
    """What the decorator was told."""

    def __init__(
        self,
        func: Any,
        expected: Callable[..., Any],
        label: str,
        make_data: Callable[..., Any],
        is_linear: bool,
        options: tuple[Any, Any, Any],
    ) -> None:
        self.func = func
        self.expected = expected
        self.label = label
        self.make_data = make_data
        self.is_linear = is_linear
        self._options = options

    def options(self, order: int, dtype: Any) -> dict[str, Any]:
        """Returns the options for forward (0), backward (1) or double backward (2)."""
        given = self._options[order]
        if given is not None:
            return given
        presets = (_FORWARD, _BACKWARD, _DOUBLE_BACKWARD)[order]
        options: dict[str, Any] = dict(presets["e" if dtype == numpy.float16 else "f"])
        if order:
            options["dtype"] = numpy.float64
        return options


def _gpu(test: Any) -> Any:
    from chainer.testing import attr

    return attr.gpu(test)


class _Methods(unittest.TestCase):
    """The methods the decorator puts into a class."""

    _plan: _Plan
    shape: tuple[int, ...]
    dtype: Any

    def setUp(self) -> None:
        self.x, self.gy, self.ggx = self._plan.make_data(self.shape, self.dtype)

    def _check_forward(self, device: str) -> None:
        x = get_device(device).send(self.x)
        y = self._plan.func(Variable(x))
        assert y.dtype == self.dtype, f"dtype of the output is {y.dtype}, expected {self.dtype}"
        expected = self._plan.expected(self.x.astype(numpy.float64))
        assert_allclose(expected, y.array, **self._plan.options(0, self.dtype))

    def _check_backward(self, device: str) -> None:
        x, gy = get_device(device).send((self.x, self.gy))
        gradient_check.check_backward(
            self._plan.func, x, gy, **self._plan.options(1, numpy.dtype(self.dtype))
        )

    def _check_double_backward(self, device: str) -> None:
        x, gy, ggx = get_device(device).send((self.x, self.gy, self.ggx))
        func = self._plan.func

        def function(x: Variable) -> Variable:
            y = func(x)
            return y * y if self._plan.is_linear else y

        gradient_check.check_double_backward(
            function, x, gy, ggx, **self._plan.options(2, numpy.dtype(self.dtype))
        )

    def test_forward_cpu(self) -> None:
        self._check_forward("@numpy")

    def test_backward_cpu(self) -> None:
        self._check_backward("@numpy")

    def test_double_backward_cpu(self) -> None:
        self._check_double_backward("@numpy")

    @_gpu
    def test_forward_gpu(self) -> None:
        self._check_forward("@cupy")

    @_gpu
    def test_backward_gpu(self) -> None:
        self._check_backward("@cupy")

    @_gpu
    def test_double_backward_gpu(self) -> None:
        self._check_double_backward("@cupy")

    def test_label(self) -> None:
        y = self._plan.func(Variable(self.x))
        assert y.creator is not None, "the function made no node of the graph"
        assert y.creator.label == self._plan.label, (
            f"label is {y.creator.label!r}, expected {self._plan.label!r}"
        )
