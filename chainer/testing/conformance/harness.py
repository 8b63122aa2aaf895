"""One function on one input: outputs, gradients, and what they should be."""

# pyright: basic
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from chainer.core.arrays.backend import backend_of
from chainer.core.arrays.device import Device
from chainer.core.autograd.forward_mode import push_forward
from chainer.core.autograd.grad import grad
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import using_config
from chainer.core.registry import registries
from chainer.core.typing import Array, ArrayTree, DTypeLike, VariableLike
from chainer.testing.array import to_host
from chainer.testing.conformance import served
from chainer.testing.gradient_check import StartOfBackward
from chainer.testing.op_spec import OpSpec, Sample, Tolerance

#: Steps of the finite differences of first and second order, for float64 formulas.
_STEP, _STEP_OF_SECOND_ORDER = 1e-5, 3e-4


def flatten(result: ArrayTree) -> list[Any]:
    """Returns the arrays or Variables in a nested result, in order; None is left out."""
    if result is None:
        return []
    if isinstance(result, (tuple, list)):
        return [leaf for item in result for leaf in flatten(item)]
    return [result]


def map_arrays(function: Callable[[np.ndarray], Any], value: ArrayTree) -> Any:
    """Returns a nested structure with a function applied to each NumPy array in it.

    Args:
        function: The function.
        value: An array, or a tuple, list or dictionary of such; other values stay.
    """
    if isinstance(value, np.ndarray):
        return function(value)
    if isinstance(value, (tuple, list)):
        return type(value)([map_arrays(function, item) for item in value])
    if isinstance(value, dict):
        return {name: map_arrays(function, item) for name, item in value.items()}
    return value


def is_float(array: VariableLike) -> bool:
    """Tells whether an array, Variable or NumPy scalar is of a floating-point dtype."""
    return np.dtype(array.dtype).kind == "f"


def assert_unmodified(arrays: Sequence[Any], before: Sequence[np.ndarray]) -> None:
    """Raises if the values of input arrays are not those from before the call."""
    for i, (array, value) in enumerate(zip(arrays, before, strict=True)):
        np.testing.assert_array_equal(to_host(array), value, err_msg=f"input {i} was modified")


