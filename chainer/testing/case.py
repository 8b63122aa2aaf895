"""Base of the test cases of functions, links and optimizers."""

from __future__ import annotations

import contextlib
import functools
import itertools
import unittest
import zlib
from collections.abc import Callable, Generator, Sequence
from typing import Any, ClassVar, cast

import numpy

from chainer.core.arrays.backend import HOST_FAMILY, backend_of
from chainer.core.arrays.device import Device
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import using_config
from chainer.core.typing import Array, DTypeLike, HostArray
from chainer.testing import random
from chainer.testing.array import assert_allclose, to_host
from chainer.testing.backend import BackendConfig, skip_unless_available
from chainer.testing.errors import TestCaseError, WrongTestCase

#: Accepted errors of forward, backward and double backward computation, by dtype.
_FORWARD = {"float16": (5e-3, 5e-3)}
_BACKWARD = {"float16": (2e-2, 2e-2), "float32": (1e-4, 1e-3)}
_DOUBLE_BACKWARD = {"float16": (5e-2, 5e-2), "float32": (1e-3, 1e-2)}
_OF_ORDER = (_FORWARD, _BACKWARD, _DOUBLE_BACKWARD)
_OTHERS = ((1e-5, 1e-4), (1e-5, 1e-4), (1e-4, 1e-3))

#: Layouts a test case may ask for.
LAYOUTS = ("contiguous", "strided")


