"""Gradients by finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy

from chainer.core.arrays.backend import backend_of, get_device_from_array
from chainer.core.config.configuration import using_config
from chainer.core.typing import Array, ArrayTree
from chainer.testing.array import to_host

#: Points at which the function is evaluated, in units of eps.
_POINTS = (-1.0, 1.0)
_POINTS_WITH_DETECTION = (-1.0, -0.5, 0.0, 0.5, 1.0)

#: A NumPy array.
_Host = Any


class GradientArgumentError(ValueError, AssertionError):
    """An argument of a gradient check does not fit. Earlier releases raise AssertionError."""


class NondifferentiableError(Exception):
    """Raised when a function is found not to be differentiable at the point in question."""


def numerical_grad(
    f: Callable[[], Any],
    inputs: Sequence[Any],
    grad_outputs: Sequence[Any],
    eps: float = 1e-3,
    detect_nondifferentiable: bool = False,
    diff_atol: float = 0,
    diff_rtol: float = 1e-2,
    center_outputs: Sequence[Any] | None = None,
) -> list[Any]:
    """Computes numerical gradient by finite differences.

    Each element of each input is moved up and down by ``eps``, in place, and ``f`` is evaluated.
    The result is the gradient of ``sum(sum(y * gy) for y, gy in zip(f(), grad_outputs))``. ``f``
    runs without type checks, so that wide inputs meet parameters of their own dtype. The step is
    measured after rounding to the dtype of the input, so that float16 and float32 inputs do not
    spoil the result.

    Args:
        f (callable): Python function with no arguments that runs forward computation and returns a
            tuple of arrays (or one array).
        inputs (tuple of arrays): Floating-point arrays that ``f`` reads. Each element of them is
            slightly modified to realize numerical gradient by finite differences, and restored
            afterwards.
        grad_outputs (tuple of arrays): Output gradients, of the shapes of the outputs. A scalar
            counts for every element; an output whose gradient is None is left out.
        eps (float): Epsilon value of finite differences.
        detect_nondifferentiable (bool): If True, it is checked whether ``f`` is differentiable at
            ``inputs``. It requires evaluation of ``f`` at 5 points instead of 2; the accuracy
            increases to the third order of ``eps``.
        diff_atol (float): Absolute tolerance of fitting error of non-differentiable point
            detection.
        diff_rtol (float): Tolerance of fitting error of non-differentiable point detection relative
            to the spread of the output values of ``f``.
        center_outputs (tuple of arrays or None): Only used if ``detect_nondifferentiable`` is True.
            Outputs of ``f`` at ``inputs``, if they are known already.

    Returns:
        list: Numerical gradient arrays corresponding to ``inputs``, of the same shapes, dtypes and
        devices.

    Raises:
        NondifferentiableError: If ``detect_nondifferentiable`` is True and ``f`` turns out to be
            non-differentiable, or is not defined everywhere in the neighborhood.
        RuntimeError: If the dtype of an input is not a floating-point type.
        GradientArgumentError: (a ValueError and an AssertionError) If the outputs do not fit
            ``grad_outputs``, or ``eps`` is not positive.
        ValueError: If ``eps`` is too small for the dtype.

    Example:
        >>> x = np.array([1., 2.], dtype=np.float64)
        >>> gx, = gradient_check.numerical_grad(lambda: (x * x,), (x,), (np.ones(2),))
        >>> np.round(gx, 6)
        array([2., 4.])
    """
    if not eps > 0:
        raise GradientArgumentError(f"eps must be positive, got {eps}")
    for i, x in enumerate(inputs):
        if x.dtype.kind != "f":
            raise RuntimeError(
                f"The dtype of input arrays must be kind of float, got {x.dtype} for inputs[{i}]"
            )
    function = _Function(f, grad_outputs)
    center = None
    if detect_nondifferentiable:
        center = function() if center_outputs is None else function.widen(center_outputs)
    gradients: list[Any] = []
    for i, x in enumerate(inputs):
        with get_device_from_array(x):
            gradient = _gradient_of_input(function, i, x, eps, center, diff_atol, diff_rtol)
        gradients.append(gradient)
    return gradients


class _Function:
    """The function under test: outputs as wide host arrays, checked against the gradients."""

    def __init__(self, f: Callable[[], Any], grad_outputs: Sequence[Any]) -> None:
        self._f = f
        self.gys = tuple(None if gy is None else _widen(to_host(gy)) for gy in grad_outputs)
        #: Relative rounding error of each output.
        self.resolutions = [0.0] * len(self.gys)

    def __call__(self) -> list[_Host]:
        with using_config("type_check", False):
            return self.widen(self._f())

    def widen(self, ys: ArrayTree) -> list[_Host]:
        """Returns outputs as wide host arrays; None where no gradient is given."""
        results = tuple(cast("list[Any]", ys)) if isinstance(ys, (tuple, list)) else (ys,)
        if len(results) != len(self.gys):
            raise GradientArgumentError(
                f"f returned {len(results)} outputs, but there are {len(self.gys)} grad_outputs"
            )
        hosts: list[_Host] = []
        for i, (y, gy) in enumerate(zip(results, self.gys, strict=True)):
            if gy is None:
                hosts.append(None)
                continue
            y = to_host(y)
            if gy.ndim and y.shape != gy.shape:
                raise GradientArgumentError(
                    f"grad_outputs[{i}] has shape {gy.shape}, but the output has {y.shape}"
                )
            if y.dtype.kind in "fc":
                self.resolutions[i] = float(numpy.finfo(y.dtype).eps)
            hosts.append(_widen(y))
        return hosts

    def slope(self, outputs: list[list[_Host]], steps: list[float]) -> float:
        """Returns the derivative at 0 of the polynomial through the weighted outputs."""
        weights = _derivative_weights(tuple(steps))
        total = 0.0
        for i, gy in enumerate(self.gys):
            if gy is None:
                continue
            # Differences first: the common part of large outputs would swallow the digits.
            reference = outputs[0][i]
            changes: Any = [ys[i] - reference for ys in outputs[1:]]
            slope: Any = sum(w * dy for w, dy in zip(weights[1:], changes, strict=True))
            total += float((slope * gy).sum().real)
        return total


def _gradient_of_input(
    function: _Function,
    i_in: int,
    x: Array,
    eps: float,
    center: list[_Host] | None,
    diff_atol: float,
    diff_rtol: float,
) -> Any:
    backend = backend_of(x)
    original = backend.to_host(x).copy()
    gradient = numpy.empty(original.shape, numpy.float64)
    points = _POINTS if center is None else _POINTS_WITH_DETECTION
    for index in numpy.ndindex(original.shape):
        value = original[index]
        steps: list[float] = []
        outputs: list[list[_Host]] = []
        try:
            for point in points:
                moved = original.dtype.type(float(value) + point * eps)
                # An infinite input does not move. With the nominal step the slope is NaN.
                finite = numpy.isfinite(value)
                steps.append(float(moved) - float(value) if finite else point * eps)
                if point == 0 and center is not None:
                    outputs.append(center)
                    continue
                x[index] = moved
                outputs.append(function())
        finally:
            x[index] = value
        if len(set(steps)) < len(steps):
            raise ValueError(
                f"eps={eps} is too small for {original.dtype}: inputs[{i_in}]{list(index)} = "
                f"{value} does not change; use a larger eps or arrays of a wider dtype"
            )
        if center is not None:
            where = f"i_in: {i_in}\n{{}}x: {value}\nindex on x: {index}\neps: {eps}\n"
            _detect(function, outputs, steps, where, diff_atol, diff_rtol)
        with numpy.errstate(invalid="ignore"):  # differences of infinite outputs are NaN
            gradient[index] = function.slope(outputs, steps)
    return backend.from_host(gradient.astype(original.dtype), backend.device_of(x))


def _widen(array: _Host) -> _Host:
    """Returns a float64 (or complex128) copy: later calls may overwrite the array."""
    return array.astype(numpy.result_type(array.dtype, numpy.float64))


def _derivative_weights(steps: tuple[float, ...]) -> _Host:
    """Returns ``w`` with ``p'(0) = sum(w * p(steps))`` for every polynomial of fitting degree."""
    if len(steps) == 2:
        width = steps[1] - steps[0]
        return numpy.array([-1 / width, 1 / width])
    scale = max(map(abs, steps))
    powers = numpy.vander(numpy.array(steps) / scale, increasing=True).T
    unit = numpy.zeros(len(steps))
    unit[1] = 1
    return numpy.linalg.solve(powers, unit) / scale


