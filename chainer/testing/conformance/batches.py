"""Transforms of one function on two samples: what they give, and what each sample gives alone."""

# pyright: basic
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from chainer.core.autograd.variable import Variable
from chainer.core.registry import registries
from chainer.functions.transforms.batch import per_sample_grad, vmap
from chainer.functions.transforms.forward import jvp
from chainer.functions.transforms.reverse import jacrev, vjp
from chainer.functions.transforms.second_order import hessian
from chainer.testing.array import assert_allclose, to_host
from chainer.testing.conformance.harness import Case, flatten

#: Largest number of elements of the inputs whose Hessians are computed.
_MAX_SIZE_OF_HESSIAN = 16


class Batch:
    """A function, and two samples of its inputs that get gradients.

    The other inputs, such as labels, are the same for both samples: an axis in front is only given
    to inputs that get gradients. The second sample is smaller by a factor, so that it is in the
    domain of the function and on the same side of kinks.

    Args:
        case: The function on the first sample.
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        self.moving = case.moving
        hosts = [case.host[i] for i in self.moving]
        self._samples = [hosts, [np.asarray(x * 0.9375) for x in hosts]]
        others = [i for i in range(len(case.host)) if i not in self.moving]
        self._fixed = {i: case.send(case.host[i]) for i in others}
        ys = [np.array(to_host(y)) for y in self._outputs(*self.sample(0))]
        gys = case.output_gradients(ys)
        #: Indexes of the outputs that have gradients, and gradients of them.
        self._seeds = [(i, gy) for i, gy in enumerate(gys) if gy is not None]
        self._directions = case.unit_direction()

    @property
    def size(self) -> int:
        """Number of elements of the inputs of one sample that get gradients."""
        return sum(x.size for x in self._samples[0])

    @property
    def has_gradients(self) -> bool:
        """Whether there is anything to differentiate."""
        return bool(self._seeds and self.moving and self.case.spec.gradient_order)

    # -- inputs -----------------------------------------------------------------------------------

    def sample(self, index: int) -> list[Any]:
        """Returns the inputs of a sample that get gradients, on the device."""
        return [self.case.send(x) for x in self._samples[index]]

    def both(self) -> list[Any]:
        """Returns these inputs of both samples, with an axis in front."""
        return [self.case.send(np.stack(pair)) for pair in zip(*self._samples, strict=True)]

    def _sent(self, values: Sequence[np.ndarray]) -> list[Any]:
        return [self.case.send(value) for value in values]

    # -- functions of the inputs of one sample ----------------------------------------------------

    def _outputs(self, *moving: Any) -> list[Variable]:
        given = dict(zip(self.moving, moving, strict=True))
        xs = [given[i] if i in given else self._fixed[i] for i in range(len(self.case.host))]
        taken = [x if isinstance(x, Variable) else Variable(x, requires_grad=False) for x in xs]
        if self.case.spec.reference is None:  # the same random numbers in each call
            self.case.device.backend.random(self.case.device).seed(0)
        ys = flatten(self.case.spec.apply(*taken, **self.case.keywords()))
        return [y if isinstance(y, Variable) else Variable(y, requires_grad=False) for y in ys]

    def values(self, *moving: Any) -> tuple[Variable, ...]:
        """Returns the outputs, without statistics that calls change."""
        constants = self.case.spec.constant_outputs
        return tuple([y for i, y in enumerate(self._outputs(*moving)) if i not in constants])

    def _live(self, *moving: Any) -> tuple[Variable, ...]:
        ys = self._outputs(*moving)
        return tuple([ys[i] for i, _ in self._seeds])

    def gradient(self, *moving: Any) -> tuple[Variable, ...]:
        """Returns the gradients of the inputs."""
        ys, pull = vjp(self._live, *moving)
        return pull(tuple([self.case.send(gy, y.dtype) for y, (_, gy) in zip(ys, self._seeds)]))

    def second(self, *moving: Any) -> tuple[Variable, ...]:
        """Returns the product of the Hessian of a sum over the outputs with a direction."""
        return vjp(self.gradient, *moving)[1](tuple(self._sent(self._directions)))

    def tangent(self, *moving: Any) -> tuple[Variable, ...]:
        """Returns the directional derivatives of the outputs."""
        return jvp(self._live, moving, tuple(self._sent(self._directions)))[1]

    def total(self, *moving: Any) -> Variable:
        """Returns the sum over the outputs, each element times its gradient."""
        sum_of, add = (registries.functions.get(name) for name in ("sum", "add"))
        ys = self._live(*moving)
        parts = [sum_of(y * self.case.send(gy, y.dtype)) for y, (_, gy) in zip(ys, self._seeds)]
        return parts[0] if len(parts) == 1 else add(*parts)

    # -- comparisons ------------------------------------------------------------------------------

    def check(self, what: str, function: Callable[..., Any], tolerance: tuple[float, float]) -> Any:
        """Compares a mapped function with what it gives for each sample, and returns the latter.

        Args:
            what: Text that names the function in messages.
            function: Function of the inputs of one sample.
            tolerance: ``(atol, rtol)``.
        """
        expected = self.of_each(function)
        self.compare(what, self.mapped(function)(*self.both()), expected, tolerance)
        return expected

    def mapped(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Returns a function of both samples at once."""
        return vmap(function, randomness="same")

    def of_each(self, function: Callable[..., Any]) -> list[np.ndarray]:
        """Returns the results for each sample, stacked."""
        columns = zip(*[function(*self.sample(i)) for i in range(2)], strict=True)
        return [np.stack([np.array(to_host(y)) for y in column]) for column in columns]

    def compare(
        self,
        what: str,
        found: Sequence[Variable],
        expected: Sequence[np.ndarray],
        tolerance: tuple[float, float],
    ) -> None:
        """Raises unless results have the values, dtypes and devices that are expected."""
        atol, rtol = tolerance
        for i, (y, value) in enumerate(zip(found, expected, strict=True)):
            self.case.check_place(y.array, f"result {i} of {what}")
            assert y.shape == value.shape, (
                f"result {i} of {what} has shape {y.shape}, expected {value.shape}"
            )
            assert y.dtype == value.dtype, (
                f"result {i} of {what} is {y.dtype}, expected {value.dtype}"
            )
            try:
                assert_allclose(y, value, atol=atol, rtol=rtol)
            except AssertionError as error:
                error.add_note(f"result {i} of {what}, against one sample after the other")
                raise

    def check_nested(self, expected: Sequence[np.ndarray], tolerance: tuple[float, float]) -> None:
        """Checks ``vmap`` in ``vmap``, both over the first axes and over other ones."""
        inner = vmap(self.gradient, randomness="same")
        batches = [np.stack([x, x]) for x in map(to_host, self.both())]
        found = self.mapped(inner)(*self._sent(batches))
        self.compare("vmap in vmap", found, [np.stack([x, x]) for x in expected], tolerance)
        # The samples are the last axis of the inputs, and the second one of the outputs.
        behind = [np.moveaxis(x, 1, -1) for x in batches]
        found = vmap(vmap(self.gradient, in_axes=-1, randomness="same"), randomness="same")(
            *self._sent(behind)
        )
        self.compare("in_axes=-1", found, [np.stack([x, x]) for x in expected], tolerance)

    def check_per_sample_grad(
        self, expected: Sequence[np.ndarray], tolerance: tuple[float, float]
    ) -> None:
        """Checks gradients by values that all samples share: here, of each sample by itself."""
        first = self.sample(0)

        def loss(params: Any, weight: Variable) -> Variable:
            return self.total(*params) * weight

        weights = self.case.send(np.array([1.0, 0.5]))
        found = per_sample_grad(loss, list(first))(weights)
        stacked = [np.stack([x[0], x[0] / 2]) for x in expected]
        self.compare("per_sample_grad", found, stacked, tolerance)

    def check_hessians(self, seconds: Sequence[np.ndarray], tolerance: tuple[float, float]) -> None:
        """Checks Hessians of each sample against their products with a direction."""
        if not 0 < self.size <= _MAX_SIZE_OF_HESSIAN:
            return
        numbers = tuple(range(len(self.moving)))
        of_gradient = lambda *xs: jacrev(self.gradient, argnums=numbers)(*xs)
        for what, transform in (
            ("hessian", hessian(self.total, argnums=numbers)),
            ("jacrev of the gradient", of_gradient),
        ):
            rows = self.mapped(transform)(*self.both())
            for i, (row, second) in enumerate(zip(rows, seconds, strict=True)):
                products = sum(
                    np.tensordot(to_host(block), direction, direction.ndim)
                    for block, direction in zip(row, self._directions, strict=True)
                )
                try:
                    assert_allclose(products, second, atol=tolerance[0], rtol=tolerance[1])
                except AssertionError as error:
                    error.add_note(f"{what}, input {i}")
                    raise
