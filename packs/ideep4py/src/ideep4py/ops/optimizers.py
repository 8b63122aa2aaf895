"""Parameter updates in few passes over memory, by oneDNN's binary primitive and post-operations.

Parameter, gradient and state are float32 mdarrays of one shape. The state is updated in the
parameter's layout; it should be made with that layout (``parameter.copy()``,
``ops.zeros_like(parameter)``), a gradient in another layout is reordered. Learning rates are data,
not constants of the compiled code: they may change in every step.
"""

from __future__ import annotations

from typing import Any

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.buffers import allocate
from ideep4py._core.library import ffi, lib
from ideep4py._core.primitive import Primitive, attributes, describe
from ideep4py._core.reorder import Data, in_layout
from ideep4py._kernels.accumulate import scaled_add_inplace
from ideep4py._kernels.binary import binary_inplace
from ideep4py._mdarray import mdarray, wrap
from ideep4py.ops._inputs import Array, data_of, same_shape


def zeros_like(parameter: mdarray) -> mdarray:
    """An array of zeros in the shape and layout of ``parameter``."""
    layout, _ = data_of(parameter, "parameter")
    pointer = allocate(layout.nbytes)
    lib.memset(pointer, 0, layout.nbytes)
    return wrap(layout, pointer)


def _arguments(parameter: mdarray, gradient: Array, **states: mdarray) -> list[Data]:
    """Data of the parameter, of the gradient in its layout, and of the states, which must have
    that layout.
    """
    for name, array in {"parameter": parameter, **states}.items():
        if not isinstance(array, mdarray):
            raise TypeError(f"{name} must be an mdarray, got {type(array).__name__}")
    target = data_of(parameter, "parameter")
    layout = target[0]
    source = data_of(gradient, "gradient")
    same_shape(source, "gradient", layout.shape, "parameter")
    result = [target, (layout, in_layout(source, layout))]
    for name, array in states.items():
        data = data_of(array, name)
        same_shape(data, name, layout.shape, "parameter")
        if data[0] is not layout:  # the parameter's layout changed since the state was made
            array._data = data = layout, in_layout(data, layout)
        result.append(data)
    return result


def sgd_update(parameter: mdarray, gradient: Array, lr: float) -> None:
    """``parameter -= lr * gradient``, one pass.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    target, source = _arguments(parameter, gradient)
    scaled_add_inplace(target, source, -float(lr), 1.0)


def momentum_sgd_update(
    parameter: mdarray, gradient: Array, velocity: mdarray, lr: float, momentum: float = 0.9
) -> None:
    """``velocity = momentum * velocity - lr * gradient; parameter += velocity``, two passes.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    target, source, state = _arguments(parameter, gradient, velocity=velocity)
    scaled_add_inplace(state, source, -float(lr), float(momentum))
    binary_inplace("add", target, state)


class _Chain:
    """``out = post_ops(f(x, y))``: one pass of the binary primitive over vectors, ``y`` of length
    1 or as ``x``.
    """

    __slots__ = ("run",)

    def __init__(self, x: L.Layout, name: str, is_number: bool, post_ops: tuple[Any, ...]) -> None:
        vector = x.flat()
        number = L.dense((1,) * vector.ndim)
        y = number if is_number else vector
        steps = [("binary", step[1], number) if step[0] == "scale" else step for step in post_ops]
        pd = describe(
            lib.dnnl_binary_primitive_desc_create,
            "update of a parameter",
            C.BINARY[name],
            vector.md,
            y.md,
            vector.md,
            attributes(steps),
        )
        arguments = [(C.SRC, vector), (C.SRC_1, y), (C.DST, vector)]
        for i, step in enumerate(post_ops):
            if step[0] == "scale":
                arguments.append((C.POST_OP_BASE * (i + 1) | C.SRC_1, number))
        self.run = Primitive(pd, arguments).run


def adam_update(
    parameter: mdarray,
    gradient: Array,
    m: mdarray,
    v: mdarray,
    lr: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
) -> None:
    """Adam (Kingma and Ba 2015), four passes.

    ``m += (1 - beta1) * (gradient - m); v += (1 - beta2) * (gradient ** 2 - v);``
    ``parameter -= lr * m / (sqrt(v) + eps)``. The correction of the bias is part of ``lr``.

    Args:
        parameter: what to update.
        gradient: its gradient.
        m, v: first and second moment, updated in place.
        lr: learning rate of this step, ``alpha * sqrt(1 - beta2 ** t) / (1 - beta1 ** t)``. Not 0.
        beta1, beta2, eps: parameters, compiled in; ``eps`` is greater than 0.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    if not lr:
        raise ValueError("lr must not be 0")
    # In the padding of blocks both moments are 0, and 0 / eps is 0, where 0 / 0 would be NaN.
    if eps <= 0:
        raise ValueError(f"eps must be greater than 0, got {eps}")
    target, source, first, second = _arguments(parameter, gradient, m=m, v=v)
    layout, g = source
    scaled_add_inplace(first, source, 1.0 - beta1, beta1)
    # The primitive multiplies the gradient by itself; the fused steps scale it and add the old
    # moment.
    square = (("eltwise", "linear", 1.0 - beta2, 0.0), ("sum", beta2))
    runtime.plan(_Chain, layout, "mul", False, square).run(g, g, second[1])
    # The divisor gets the factor -1 / lr, so that the division and a fused sum update the
    # parameter. The factor is data: a constant of the code would compile anew for each learning
    # rate.
    one, scale = ffi.new("float[1]", [1.0]), ffi.new("float[1]", [-1.0 / lr])
    root = (("eltwise", "sqrt", 0.0, 0.0), ("eltwise", "linear", 1.0, eps), ("scale", "mul"))
    divisor = allocate(layout.nbytes)
    runtime.plan(_Chain, layout, "mul", True, root).run(second[1], one, divisor, scale)
    runtime.plan(_Chain, layout, "div", False, (("sum", 1.0),)).run(first[1], divisor, target[1])
