"""Test cases of functions from a few small methods."""

from __future__ import annotations

from typing import Any, ClassVar, cast

import numpy

from chainer.core.arrays.device import Device
from chainer.core.arrays.extended_dtypes import kind_of
from chainer.core.autograd.variable import Variable
from chainer.testing import gradient_check
from chainer.testing.backend import BackendConfig
from chainer.testing.case import VariantTestCase, uniform_like
from chainer.testing.case_gradients import (
    DifferentiationTests,
    checked_gradients,
    run_backward,
)
from chainer.testing.errors import FunctionTestError, TestCaseError


class FunctionTestBase(DifferentiationTests):
    """The tests of :class:`FunctionTestCase` as a mix-in, which does not derive from a test case.

    Mix it into a class that a test runner finds.
    """

    skip_forward_test: bool = False
    skip_backward_test: bool = False
    skip_double_backward_test: bool = False
    # Each instance gets dictionaries of its own; see VariantTests.__init__().
    check_forward_options: dict[str, Any] = cast("dict[str, Any]", None)
    check_backward_options: dict[str, Any] = cast("dict[str, Any]", None)
    check_double_backward_options: dict[str, Any] = cast("dict[str, Any]", None)

    _tests: ClassVar[tuple[str, ...]] = ("test_forward", "test_backward", "test_double_backward")
    _options: ClassVar[tuple[str, ...]] = (
        "check_forward_options",
        "check_backward_options",
        "check_double_backward_options",
    )
    _error: ClassVar[type[TestCaseError]] = FunctionTestError

    def __init_subclass__(cls, **kwargs: Any) -> None:
        defined = cls.generate_empty_inputs is not FunctionTestBase.generate_empty_inputs
        if defined and "test_empty" not in cls._tests:
            cls._tests = (*cls._tests, "test_empty")
            cls.test_empty = FunctionTestBase._test_empty  # type: ignore[attr-defined]
        super().__init_subclass__(**kwargs)

    # -- what authors define ----------------------------------------------------------------------

    def generate_inputs(self) -> tuple[Any, ...]:
        """Returns the inputs: a tuple of NumPy arrays."""
        raise NotImplementedError("generate_inputs() is not implemented.")

    def generate_empty_inputs(self) -> tuple[Any, ...]:
        """Returns inputs without elements, or of which some have none: a tuple of NumPy arrays.

        If it is defined, ``test_empty`` compares outputs, and shapes of gradients.
        """
        raise NotImplementedError("generate_empty_inputs() is not implemented.")

    def forward(self, inputs: tuple[Variable, ...], device: Device) -> tuple[Variable, ...]:
        """Applies the function.

        Args:
            inputs (tuple of Variable): The inputs.
            device (Device): Where they are.

        Returns:
            tuple of Variable: The outputs, on the same device.
        """
        raise NotImplementedError("forward() is not implemented.")

    def forward_expected(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Returns the outputs there should be, as a tuple of NumPy arrays.

        Args:
            inputs (tuple of numpy.ndarray): The inputs.
        """
        raise NotImplementedError("forward_expected() is not implemented.")

    def generate_grad_outputs(self, outputs_template: tuple[Any, ...]) -> tuple[Any, ...]:
        """Returns gradients of the outputs: NumPy arrays, or None for an output that gets none.

        By default they are uniform in [-1, 1), None for outputs that are not of floating-point
        type.

        Args:
            outputs_template (tuple of numpy.ndarray): Arrays of their shapes and dtypes.
        """
        return tuple(uniform_like(array) for array in outputs_template)

    def generate_grad_grad_inputs(self, inputs_template: tuple[Any, ...]) -> tuple[Any, ...]:
        """Returns gradients of the gradients of the inputs: NumPy arrays, or None for none.

        By default they are uniform in [-1, 1), None for inputs that are not of floating-point type.

        Args:
            inputs_template (tuple of numpy.ndarray): Arrays of their shapes and dtypes.
        """
        return tuple(uniform_like(array) for array in inputs_template)

    # -- tests ------------------------------------------------------------------------------------

    def test_forward(self, backend_config: BackendConfig | None = None) -> None:
        """Tests forward computation."""
        self.run_test_forward(backend_config)

    def test_backward(self, backend_config: BackendConfig | None = None) -> None:
        """Tests backward computation."""
        self.run_test_backward(backend_config)

    def test_double_backward(self, backend_config: BackendConfig | None = None) -> None:
        """Tests double-backward computation."""
        self.run_test_double_backward(backend_config)

    def run_test_forward(self, backend_config: BackendConfig | None = None) -> None:
        """Tests forward computation; for classes that define ``test_forward`` themselves.

        Args:
            backend_config (BackendConfig): Configuration to test with; by default the class's, else
                the CPU.
        """
        with self._running("test_forward", backend_config) as device:
            self._check_forward(self._arrays(self.generate_inputs(), "generate_inputs"), device)

    def run_test_backward(self, backend_config: BackendConfig | None = None) -> None:
        """Tests backward computation; for classes that define ``test_backward`` themselves.

        Args:
            backend_config (BackendConfig): See :meth:`run_test_forward`.
        """
        with self._running("test_backward", backend_config) as device:
            self._differentiably(lambda: self._check_backward(device), "backward")

    def run_test_double_backward(self, backend_config: BackendConfig | None = None) -> None:
        """Tests double-backward computation; see :meth:`run_test_backward`.

        Args:
            backend_config (BackendConfig): See :meth:`run_test_forward`.
        """
        with self._running("test_double_backward", backend_config) as device:
            self._differentiably(lambda: self._check_double_backward(device), "double backward")

    def _test_empty(self, backend_config: BackendConfig | None = None) -> None:
        """Tests computation with inputs without elements."""
        with self._running("test_empty", backend_config) as device:
            inputs = self._arrays(self.generate_empty_inputs(), "generate_empty_inputs")
            if all(x.size for x in inputs):
                raise TypeError("`generate_empty_inputs()` must return an array without elements")
            self._check_forward(inputs, device)
            if not self.skip_backward_test:
                self._backward(inputs, device)

    def _check_forward(self, inputs: tuple[Any, ...], device: Device) -> None:
        expected = self._expected(inputs)
        arrays = self._send(inputs, device)
        xs = tuple(Variable(x, requires_grad=x is None or kind_of(x.dtype) == "f") for x in arrays)
        outputs = self._forward(xs, device)
        self._check_unchanged(arrays, inputs, "Input arrays have been modified during forward.")
        self.check_forward_outputs(tuple(y.array for y in outputs), expected)

    def _expected(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        expected = self.forward_expected(tuple(x.copy() for x in inputs))
        if not isinstance(expected, tuple):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"`forward_expected()` must return a tuple, not {type(expected)}.")
        return tuple(numpy.asarray(y) for y in expected)

    def _forward(self, inputs: tuple[Variable, ...], device: Device) -> tuple[Variable, ...]:
        return self._outputs(self.forward(inputs, device), device)

    def _grad_outputs(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        # The expected outputs, as in earlier releases: forward_expected may prepare what forward
        # needs.
        template = self._expected(inputs)
        generated = self.generate_grad_outputs(template)
        gys = self._arrays(generated, "generate_grad_outputs", optional=True)
        return checked_gradients(gys, template, "outputs and output gradients")

    def _backward(self, inputs: tuple[Any, ...], device: Device) -> tuple[Any, ...]:
        """Computes gradients, checks where they are, and returns the output gradients."""
        arrays = self._send(inputs, device)
        xs = tuple(Variable(x, requires_grad=x.dtype.kind == "f") for x in arrays)
        hosts = self._grad_outputs(inputs)
        gys = self._send(hosts, device)
        outputs = self._forward(xs, device)
        run_backward(outputs, gys)
        for i, x in enumerate(xs):
            if x.grad is not None:
                self._check_place(x.grad, device, f"Gradient of input [{i}]")
        self._check_unchanged(arrays, inputs, "Input arrays have been modified during backward.")
        self._check_unchanged(gys, hosts, "Output gradients have been modified during backward.")
        return hosts

    def _check_backward(self, device: Device) -> None:
        inputs = self._arrays(self.generate_inputs(), "generate_inputs")
        gys = self._backward(inputs, device)
        options = self._tolerances(1, self.check_backward_options, inputs)
        gradient_check.check_backward(
            lambda *xs: self._forward(xs, device),
            self._send(inputs, device),
            self._send(gys, device),
            **(self._numerical_options() | options),
        )

    def _check_double_backward(self, device: Device) -> None:
        inputs = self._arrays(self.generate_inputs(), "generate_inputs")
        arrays = self._send(inputs, device)
        gys = self._grad_outputs(inputs)
        template = tuple(numpy.empty_like(x) for x in inputs)
        generated = self.generate_grad_grad_inputs(template)
        ggxs = self._arrays(generated, "generate_grad_grad_inputs", optional=True)
        ggxs = checked_gradients(ggxs, template, "inputs and second order input gradients")
        options = self._tolerances(2, self.check_double_backward_options, inputs)
        gradient_check.check_double_backward(
            lambda *xs: self._forward(xs, device),
            arrays,
            self._send(gys, device),
            self._send(ggxs, device),
            **(self._numerical_options() | options),
        )


class FunctionTestCase(FunctionTestBase, VariantTestCase):
    """Base class of test cases of functions.

    Three methods are required:

    ``generate_inputs(self)``
        Returns a tuple of NumPy arrays.
    ``forward(self, inputs, device)``
        Applies the function to a tuple of Variables, and returns a tuple of Variables. ``device``
        is the device of the inputs.
    ``forward_expected(self, inputs)``
        Returns the expected outputs as a tuple of NumPy arrays, given a tuple of NumPy arrays.

    They are tested by

    - ``test_forward``: values, shapes, dtypes and devices of the outputs; the inputs stay as they
      were;
    - ``test_backward``: gradients agree with finite differences, are on the device of the inputs,
      and neither inputs nor output gradients are modified;
    - ``test_double_backward``: the same of the gradients of gradients;
    - ``test_empty``, if ``generate_empty_inputs`` is defined.

    Random numbers are drawn from ``numpy.random``, which starts with the same seed in each run of a
    test (``CHAINER_TEST_RANDOM_NONDETERMINISTIC=1`` for others). Use
    :func:`~chainer.testing.inject_backend_tests` for settings of a backend, or the attributes
    ``dtypes``, ``layouts`` and ``devices`` of the class, to get a test for each combination. It
    runs under unittest and under pytest.

    Attributes:
        skip_forward_test (bool): Whether to skip the test of forward computation.
        skip_backward_test (bool): Whether to skip the test of backward computation.
        skip_double_backward_test (bool): Whether to skip the test of double backward computation.
        dodge_nondifferentiable (bool): Whether to draw other inputs where the function turns out
            not to be differentiable.
        check_forward_options (dict): Options of :func:`~chainer.testing.assert_allclose`, such as
            tolerances; they are chosen by dtype otherwise.
        check_backward_options (dict): Options of :func:`chainer.gradient_check.check_backward`.
        check_double_backward_options (dict): Options of
            :func:`chainer.gradient_check.check_double_backward`.
        dtypes (tuple of str): Floating-point dtypes to test with, such as ``('float16',
            'float32')``, or None: inputs are cast.
        layouts (tuple of str): ``'contiguous'``, ``'strided'`` or both, or None.
        devices (tuple of str): Specifiers of devices to test on, or None. Tests of a device that is
            not installed are skipped.
        contiguous: ``'C'`` for C-contiguous arrays; by default (None) they have gaps in memory.
        numerical_grad_dtype: Dtype in which finite differences are computed, ``numpy.float64``.
        test_name (str): Name of the test that runs.
        backend_config (BackendConfig): Configuration of the test that runs.

    Raises:
        FunctionTestError: By the tests, if the function is not right; the message names what
            differs.

    Example:
        >>> class TestTanh(chainer.testing.FunctionTestCase):
        ...     dtypes = ('float16', 'float32')
        ...
        ...     def generate_inputs(self):
        ...         return np.random.uniform(-1, 1, (2, 3)),
        ...
        ...     def forward(self, inputs, device):
        ...         return F.tanh(inputs[0]),
        ...
        ...     def forward_expected(self, inputs):
        ...         return np.tanh(inputs[0]),
        >>> import unittest
        >>> suite = unittest.defaultTestLoader.loadTestsFromTestCase(TestTanh)
        >>> result = suite.run(unittest.TestResult())
        >>> result.testsRun, result.wasSuccessful()
        (6, True)
    """


__all__ = ["FunctionTestBase", "FunctionTestCase", "FunctionTestError"]