class VariantTests:
    """Tests that run for several dtypes, memory layouts and devices; base of the test cases.

    It does not derive from :class:`unittest.TestCase`, so that it can be mixed into one.

    Attributes:
        dtypes (tuple of str): Floating-point dtypes to test with, such as ``('float16',
            'float32')``; None to take the arrays as they are generated.
        layouts (tuple of str): ``'contiguous'``, ``'strided'`` or both; None for what
            ``contiguous`` says.
        devices (tuple of str): Specifiers of devices to test on, such as ``('@numpy',
            '@strict:1')``. Tests of a device that is not installed are skipped. None for the
            device of :func:`inject_backend_tests`, ``'@numpy'`` without it.
        contiguous: ``'C'`` for C-contiguous arrays, None for arrays that are not contiguous, as far
            as possible.
        numerical_grad_dtype: Dtype in which gradients are computed by finite differences.
        test_name (str): Name of the test that runs.
        backend_config (BackendConfig): The configuration it runs with.
    """

    dtypes: ClassVar[Sequence[str] | None] = None
    layouts: ClassVar[Sequence[str] | None] = None
    devices: ClassVar[Sequence[str] | None] = None
    contiguous: Any = None
    numerical_grad_dtype: Any = numpy.float64
    test_name: str | None = None
    backend_config: Any = None
    #: Options of the comparison of outputs; declared by the test cases.
    check_forward_options: Any

    #: Tests that there are variants of.
    _tests: ClassVar[tuple[str, ...]] = ()
    #: Attributes that are dictionaries of options.
    _options: ClassVar[tuple[str, ...]] = ()
    _error: ClassVar[type[TestCaseError]] = TestCaseError
    #: Whether the random numbers of the running test were seeded already.
    _seeded: bool = False
    #: Dtype of the variant that runs.
    _dtype: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Each instance gets dictionaries of its own: setUp of existing test suites updates them.
        for name in self._options:
            setattr(self, name, dict(getattr(self, name) or {}))

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not {"dtypes", "layouts", "devices"} & vars(cls).keys():
            return
        for layout in cls.layouts or ():
            if layout not in LAYOUTS:
                raise ValueError(f"layouts are among {LAYOUTS}, got {layout!r}")
        for name in cls._tests:
            _replace_by_variants(cls, name)

    def before_test(self, test_name: str) -> None:
        """Called before each test; raises :class:`unittest.SkipTest` to skip it.

        Args:
            test_name (str): Name of the test, such as ``'test_forward'``.
        """

    @contextlib.contextmanager
    def _running(self, test_name: str, backend_config: BackendConfig | None) -> Generator[Device]:
        """Surrounds a test: chooses the device, sets the configuration, seeds random numbers."""
        config = backend_config or self.backend_config or BackendConfig({})
        skip_unless_available(config)
        self.test_name, self.backend_config = test_name, config
        seed = zlib.crc32(f"{type(self).__qualname__}.{test_name}".encode())
        with contextlib.ExitStack() as stack:
            if not self._seeded:
                stack.enter_context(random.seeded(seed))
            self.before_test(test_name)
            if getattr(self, f"skip_{test_name.removeprefix('test_')}_test", False):
                raise unittest.SkipTest(f"skip_{test_name.removeprefix('test_')}_test is set")
            stack.enter_context(config)
            backend = config.device.backend
            if backend.family != HOST_FAMILY:
                backend.random(config.device).seed(seed)
            if self._dtype is not None:
                stack.enter_context(using_config("dtype", self._dtype))
            yield config.device

    # -- arrays -----------------------------------------------------------------------------------

    def _arrays(self, values: object, method: str, *, optional: bool = False) -> tuple[Any, ...]:
        """Returns the tuple of arrays a method generated, in the dtype of the variant."""
        if not isinstance(values, tuple):
            raise TypeError(f"`{method}()` must return a tuple, not {type(values)}.")
        arrays = cast("tuple[Any, ...]", values)
        for i, array in enumerate(arrays):
            if not isinstance(array, numpy.ndarray) and not (optional and array is None):
                raise TypeError(
                    f"`{method}()` must return NumPy arrays, but element {i} is {type(array)}"
                )
        return tuple(self._cast(array) for array in arrays)

    def _cast(self, array: Array) -> Any:
        if self._dtype is None or array is None or array.dtype.kind != "f":
            return array
        return array.astype(self._dtype)

    def _send(self, arrays: Sequence[Any], device: Device) -> tuple[Any, ...]:
        """Returns copies on a device, in the memory layout under test."""
        strided = self.contiguous is None
        if not strided and self.contiguous != "C":
            raise WrongTestCase(f"contiguous must be None or 'C', got {self.contiguous!r}")
        return tuple(
            None if array is None else to_layout(array, device, strided) for array in arrays
        )

    def _outputs(self, outputs: object, device: Device) -> tuple[Variable, ...]:
        """Checks what ``forward`` returned."""
        if not isinstance(outputs, tuple):
            raise self._error(f"`forward()` must return a tuple, not {type(outputs)}.")
        ys = cast("tuple[Any, ...]", outputs)
        if not all(isinstance(y, Variable) for y in ys):
            types = ", ".join(str(y.__class__) for y in ys)
            raise self._error(f"forward() must return a tuple of Variables.\nActual: {types}")
        for i, y in enumerate(ys):
            self._check_place(y.array, device, f"Output [{i}]")
        return ys

    def _check_place(self, array: Array, device: Device, what: str) -> None:
        backend = backend_of(array)
        if backend.family == device.backend.family and (
            backend is not device.backend or backend.device_of(array) == device
        ):
            return
        raise self._error(
            f"{what} is not on the device of the inputs.\n"
            f"Expected: {device}\n"
            f"Actual:   {backend.device_of(array)} ({type(array)})"
        )

    # -- comparisons ------------------------------------------------------------------------------

    def check_forward_outputs(
        self, outputs: tuple[Any, ...], expected_outputs: tuple[Any, ...]
    ) -> None:
        """Compares outputs with what they should be.

        Args:
            outputs (tuple of arrays): Arrays on the device under test.
            expected_outputs (tuple of numpy.ndarray): Result of ``forward_expected``.

        Raises:
            FunctionTestError, LinkTestError: If they differ.
        """
        options = self._tolerances(0, self.check_forward_options, expected_outputs)
        self._check_same(outputs, expected_outputs, options)

    def _tolerances(
        self, order: int, given: dict[str, Any] | None, arrays: Sequence[Any]
    ) -> dict[str, Any]:
        """Returns the options of a check, with tolerances that suit the dtype."""
        floats = [a.dtype for a in arrays if a is not None and a.dtype.kind == "f"]
        coarsest = min(floats, key=lambda d: d.itemsize).name if floats else ""
        atol, rtol = _OF_ORDER[order].get(coarsest, _OTHERS[order])
        return {"atol": atol, "rtol": rtol, **(given or {})}

    def _check_same(
        self, outputs: Sequence[Any], expected: Sequence[Any], options: dict[str, Any]
    ) -> None:
        """Raises unless arrays have the expected shapes, dtypes and values."""
        lines = (
            f"Expected shapes and dtypes: {describe(expected)}\n"
            f"Actual shapes and dtypes:   {describe(outputs)}\n"
        )
        if len(outputs) != len(expected):
            raise self._error(
                f"Number of outputs ({len(outputs)}, {len(expected)}) does not match\n{lines}"
            )
        if describe(outputs) != describe(expected):
            raise self._error(f"Shapes and/or dtypes do not match\n{lines}")
        details: dict[int, str] = {}
        for i, (y, value) in enumerate(zip(outputs, expected, strict=True)):
            try:
                assert_allclose(y, value, **options)
            except AssertionError as error:
                details[i] = str(error)
        if details:
            raise self._error(
                "Outputs do not match the expected values.\n"
                f"Indices of outputs that do not match: {', '.join(map(str, details))}\n{lines}\n"
                + "\n".join(f"Error details of output [{i}]:\n{t}" for i, t in details.items())
            )

    def _check_unchanged(self, arrays: Sequence[Any], before: Sequence[Any], what: str) -> None:
        """Raises if a call changed arrays it was given."""
        changed = [
            i
            for i, (array, old) in enumerate(zip(arrays, before, strict=True))
            if old is not None and not numpy.array_equal(to_host(array), old, equal_nan=True)
        ]
        if changed:
            texts = "".join(
                f"\n[{i}]:\nOriginal:\n{before[i]}\nAfterwards:\n{to_host(arrays[i])}"
                for i in changed
            )
            raise self._error(
                f"{what}\nIndices: {', '.join(map(str, changed))}\n"
                f"Array shapes and dtypes: {describe(before)}\n{texts}"
            )


