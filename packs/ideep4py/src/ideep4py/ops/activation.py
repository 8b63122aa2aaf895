"""Elementwise functions of one array and their gradients."""

from __future__ import annotations

from ideep4py._core import constants as C
from ideep4py._kernels.elementwise import (
    backward,
    forward,
    forward_inplace,
)
from ideep4py._kernels.elementwise import (
    leaky_relu_backward as leaky_gradient,
)
from ideep4py._mdarray import mdarray, wrap
from ideep4py.ops._inputs import Array, data_of, same_shape
from ideep4py.ops.batch_normalization import FixedNormalization

FUNCTIONS = tuple(C.ELTWISE)
"""Names for :func:`eltwise`.

``relu`` (``alpha``: slope for x < 0), ``tanh``, ``elu`` (``alpha``), ``square``, ``abs``,
``sqrt``, ``linear`` (``alpha * x + beta``), ``soft_relu`` (``log(1 + exp(alpha * x)) / alpha``),
``hardsigmoid`` (``max(0, min(1, alpha * x + beta))``), ``logistic`` (sigmoid), ``exp``,
``gelu_tanh``, ``gelu_erf``, ``swish`` (``x * sigmoid(alpha * x)``), ``log``, ``clip`` and
``clip_v2`` (to ``alpha .. beta``; they differ in the gradient at the bounds), ``pow`` (``alpha * x
** beta``), ``round``, ``mish``, ``hardswish`` (``x * max(0, min(1, alpha * x + beta))``).
"""

FROM_OUTPUT = tuple(C.ELTWISE_FROM_OUTPUT)
"""Functions whose gradient :func:`eltwise_backward` computes from the output alone."""


def _algorithm(name: str) -> int:
    try:
        return C.ELTWISE[name]
    except KeyError:
        raise ValueError(f"name must be one of {', '.join(FUNCTIONS)}, got {name!r}") from None


def eltwise(x: Array, name: str, alpha: float = 0.0, beta: float = 0.0) -> mdarray:
    """A function of :data:`FUNCTIONS` of each element, in the layout of ``x``.

    Args:
        x: any shape.
        name: function.
        alpha, beta: its parameters.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    algorithm = _algorithm(name)
    return wrap(*forward(data_of(x, "x"), algorithm, float(alpha), float(beta)))


def eltwise_inplace(x: mdarray, name: str, alpha: float = 0.0, beta: float = 0.0) -> mdarray:
    """The same, overwriting ``x``, which is returned."""
    algorithm = _algorithm(name)
    if not isinstance(x, mdarray):
        raise TypeError(f"x must be an mdarray to be overwritten, got {type(x).__name__}")
    forward_inplace(data_of(x, "x"), algorithm, float(alpha), float(beta))
    return x


def eltwise_backward(
    saved: Array,
    gy: Array,
    name: str,
    alpha: float = 0.0,
    beta: float = 0.0,
    *,
    from_output: bool = False,
) -> mdarray:
    """Gradient of :func:`eltwise` with respect to its input.

    Args:
        saved: the input; the output when ``from_output`` is true.
        gy: gradient of the output.
        name, alpha, beta: as in the forward pass.
        from_output: compute from the output (functions of :data:`FROM_OUTPUT`; ``relu`` and
            ``elu`` with ``alpha >= 0``).

    Returns:
        Array in the layout of ``saved``.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    algorithm = _algorithm(name)
    if from_output:
        if name not in C.ELTWISE_FROM_OUTPUT:
            raise ValueError(f"the gradient of {name} needs the input: from_output must be False")
        if alpha < 0 and name in ("relu", "elu"):
            raise ValueError(f"from_output needs alpha >= 0 for {name}, got {alpha}")
        algorithm = C.ELTWISE_FROM_OUTPUT[name]
    data, gradient = data_of(saved, "saved"), data_of(gy, "gy")
    same_shape(gradient, "gy", data[0].shape, "saved")
    return wrap(*backward(data, gradient, algorithm, float(alpha), float(beta), from_output))


_RELU = C.ELTWISE["relu"]
_TANH = C.ELTWISE["tanh"]
_LOGISTIC = C.ELTWISE["logistic"]
_RELU_OUT = C.ELTWISE_FROM_OUTPUT["relu"]
_TANH_OUT = C.ELTWISE_FROM_OUTPUT["tanh"]
_LOGISTIC_OUT = C.ELTWISE_FROM_OUTPUT["logistic"]


def _from_output(y: Array, gy: Array, algorithm: int, alpha: float = 0.0) -> mdarray:
    data, gradient = data_of(y, "y"), data_of(gy, "gy")
    same_shape(gradient, "gy", data[0].shape, "y")
    return wrap(*backward(data, gradient, algorithm, alpha, 0.0, True))


def relu(x: Array, slope: float = 0.0) -> mdarray:
    """``max(x, 0) + slope * min(x, 0)``: ReLU, leaky ReLU. NaN stays NaN."""
    if type(x) is mdarray and not slope:
        recipe = x._recipe
        # The normalization is not computed yet: one pass over memory can apply both.
        if isinstance(recipe, FixedNormalization):
            return recipe.with_relu()
    return wrap(*forward(data_of(x, "x"), _RELU, float(slope), 0.0))


def relu_backward(y: Array, gy: Array, slope: float = 0.0) -> mdarray:
    """Gradient of :func:`relu` from its output (or its input: the signs are the same for ``slope
    >= 0``).
    """
    if slope < 0:
        raise ValueError(
            f"slope must be at least 0, got {slope}: use eltwise_backward on the input"
        )
    return _from_output(y, gy, _RELU_OUT, float(slope))


def leaky_relu_backward(signed: Array, gy: Array, slope: float) -> mdarray:
    """Gradient of leaky :func:`relu`, which at 0 is the slope.

    Args:
        signed: the input, or, for ``slope > 0``, the output: its signs are the same.
        gy: gradient of the output.
        slope: as in the forward pass.

    Returns:
        ``gy`` where ``signed > 0``, else ``slope * gy``, in the layout of ``signed``.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    data, gradient = data_of(signed, "signed"), data_of(gy, "gy")
    same_shape(gradient, "gy", data[0].shape, "signed")
    return wrap(*leaky_gradient(data, gradient, float(slope)))


def tanh(x: Array) -> mdarray:
    """Hyperbolic tangent."""
    return wrap(*forward(data_of(x, "x"), _TANH))


def tanh_backward(y: Array, gy: Array) -> mdarray:
    """Gradient of :func:`tanh` from its output."""
    return _from_output(y, gy, _TANH_OUT)


def sigmoid(x: Array) -> mdarray:
    """``1 / (1 + exp(-x))``."""
    return wrap(*forward(data_of(x, "x"), _LOGISTIC))


def sigmoid_backward(y: Array, gy: Array) -> mdarray:
    """Gradient of :func:`sigmoid` from its output."""
    return _from_output(y, gy, _LOGISTIC_OUT)
