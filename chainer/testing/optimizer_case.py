"""Test cases of optimizers from a few small methods."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy

from chainer.core.arrays.device import Device
from chainer.core.autograd.parameter import Parameter
from chainer.core.typing import HostArray
from chainer.links.link import Link
from chainer.testing.array import assert_allclose, to_host
from chainer.testing.backend import BackendConfig
from chainer.testing.case import VariantTestCase, uniform
from chainer.testing.errors import OptimizerTestError, TestCaseError
from chainer.testing.serializer import save_and_load_npz
from chainer.training.optimizers.optimizer import Optimizer


class OptimizerTestCase(VariantTestCase):
    """Base class of test cases of optimizers.

    Two methods are required:

    ``create_optimizer(self)``
        Returns a new optimizer, without a target.
    ``update_expected(self, param, grad, state, t)``
        Returns the parameter after update number ``t`` (the first is 1) by the formula of the
        textbook, in float64. ``state`` is a dictionary, empty at the first update of a parameter,
        in which the formula may keep what it needs.

    ``generate_params(self)`` and ``generate_grads(self, params)`` may be defined for other
    parameters and gradients than random ones.

    They are tested by

    - ``test_update``: each of ``steps`` updates follows the formula; gradients stay as they were;
    - ``test_missing_gradients``: a parameter without a gradient counts as one with a zero gradient,
      one that is not initialized yet is passed over;
    - ``test_serialization``: an optimizer that was saved to an NPZ file and loaded goes on exactly
      as the saved one does;
    - ``test_to_device``: it goes on as well when the parameters are moved to the device after some
      updates on the CPU;
    - ``test_convergence``: a sum of squares falls.

    See :class:`FunctionTestCase` for attributes and random numbers.

    Attributes:
        steps (int): Number of updates, 5.
        convergence_steps (int): Number of updates after which the sum of squares is compared, 50.
        check_update_options (dict): Options of :func:`~chainer.testing.assert_allclose`.
        skip_update_test (bool): Whether to skip a test; so for the others: ``skip_<name>_test``.

    Raises:
        OptimizerTestError: By the tests, if the optimizer is not right.

    Example:
        >>> class TestMomentumSGD(chainer.testing.OptimizerTestCase):
        ...     def create_optimizer(self):
        ...         return chainer.optimizers.MomentumSGD(lr=0.1, momentum=0.9)
        ...
        ...     def update_expected(self, param, grad, state, t):
        ...         state['v'] = 0.9 * state.get('v', 0) - 0.1 * grad
        ...         return param + state['v']
        >>> import unittest
        >>> suite = unittest.defaultTestLoader.loadTestsFromTestCase(TestMomentumSGD)
        >>> result = suite.run(unittest.TestResult())
        >>> result.testsRun, result.wasSuccessful()
        (5, True)
    """

    steps: int = 5
    convergence_steps: int = 50
    check_update_options: dict[str, Any] = {}
    skip_update_test: bool = False
    skip_missing_gradients_test: bool = False
    skip_serialization_test: bool = False
    skip_to_device_test: bool = False
    skip_convergence_test: bool = False

    _tests: ClassVar[tuple[str, ...]] = (
        "test_update",
        "test_missing_gradients",
        "test_serialization",
        "test_to_device",
        "test_convergence",
    )
    _error: ClassVar[type[TestCaseError]] = OptimizerTestError

    # -- what authors define ----------------------------------------------------------------------

    def create_optimizer(self) -> Any:
        """Returns a new optimizer, without a target."""
        raise NotImplementedError("create_optimizer() is not implemented.")

    def update_expected(
        self, param: HostArray, grad: HostArray, state: dict[str, Any], t: int
    ) -> Any:
        """Returns the parameter after an update, by the formula of the textbook.

        Args:
            param (numpy.ndarray): The parameter before it, in float64.
            grad (numpy.ndarray): Its gradient, in float64.
            state (dict): Values that the formula keeps for this parameter; empty at the first
            update.
            t (int): Number of the update, beginning at 1.
        """
        raise NotImplementedError("update_expected() is not implemented.")

    def generate_params(self) -> tuple[Any, ...]:
        """Returns the parameters at the start: a tuple of NumPy arrays.

        By default a matrix, a vector and a number, uniform in [-1, 1).
        """
        return tuple(uniform(shape, "float32") for shape in ((3, 4), (5,), ()))

    def generate_grads(self, params: tuple[Any, ...]) -> tuple[Any, ...]:
        """Returns gradients for an update: NumPy arrays, uniform in [-1, 1) by default.

        Args:
            params (tuple of numpy.ndarray): The parameters.
        """
        return tuple(uniform(p.shape, p.dtype) for p in params)

    # -- tests ------------------------------------------------------------------------------------

    def test_update(self, backend_config: BackendConfig | None = None) -> None:
        """Tests updates against the formula."""
        with self._running("test_update", backend_config) as device:
            target, optimizer = self._begin(device)
            states: list[dict[str, Any]] = [{} for _ in target.params()]
            for _ in range(self.steps):
                self._checked_update(target, optimizer, self._grads(target), states, device)

    def test_missing_gradients(self, backend_config: BackendConfig | None = None) -> None:
        """Tests parameters without a gradient, or without an array."""
        with self._running("test_missing_gradients", backend_config) as device:
            target, optimizer = self._begin(device, late=True)
            params = [p for p in target.params() if p.array is not None]
            states: list[dict[str, Any]] = [{} for _ in params]
            for step in range(3):
                grads = list(self._grads(target))
                if step == 1:
                    grads[0] = None
                self._checked_update(target, optimizer, tuple(grads), states, device)
            late = next(p for p in target.params() if p.array is None)
            late.initialize((2,))
            self._update(target, optimizer, self._grads(target), device)

    def test_serialization(self, backend_config: BackendConfig | None = None) -> None:
        """Tests that an optimizer that was saved and loaded goes on as the saved one does."""
        with self._running("test_serialization", backend_config) as device:
            target, optimizer = self._begin(device)
            other, restored = self._begin(device)
            for _ in range(2):
                self._update(target, optimizer, self._grads(target), device)
            save_and_load_npz(target, other)
            save_and_load_npz(optimizer, restored)
            if restored.t != optimizer.t:
                raise OptimizerTestError(
                    f"t is {restored.t} after loading, it was {optimizer.t} when saved"
                )
            self._go_on_alike(
                (target, optimizer), (other, restored), device, "it was saved and loaded", 0
            )

    def test_to_device(self, backend_config: BackendConfig | None = None) -> None:
        """Tests that an optimizer goes on when its target is moved to the device."""
        with self._running("test_to_device", backend_config) as device:
            host = Link().device
            target, optimizer = self._begin(host)
            other, moved = self._begin(host)
            other.copyparams(target)
            for _ in range(2):
                grads = self._grads(target)
                for link, each in ((target, optimizer), (other, moved)):
                    self._update(link, each, grads, host)
            other.to_device(device)
            self._go_on_alike(
                (target, optimizer), (other, moved), device, f"its target was moved to {device}"
            )

    def test_convergence(self, backend_config: BackendConfig | None = None) -> None:
        """Tests that a sum of squares falls."""
        with self._running("test_convergence", backend_config) as device:
            target, optimizer = self._begin(device)
            losses: list[float] = []
            for _ in range(self.convergence_steps + 1):
                hosts = [to_host(p.array).astype("float64") for p in target.params()]
                losses.append(sum(float((h**2).sum()) for h in hosts))
                grads = [(2 * h).astype(p.dtype) for h, p in zip(hosts, target.params())]
                self._update(target, optimizer, tuple(grads), device)
            if not losses[-1] < losses[0]:
                raise OptimizerTestError(
                    f"The sum of squares of the parameters does not fall: {losses[0]:.6g} at the "
                    f"start, {losses[-1]:.6g} after {self.convergence_steps} updates"
                )

    # -- how they do it ---------------------------------------------------------------------------

    def _begin(self, device: Device, *, late: bool = False) -> tuple[Link, Any]:
        """Returns a link with the parameters on the device, and an optimizer of it."""
        link: Any = Link()
        with link.init_scope():
            for i, value in enumerate(self._arrays(self.generate_params(), "generate_params")):
                setattr(link, f"p{i}", Parameter(value))
            if late:
                link.late = Parameter(0)
        link.to_device(device)
        for param in link.params(include_uninit=False):
            (param.array,) = self._send((to_host(param.array),), device)
        optimizer: Any = self.create_optimizer()
        if optimizer is self.create_optimizer():
            raise TypeError("`create_optimizer()` must return a new optimizer at each call")
        return link, optimizer.setup(link)

    def _grads(self, target: Link) -> tuple[Any, ...]:
        params = tuple(to_host(p.array) for p in target.params(include_uninit=False))
        return self._arrays(self.generate_grads(params), "generate_grads")

    def _update(
        self, target: Link, optimizer: Optimizer, grads: tuple[Any, ...], device: Device
    ) -> None:
        target.cleargrads()
        params = list(target.params(include_uninit=False))
        for param, grad in zip(params, self._send(grads, device), strict=True):
            param.grad = grad
        optimizer.update()
        for i, param in enumerate(params):
            self._check_place(param.array, device, f"Parameter [{i}]")

    def _checked_update(
        self,
        target: Link,
        optimizer: Optimizer,
        grads: tuple[Any, ...],
        states: list[dict[str, Any]],
        device: Device,
    ) -> None:
        params = list(target.params(include_uninit=False))
        expected: list[Any] = []
        for param, grad, state in zip(params, grads, states, strict=True):
            host = to_host(param.array).astype("float64")
            wide = numpy.zeros_like(host) if grad is None else grad.astype("float64")
            result = self.update_expected(host, wide, state, optimizer.t + 1)
            expected.append(numpy.asarray(result).astype(param.dtype))
        self._update(target, optimizer, grads, device)
        options = self._tolerances(0, self.check_update_options, expected)
        try:
            self._check_same([p.array for p in params], expected, options)
            given = [(p.grad, grad) for p, grad in zip(params, grads) if grad is not None]
            self._check_unchanged(
                [g for g, _ in given], [g for _, g in given], "Gradients have been modified."
            )
        except OptimizerTestError as error:
            error.add_note(f"Update {optimizer.t}; outputs are the parameters after it")
            raise

    def _go_on_alike(
        self,
        one: tuple[Link, Any],
        other: tuple[Link, Any],
        device: Device,
        after: str,
        tolerance: float | None = None,
    ) -> None:
        for _ in range(2):
            grads = self._grads(one[0])
            self._update(*one, grads, one[0].device)
            self._update(*other, grads, device)
        for i, (a, b) in enumerate(zip(one[0].params(), other[0].params(), strict=True)):
            options = self._tolerances(0, self.check_update_options, (to_host(a.array),))
            if tolerance is not None:
                options: dict[str, Any] = {"atol": tolerance, "rtol": tolerance}
            try:
                assert_allclose(b.array, a.array, **options)
            except AssertionError as error:
                raise OptimizerTestError(
                    f"The optimizer goes on differently after {after}.\nParameter [{i}]:\n{error}"
                ) from None


__all__ = ["OptimizerTestCase", "OptimizerTestError"]