class VariantTestCase(VariantTests, unittest.TestCase):
    """Test case of :mod:`unittest` whose random numbers are the same in each run.

    The numbers are seeded before ``setUp``: what a test draws there is the same in each run, and a
    test that seeds the generator itself gets the numbers of its own seed.
    """

    def run(self, result: unittest.TestResult | None = None) -> unittest.TestResult | None:
        """Runs the test, with seeded random numbers."""
        with random.seeded(zlib.crc32(self.id().encode())):
            self._seeded = True
            try:
                return super().run(result)
            finally:
                self._seeded = False


def _replace_by_variants(cls: type, name: str) -> None:
    """Puts a test of its own for each dtype, layout and device in the place of one test."""
    test: Any = getattr(cls, name, None)
    for other in dir(cls):
        if other.startswith(f"{name}__"):  # of the base class
            test = test or getattr(getattr(cls, other), "variant_of", None)
            setattr(cls, other, None)
    if test is None:  # a test that runs only in classes which ask for it
        return
    if not (cls.dtypes or cls.layouts or cls.devices):
        setattr(cls, name, test)
        return
    for dtype, layout, device in itertools.product(
        cls.dtypes or (None,), cls.layouts or (None,), cls.devices or (None,)
    ):
        parts = [dtype, layout, device and BackendConfig({"device": device}).label]
        suffix = "_".join(str(part) for part in parts if part)
        setattr(cls, f"{name}__{suffix}", _variant(test, name, dtype, layout, device))
    setattr(cls, name, None)


def _variant(
    test: Callable[..., Any],
    name: str,
    dtype: DTypeLike | None,
    layout: str | None,
    device: str | None,
) -> Callable[..., Any]:
    @functools.wraps(test)
    def run(self: Any, backend_config: BackendConfig | None = None) -> None:
        if device is not None:
            injected: Any = self.__class__.backend_config
            if backend_config is not None or injected is not None:
                raise ValueError("give either `devices` or inject_backend_tests, not both")
            backend_config = BackendConfig({"device": device})
        self._dtype = None if dtype is None else numpy.dtype(dtype)
        if layout is not None:
            self.contiguous = "C" if layout == "contiguous" else None
        try:
            test(self, backend_config)
        except unittest.SkipTest:
            raise
        except Exception as error:
            named = {"dtype": dtype, "layout": layout, "device": device}
            shown = ", ".join(f"{key} {value}" for key, value in named.items() if value)
            error.add_note(f"{name} with {shown}")
            raise

    run.variant_of = test  # type: ignore[attr-defined]
    return run


def to_layout(array: HostArray, device: Device, strided: bool) -> Any:
    """Returns a copy of a NumPy array on a device, C-contiguous or not.

    Args:
        array: The array.
        device: The device.
        strided: Whether to leave gaps between the elements in memory. Arrays of less than two
            elements stay contiguous.
    """
    host = numpy.array(array, order="C")
    if not strided or array.size < 2:
        return device.send(host)
    # Fortran's order of axes beside the gaps, where the shape shows it.
    if array.ndim > 1 and min(array.shape) > 1:
        padded = numpy.zeros((*array.shape[:0:-1], 2 * array.shape[0]), array.dtype)
        padded[..., ::2] = host.T
        return device.send(padded)[..., ::2].T
    padded = numpy.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    padded[..., ::2] = host
    return device.send(padded)[..., ::2]


def describe(arrays: Sequence[Any]) -> str:
    """Returns shapes and dtypes as text.

    Args:
        arrays: Arrays, Variables or None.
    """
    return ", ".join("None" if a is None else f"{a.shape}:{a.dtype}" for a in arrays)


def uniform_like(array: Array) -> Any:
    """Returns random numbers in [-1, 1) of the shape and dtype of an array; None for integers.

    Args:
        array: The array.
    """
    if array.dtype.kind != "f":
        return None
    return uniform(array.shape, array.dtype)


def uniform(shape: tuple[int, ...], dtype: DTypeLike) -> Any:
    """Returns random numbers in [-1, 1).

    Args:
        shape: Shape.
        dtype: Floating-point dtype.
    """
    values: Any = numpy.random.uniform(-1, 1, shape)
    return numpy.asarray(values, dtype)
