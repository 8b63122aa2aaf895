"""Test cases of links from a few small methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, cast

import numpy

from chainer.core.arrays.device import Device
from chainer.core.arrays.device_resident import device_of
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import using_config
from chainer.links.link import Link
from chainer.testing import gradient_check
from chainer.testing.array import to_host
from chainer.testing.backend import BackendConfig
from chainer.testing.case import VariantTestCase, VariantTests, to_layout, uniform_like
from chainer.testing.case_gradients import (
    DifferentiationTests,
    checked_gradients,
    run_backward,
)
from chainer.testing.errors import LinkTestError, TestCaseError, WrongTestCase
from chainer.testing.initializer_argument import InitializerArgument, check_initializer
from chainer.testing.serializer import save_and_load_npz


class LinkTests(VariantTests):
    """Base of the test cases of links: how a link is made and called."""

    check_forward_options: dict[str, Any]

    param_names: Any = ()

    _error: ClassVar[type[TestCaseError]] = LinkTestError

    def generate_params(self) -> Sequence[Any]:
        """Returns what ``create_link`` gets: a tuple or list of arrays or other initializers."""
        raise NotImplementedError("generate_params is not implemented.")

    def create_link(self, initializers: tuple[Any, ...]) -> Link:
        """Returns the link.

        Args:
            initializers (tuple): Result of ``generate_params``, arrays in the dtype under test.
        """
        raise NotImplementedError("create_link is not implemented.")

    def generate_inputs(self) -> tuple[Any, ...]:
        """Returns the inputs: a tuple of NumPy arrays."""
        raise NotImplementedError("generate_inputs is not implemented.")

    def forward(
        self, link: Any, inputs: tuple[Variable, ...], device: Device
    ) -> tuple[Variable, ...]:
        """Applies the link; by default it is called with the inputs.

        Args:
            link (Link): The link.
            inputs (tuple of Variable): The inputs.
            device (Device): Where both are.

        Returns:
            tuple of Variable: The outputs.
        """
        outputs: Any = link(*inputs)
        return cast("tuple[Variable, ...]", outputs if isinstance(outputs, tuple) else (outputs,))

    # -- links ------------------------------------------------------------------------------------

    def _initializers(self) -> tuple[Any, ...]:
        generated: Any = self.generate_params()
        if not isinstance(generated, (tuple, list)):
            raise TypeError(
                f"`generate_params()` must return a tuple or list, not {type(generated)}."
            )
        return tuple(
            self._argument(value, f"element {i} of `generate_params()`")
            for i, value in enumerate(cast("list[Any]", generated))
        )

    def _argument(self, value: Any, what: str) -> Any:
        """Returns the argument of a link for an initializer which the author gave."""
        value = check_initializer(value, what)
        if isinstance(value, InitializerArgument):
            return value.argument_value
        return self._cast(value) if isinstance(value, numpy.ndarray) else value

    def _link(self, initializers: tuple[Any, ...], inputs: tuple[Any, ...]) -> Link:
        """Returns a link on the CPU whose parameters all have their sizes."""
        with using_config("use_ideep", "never"):
            link: Any = self.create_link(initializers)
            if not isinstance(link, Link):
                raise TypeError(
                    f"`create_link` must return a chainer.Link object, not {type(link)}."
                )
            if any(param.array is None for param in link.params()):
                with using_config("enable_backprop", False):
                    host = device_of(link)
                    self._forward(link, tuple(Variable(x.copy()) for x in inputs), host)
        return link

    def _forward(
        self, link: Link, inputs: tuple[Variable, ...], device: Device
    ) -> tuple[Variable, ...]:
        return self._outputs(self.forward(link, inputs, device), device)

    def _params(self, link: Link) -> tuple[Parameter, ...]:
        """Returns the parameters of ``param_names``; names such as ``'l1/W'`` lead to children."""
        named = dict(link.namedparams())
        found: list[Parameter] = []
        for name in self.param_names:
            param = named.get("/" + name)
            if param is None:
                raise self._error(
                    f"Link does not have a parameter named '{name}'. It has: "
                    f"{', '.join(path.removeprefix('/') for path in named) or 'none'}"
                )
            found.append(param)
        return tuple(found)

    def _move(self, link: Link, device: Device) -> Link:
        """Puts a link on the device, with parameters in the memory layout under test."""
        link.to_device(device)
        if self.contiguous is None:
            for param in link.params():
                param.array = to_layout(to_host(param.array), device, strided=True)
        return link


class LinkTestCase(DifferentiationTests, LinkTests, VariantTestCase):
    """Base class of test cases of links.

    Required methods:

    ``generate_params(self)``
        Returns a tuple of initializers (NumPy arrays, numbers, :class:`InitializerArgument`, ...),
        one for each that the link takes as an argument.
    ``create_link(self, initializers)``
        Returns the link, given such a tuple.
    ``generate_inputs(self)``
        Returns a tuple of NumPy arrays.
    ``forward_expected(self, link, inputs)``
        Returns the expected outputs as a tuple of NumPy arrays, given the link and a tuple of NumPy
        arrays. It is called after the forward computation, when the link has been moved to the CPU.

    ``forward(self, link, inputs, device)`` calls the link with the inputs unless it is defined.

    They are tested by

    - ``test_forward``: values, shapes, dtypes and devices of the outputs; inputs and parameters
      stay as they were;
    - ``test_backward``: gradients of inputs and parameters agree with finite differences and are on
      the device of the inputs;
    - ``test_double_backward``, if the class sets ``skip_double_backward_test = False``: the same of
      the gradients of gradients;
    - ``test_serialization``, if the class sets ``skip_serialization_test = False``: a link that was
      saved to an NPZ file and loaded computes the same.

    The last two are off because existing test classes have links that do not pass them.

    See :class:`FunctionTestCase` for attributes and random numbers.

    Attributes:
        param_names (tuple of str): Names of the parameters whose gradients are tested, such as
            ``('W', 'b')``, or ``'l1/W'`` for one of a child.
        skip_forward_test (bool): Whether to skip the test of forward computation.
        skip_backward_test (bool): Whether to skip the test of backward computation.
        skip_double_backward_test (bool): Whether to skip the test of double backward computation.
        skip_serialization_test (bool): Whether to skip the test of saving and loading; True.
        dodge_nondifferentiable (bool): Whether to draw other inputs and parameters where the link
            turns out not to be differentiable.
        check_forward_options (dict): Options of :func:`~chainer.testing.assert_allclose`.
        check_backward_options (dict): Options of :func:`chainer.gradient_check.check_backward`.
        check_double_backward_options (dict): Options of
            :func:`chainer.gradient_check.check_double_backward`.

    Raises:
        LinkTestError: By the tests, if the link is not right.

    Example:
        >>> class TestScale(chainer.testing.LinkTestCase):
        ...     param_names = ('W',)
        ...
        ...     def generate_params(self):
        ...         return np.random.uniform(-1, 1, (3,)).astype('f'),
        ...
        ...     def create_link(self, initializers):
        ...         link = chainer.Link()
        ...         with link.init_scope():
        ...             link.W = chainer.Parameter(initializers[0])
        ...         return link
        ...
        ...     def generate_inputs(self):
        ...         return np.random.uniform(-1, 1, (2, 3)).astype('f'),
        ...
        ...     def forward(self, link, inputs, device):
        ...         return F.scale(inputs[0], link.W),
        ...
        ...     def forward_expected(self, link, inputs):
        ...         return inputs[0] * link.W.array,
        >>> import unittest
        >>> suite = unittest.defaultTestLoader.loadTestsFromTestCase(TestScale)
        >>> result = suite.run(unittest.TestResult())
        >>> result.testsRun, result.wasSuccessful()
        (2, True)
    """

    skip_forward_test: bool = False
    skip_backward_test: bool = False
    skip_double_backward_test: bool = True
    skip_serialization_test: bool = True
    # Each instance gets dictionaries of its own; see VariantTests.__init__().
    check_forward_options: dict[str, Any] = cast("dict[str, Any]", None)
    check_backward_options: dict[str, Any] = cast("dict[str, Any]", None)
    check_double_backward_options: dict[str, Any] = cast("dict[str, Any]", None)

    _options: ClassVar[tuple[str, ...]] = (
        "check_forward_options",
        "check_backward_options",
        "check_double_backward_options",
    )

    _tests: ClassVar[tuple[str, ...]] = (
        "test_forward",
        "test_backward",
        "test_double_backward",
        "test_serialization",
    )

    def __init_subclass__(cls, **kwargs: Any) -> None:
        for name, test in _OPTIONAL_TESTS.items():
            skip = vars(cls).get(f"skip_{name.removeprefix('test_')}_test")
            if skip is False and name not in vars(cls):
                setattr(cls, name, test)
            elif skip:
                # Test runners do not see a test that is None: a test which was not asked for does
                # not turn up as skipped.
                for other in [name, *[n for n in dir(cls) if n.startswith(f"{name}__")]]:
                    setattr(cls, other, None)
        super().__init_subclass__(**kwargs)

    def forward_expected(self, link: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Returns the outputs there should be, as a tuple of NumPy arrays.

        Args:
            link (Link): The link after the forward computation, on the CPU.
            inputs (tuple of numpy.ndarray): The inputs.
        """
        raise NotImplementedError("forward_expected() is not implemented.")

    def generate_grad_outputs(self, outputs_template: tuple[Any, ...]) -> tuple[Any, ...]:
        """Returns gradients of the outputs: NumPy arrays, or None for an output that gets none.

        Args:
            outputs_template (tuple of numpy.ndarray): Arrays of their shapes and dtypes.
        """
        return tuple(uniform_like(array) for array in outputs_template)

    # -- tests ------------------------------------------------------------------------------------

    def test_forward(self, backend_config: BackendConfig | None = None) -> None:
        """Tests forward computation."""
        with self._running("test_forward", backend_config) as device:
            inputs = self._arrays(self.generate_inputs(), "generate_inputs")
            link = self._move(self._link(self._initializers(), inputs), device)
            before = [to_host(p.array).copy() for p in link.params()]
            arrays = self._send(inputs, device)
            outputs = self._forward(link, tuple(Variable(x) for x in arrays), device)
            self._check_unchanged(arrays, inputs, "Input arrays have been modified during forward.")
            params = [p.array for p in link.params()]
            self._check_unchanged(params, before, "Parameters have been modified during forward.")
            # After the forward computation, which may have updated statistics of the link.
            link.to_device("@numpy")
            expected = self.forward_expected(link, tuple(x.copy() for x in inputs))
            if not isinstance(expected, tuple):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise WrongTestCase(
                    f"`forward_expected()` must return a tuple, not {type(expected)}."
                )
            self.check_forward_outputs(
                tuple(y.array for y in outputs), tuple(numpy.asarray(y) for y in expected)
            )

    def test_backward(self, backend_config: BackendConfig | None = None) -> None:
        """Tests backward computation."""
        with self._running("test_backward", backend_config) as device:
            self._differentiably(lambda: self._check_backward(device), "backward")

    def _test_double_backward(self, backend_config: BackendConfig | None = None) -> None:
        """Tests double-backward computation."""
        with self._running("test_double_backward", backend_config) as device:
            self._differentiably(lambda: self._check_double_backward(device), "double backward")

    def _test_serialization(self, backend_config: BackendConfig | None = None) -> None:
        """Tests that a link which was saved and loaded computes the same."""
        with self._running("test_serialization", backend_config) as device:
            inputs = self._arrays(self.generate_inputs(), "generate_inputs")
            link = self._link(self._initializers(), inputs)
            with using_config("use_ideep", "never"):
                restored = self.create_link(self._initializers())
            save_and_load_npz(link, restored)
            results: list[tuple[Any, ...]] = []
            for one in (link, restored):
                numpy.random.seed(0)
                xs = tuple(Variable(x) for x in device.send(inputs))
                with using_config("enable_backprop", False):
                    ys = self._forward(one.to_device(device), xs, device)
                results.append(tuple(to_host(y) for y in ys))
            try:
                self._check_same(results[1], results[0], {"atol": 0, "rtol": 0})
            except LinkTestError as error:
                raise LinkTestError(
                    f"A link that was saved and loaded computes something else.\n{error}"
                ) from None

    def _prepared(self, device: Device) -> tuple[Link, tuple[Parameter, ...], tuple[Any, ...]]:
        """Returns a link on the device, its parameters under test, and inputs."""
        inputs = self._arrays(self.generate_inputs(), "generate_inputs")
        link = self._move(self._link(self._initializers(), inputs), device)
        return link, self._params(link), inputs

    def _grad_outputs(self, outputs: tuple[Variable, ...]) -> tuple[Any, ...]:
        template = tuple(numpy.empty(y.shape, y.dtype) for y in outputs)
        generated = self.generate_grad_outputs(template)
        gys = self._arrays(generated, "generate_grad_outputs", optional=True)
        return checked_gradients(gys, template, "outputs and output gradients")

    def _function(
        self, link: Link, params: tuple[Parameter, ...], device: Device
    ) -> Callable[..., tuple[Variable, ...]]:
        """Returns the link as a function whose other parameters follow the dtype of the inputs."""
        tested = set(map(id, params))
        others = [param for param in link.params() if id(param) not in tested]

        def function(*xs: Variable) -> tuple[Variable, ...]:
            dtype = next((x.dtype for x in xs if x.dtype.kind == "f"), None)
            saved = [param.array for param in others]
            try:
                for param in others:
                    if dtype is not None and param.dtype.kind == "f":
                        param.array = param.array.astype(dtype)
                return self._forward(link, xs, device)
            finally:
                for param, array in zip(others, saved, strict=True):
                    param.array = array

        return function

    def _check_backward(self, device: Device) -> None:
        link, params, inputs = self._prepared(device)
        arrays = self._send(inputs, device)
        xs = tuple(Variable(x, requires_grad=x.dtype.kind == "f") for x in arrays)
        link.cleargrads()
        outputs = self._forward(link, xs, device)
        hosts = self._grad_outputs(outputs)
        gys = self._send(hosts, device)
        run_backward(outputs, gys)
        for kind, variables in (("input", xs), ("parameter", params)):
            for i, variable in enumerate(variables):
                if variable.grad is not None:
                    self._check_place(variable.grad, device, f"Gradient of {kind} [{i}]")
        self._check_unchanged(arrays, inputs, "Input arrays have been modified during backward.")
        self._check_unchanged(gys, hosts, "Output gradients have been modified during backward.")
        gradient_check.check_backward(
            self._function(link, params, device),
            self._send(inputs, device),
            self._send(hosts, device),
            params=params,
            **(
                self._numerical_options() | self._tolerances(1, self.check_backward_options, inputs)
            ),
        )

    def _check_double_backward(self, device: Device) -> None:
        link, params, inputs = self._prepared(device)
        arrays = self._send(inputs, device)
        gys = self._grad_outputs(self._forward(link, tuple(map(Variable, arrays)), device))
        gradient_check.check_double_backward(
            self._function(link, params, device),
            arrays,
            self._send(gys, device),
            self._send([uniform_like(x) for x in inputs], device),
            params=params,
            params_grad_grad=self._send([uniform_like(p.array) for p in params], device),
            **(
                self._numerical_options()
                | self._tolerances(2, self.check_double_backward_options, inputs)
            ),
        )


#: Tests that run only in classes which ask for them.
_OPTIONAL_TESTS = {
    "test_double_backward": LinkTestCase._test_double_backward,  # pyright: ignore[reportPrivateUsage]
    "test_serialization": LinkTestCase._test_serialization,  # pyright: ignore[reportPrivateUsage]
}

__all__ = ["LinkTestCase", "LinkTestError"]