def _detect(
    function: _Function,
    outputs: list[list[_Host]],
    steps: list[float],
    where: str,
    diff_atol: float,
    diff_rtol: float,
) -> None:
    """Raises if a quadratic polynomial does not fit the outputs."""
    names = ("x-eps  ", "x-eps/2", "x      ", "x+eps/2", "x+eps  ")
    grid = numpy.array(steps) / max(map(abs, steps))
    basis = numpy.vander(grid, 3)
    # Residuals of a vector after its best quadratic fit.
    residual_maker = numpy.eye(len(steps)) - basis @ numpy.linalg.pinv(basis)
    for i in range(len(outputs[0])):
        if outputs[0][i] is None:
            continue
        ys: Any = numpy.array([y[i].ravel() for y in outputs])
        report = [
            "Tried to compute the numeric gradient on a non-differentiable point.\n",
            where.format(f"i_out: {i}\n").rstrip(),
        ]
        values = [f"y[{name}]: {y}" for name, y in zip(names, ys, strict=True)]
        finite = numpy.isfinite(ys)
        if (finite.any(axis=0) & ~finite.all(axis=0)).any():
            raise NondifferentiableError("\n".join(report + values))
        ys = numpy.where(finite, ys, 0)
        low, high = ys.min(axis=0), ys.max(axis=0)
        errors = numpy.sqrt(((residual_maker @ (ys - low)) ** 2).mean(axis=0))
        # A few units in the last place are rounding of f, not a kink.
        rounding = 8 * function.resolutions[i] * numpy.abs(ys).max(axis=0)
        tolerance = diff_atol + diff_rtol * (high - low) + rounding
        if (errors > tolerance).any():
            report += [
                f"diff_rtol: {diff_rtol}",
                f"diff_atol: {diff_atol}",
                f"ymax: {high}",
                f"ymin: {low}",
                f"diff_atol + diff_rtol * (ymax-ymin): {diff_atol + diff_rtol * (high - low)}",
                f"fitting errors: {errors}",
            ]
            raise NondifferentiableError("\n".join(report + values))