class Case:
    """A row of the table on one sample, dtype, layout and device.

    Args:
        spec: The row.
        sample: The sample.
        dtype: Name of the dtype under test.
        variant: Which non-contiguous layouts the arrays get: 1 or 2, where those in the order of
            Fortran and those with gaps take turns, or 3, all in the order of Fortran; 0 for
            contiguous arrays.
        device: The device under test.
    """

    def __init__(
        self, spec: OpSpec, sample: Sample, dtype: str, variant: int, device: Device
    ) -> None:
        self.spec = spec
        self.dtype = np.dtype(dtype)
        self.variant = variant
        self.device = device
        # Formulas get what the function gets: values rounded to the dtype under test.
        self.host = [self._rounded(array) for array in sample.arrays]
        self.kwargs = map_arrays(self._rounded, sample.kwargs)
        self.moving = [
            i
            for i, array in enumerate(sample.arrays)
            if is_float(array) and i not in sample.skip_grad
        ]
        self._random = np.random.default_rng(0)
        #: Whether the sample is the first one of its kind. Slow checks take no other.
        self.is_first = True
        #: Whether the run is quick: batches of the first sample only.
        self.is_quick = False

    # -- what is declared -------------------------------------------------------------------------

    @property
    def limitations(self) -> dict[str, str]:
        """Declarations of the backend and of the kernels that served the calls of the test."""
        found = dict(self.device.backend.limitations)
        for kernel in served.kernels():
            found.update(kernel.limitations)
        return found

    @property
    def tolerance(self) -> Tolerance:
        """The tolerances of the row; those of float32 where float64 is declared less precise."""
        less = self.dtype == "float64" and "precise_float64" in self.limitations
        return self.spec.tolerance("float32" if less else self.dtype.name)

    # -- inputs -----------------------------------------------------------------------------------

    def _rounded(self, array: np.ndarray) -> np.ndarray:
        if not is_float(array):
            return array
        return array.astype(self.dtype).astype(np.float64)

    def send(self, array: np.ndarray, dtype: DTypeLike = None, turn: int = 0) -> Any:
        """Puts an array on the device, in the dtype and layout under test.

        Args:
            array: Host array.
            dtype: Dtype of floating-point arrays; that under test by default.
            turn: Number that varies the layout.
        """
        if is_float(array):
            array = array.astype(self.dtype if dtype is None else dtype)
        else:
            array = array.copy()
        if not self.variant or array.ndim == 0:
            return self.device.send(array)
        if (self.variant == 3 or (turn + self.variant) % 2) and array.ndim > 1:
            return self.device.send(np.ascontiguousarray(array.T)).T
        padded = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        padded[..., ::2] = array
        return self.device.send(padded)[..., ::2]

    def arrays(self, dtype: DTypeLike = None) -> list[Any]:
        """Returns the inputs on the device."""
        return [self.send(array, dtype, i) for i, array in enumerate(self.host)]

    def keywords(self, dtype: DTypeLike = None) -> dict[str, Any]:
        """Returns the keywords, arrays among them on the device."""
        turns = itertools.count()
        return map_arrays(lambda array: self.send(array, dtype, next(turns)), self.kwargs)

    # -- calls ------------------------------------------------------------------------------------

    @contextmanager
    def environment(self) -> Iterator[None]:
        """Device and configuration for a call of the function."""
        with self.device, using_config("train", self.spec.train), using_config("dtype", self.dtype):
            yield

    def call(
        self,
        arrays: Sequence[Any],
        needed: Iterable[int],
        dtype: DTypeLike = None,
        linked: bool = False,
    ) -> Any:
        """Applies the function.

        Args:
            arrays: Arrays on the device.
            needed: Indexes of the inputs that need gradients.
            dtype: Dtype of the keywords.
            linked: Whether the inputs depend on the first of ``needed``, by functions that leave
                the values as they are.

        Returns:
            tuple: The input Variables and the list of output Variables.
        """
        needed = list(needed)
        xs = [Variable(x, requires_grad=i in needed) for i, x in enumerate(arrays)]
        taken = self._linked(xs, needed) if linked else xs
        if self.spec.reference is None:
            self.device.backend.random(self.device).seed(0)
        ys = flatten(self.spec.apply(*taken, **self.keywords(dtype)))
        return xs, [y if isinstance(y, Variable) else Variable(y, requires_grad=False) for y in ys]

    def _linked(self, xs: Sequence[Variable], needed: Sequence[int]) -> list[Variable]:
        """Adds zeros to inputs, whose derivatives with respect to the first one are not zero."""
        first, *others = needed
        sum_of, broadcast_to = (registries.functions.get(name) for name in ("sum", "broadcast_to"))
        total = sum_of(xs[first])
        zero = total - total.array
        linked = list(xs)
        for i in others:
            # Not one number: there are functions whose outputs stay if it is added to an input.
            factors = self.send(np.linspace(-0.5, 1, xs[i].size).reshape(xs[i].shape))
            linked[i] = xs[i] + broadcast_to(zero, xs[i].shape) * factors
        return linked

    def reference(self, hosts: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Returns the outputs of the formula (of the function in float64 if there is none)."""
        if self.spec.reference is not None:
            kwargs = map_arrays(np.copy, self.kwargs)
            with np.errstate(all="ignore"):
                result = self.spec.reference(*[host.copy() for host in hosts], **kwargs)
            return [np.asarray(y) for y in flatten(result)]
        arrays = [self.send(host, np.float64, i) for i, host in enumerate(hosts)]
        with self.environment(), using_config("enable_backprop", False):
            _, ys = self.call(arrays, (), np.float64)
        return [np.array(to_host(y)) for y in ys]

    # -- gradients --------------------------------------------------------------------------------

    def unit_direction(self) -> list[np.ndarray]:
        """Returns random arrays like the inputs that get gradients, of unit length together."""
        parts = [self._random.uniform(-1, 1, self.host[i].shape) for i in self.moving]
        length = np.sqrt(sum(float((part**2).sum()) for part in parts))
        return [self._rounded(np.asarray(part / max(length, 1e-30))) for part in parts]

    def output_gradients(self, ys: Sequence[np.ndarray]) -> list[np.ndarray | None]:
        """Returns random gradients for the differentiable outputs, None for others."""
        return [
            self._rounded(np.asarray(self._random.uniform(-1, 1, y.shape)))
            if is_float(y) and i not in self.spec.constant_outputs
            else None
            for i, y in enumerate(ys)
        ]

    def gradients(
        self,
        gys: Sequence[np.ndarray | None],
        needed: Sequence[int],
        recorded: bool,
        linked: bool = False,
    ) -> list[Any]:
        """Returns the gradients of the inputs ``needed``, as host arrays (None for none).

        Args:
            gys: Gradients of the outputs.
            needed: Indexes of the inputs.
            recorded: Whether gradients are computed on Variables, as for double backprop, or on
                arrays.
            linked: Whether the other inputs depend on the first one of ``needed``.
        """
        arrays = self.arrays()
        before = [np.array(to_host(array)) for array in arrays]
        xs, ys = self.call(arrays, needed, linked=linked)
        roots = [y for y, gy in zip(ys, gys, strict=True) if gy is not None]
        seeds = [
            Variable(self.send(gy, y.dtype, turn=1), requires_grad=False)
            for y, gy in zip(ys, gys, strict=True)
            if gy is not None
        ]
        targets = [xs[i] for i in needed]
        if recorded:
            found = grad(roots, targets, seeds, enable_double_backprop=True)
        else:
            StartOfBackward(tuple(seeds)).apply(roots)[0].backward()
            found = [x.grad_var for x in targets]
        for x, gx in zip(targets, found, strict=True):
            if gx is not None:
                self._check_gradient(x, gx)
        for i in set(range(len(xs))) - set(needed):
            assert xs[i].grad is None, f"input {i} needs no gradient but got one"
        assert_unmodified(arrays, before)
        return [None if gx is None else np.array(to_host(gx)) for gx in found]

    def _check_gradient(self, x: Variable, gx: Variable) -> None:
        self.check_place(gx.array, "gradient")
        assert gx.dtype == x.dtype, f"gradient of {x.dtype} input is {gx.dtype}"
        assert gx.shape == x.shape, f"gradient of {x.shape} input has shape {gx.shape}"

    def check_place(self, array: Array, what: str) -> None:
        """Raises unless an array is on the device under test."""
        backend = backend_of(array)
        assert backend.family == self.device.backend.family, (
            f"{what} is an array of backend {backend.name!r}, expected {self.device.backend.name!r}"
        )
        if backend is self.device.backend:
            place = backend.device_of(array)
            assert place == self.device, f"{what} is on {place}, expected {self.device}"

    def slope(
        self,
        gys: Sequence[np.ndarray | None],
        directions: Sequence[np.ndarray],
    ) -> float:
        """Returns the derivative of ``sum(gy * y)`` of the formula in a direction."""

        def weighted(step: float) -> float:
            return _weighted_sum(self.reference(self._moved(directions, step)), gys)

        return (
            8 * (weighted(_STEP) - weighted(-_STEP)) - (weighted(2 * _STEP) - weighted(-2 * _STEP))
        ) / (12 * _STEP)

    def tangents(self, directions: Sequence[np.ndarray]) -> tuple[Any, Any, Any]:
        """Applies the function, and forward mode to its graph.

        Args:
            directions: Tangents of the inputs that get gradients.

        Returns:
            tuple: The inputs that get gradients, the outputs, and the tangents of the outputs (None
            for zero).
        """
        xs, ys = self.call(self.arrays(), self.moving)
        moving = [xs[i] for i in self.moving]
        pairs = zip(moving, directions, strict=True)
        given = {x.node: Variable(self.send(d, x.dtype), requires_grad=False) for x, d in pairs}
        found = push_forward(ys, given) if given else [None] * len(ys)
        for y, tangent in zip(ys, found, strict=True):
            if tangent is not None:
                self.check_place(tangent.array, "tangent")
                assert tangent.dtype == y.dtype, f"tangent of {y.dtype} output is {tangent.dtype}"
                assert tangent.shape == y.shape
        return moving, ys, found

    def _moved(self, directions: Sequence[np.ndarray], step: float) -> list[np.ndarray]:
        hosts = [host.copy() for host in self.host]
        for i, direction in zip(self.moving, directions, strict=True):
            hosts[i] = np.asarray(hosts[i] + step * direction)
        return hosts

    def mixed_derivative(
        self,
        gys: Sequence[np.ndarray | None],
        ggxs: Sequence[np.ndarray],
        directions: Sequence[np.ndarray],
        gy_directions: Sequence[np.ndarray | None],
    ) -> float:
        """Returns the derivative of ``sum(ggx * gx)`` when inputs and output gradients move.

        With ``f(a, b) = sum((gy + b * s) * y(x + a * ggx + b * r))`` it is the mixed second
        derivative of ``f`` at 0, and needs the formula of the outputs only.
        """
        h = _STEP_OF_SECOND_ORDER
        total = 0.0
        for a in (1, -1):
            for b in (1, -1):
                moved = [a * ggx + b * r for ggx, r in zip(ggxs, directions, strict=True)]
                weights = [
                    None if gy is None or s is None else gy + b * h * s
                    for gy, s in zip(gys, gy_directions, strict=True)
                ]
                total += a * b * _weighted_sum(self.reference(self._moved(moved, h)), weights)
        return total / (4 * h * h)

    def double_gradients(
        self, gys: Sequence[np.ndarray | None], ggxs: Sequence[np.ndarray]
    ) -> tuple[list[Any], list[Any]]:
        """Returns the gradients of ``sum(ggx * gx)`` w.r.t. inputs and output gradients."""
        xs, ys = self.call(self.arrays(), self.moving)
        weights = [
            None if gy is None else Variable(self.send(gy, y.dtype, turn=1))
            for y, gy in zip(ys, gys, strict=True)
        ]
        started = [(y, w) for y, w in zip(ys, weights, strict=True) if w is not None]
        targets = [xs[i] for i in self.moving]
        gxs = grad(
            [y for y, _ in started], targets, [w for _, w in started], enable_double_backprop=True
        )
        reached = [(gx, ggx) for gx, ggx in zip(gxs, ggxs, strict=True) if gx is not None]
        sources = targets + [w for _, w in started]
        seconds = grad(
            [gx for gx, _ in reached],
            sources,
            [Variable(self.send(ggx), requires_grad=False) for _, ggx in reached],
        )
        hosts = [None if g is None else np.array(to_host(g)) for g in seconds]
        return hosts[: len(targets)], hosts[len(targets) :]


def _weighted_sum(ys: Sequence[np.ndarray], gys: Sequence[np.ndarray | None]) -> float:
    return sum(
        float((y.astype(np.float64) * gy).sum())
        for y, gy in zip(ys, gys, strict=True)
        if gy is not None
    )


def along(gradients: Sequence[Any], directions: Sequence[Any]) -> float:
    """Returns the sum of products of gradients (None for zero) and directions."""
    return sum(
        float((gradient.astype(np.float64) * direction).sum())
        for gradient, direction in zip(gradients, directions, strict=True)
        if gradient is not None and direction is not None
    )
