"""``f(x)`` for one array: oneDNN's eltwise primitive, forward and backward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.buffers import allocate
from ideep4py._core.library import HAS_AVX512, ffi, lib
from ideep4py._core.primitive import Primitive, attributes, describe
from ideep4py._core.reorder import Data, in_layout

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray

_TANH_OUT = C.ELTWISE_FROM_OUTPUT["tanh"]
_LOGISTIC_OUT = C.ELTWISE_FROM_OUTPUT["logistic"]
_LARGE = 16384  # elements from which two passes beat one
# The signs of input and output are equal: one gradient serves both.
_RELU = (C.ELTWISE["relu"], C.ELTWISE_FROM_OUTPUT["relu"])


def _forward_pd(layout: L.Layout, alg: int, alpha: float, beta: float):
    return describe(
        lib.dnnl_eltwise_forward_primitive_desc_create,
        "eltwise forward",
        C.TRAINING,
        alg,
        layout.md,
        layout.md,
        alpha,
        beta,
        attributes(),
    )


class _Forward:
    __slots__ = ("run",)

    def __init__(self, layout: L.Layout, alg: int, alpha: float, beta: float) -> None:
        # With a slope for negative numbers, ReLU is not a maximum.
        if alg == _RELU[0] and not alpha and layout.data_type == C.F32:
            self.run = _Relu(layout).run
            return
        pd = _forward_pd(layout, alg, alpha, beta)
        self.run = Primitive(pd, [(C.SRC, layout), (C.DST, layout)]).run


class _Relu:
    """``max(x, 0)`` that keeps NaN, which oneDNN's own ReLU turns into 0.

    The CPU's maximum returns its second operand if either is NaN. A second maximum, whose second
    operand is ``x``, brings NaN back and costs almost nothing.
    """

    __slots__ = ("_primitive", "_zero")

    def __init__(self, layout: L.Layout) -> None:
        layout = layout.flat()
        self._zero = ffi.new("float[1]", [0.0])
        number = L.dense((1,) * max(layout.ndim, 1))
        pd = describe(
            lib.dnnl_binary_primitive_desc_create,
            "ReLU",
            C.BINARY["max"],
            layout.md,
            number.md,
            layout.md,
            attributes([("binary", "max", layout)]),
        )
        arguments = [(C.SRC, layout), (C.SRC_1, number), (C.DST, layout)]
        self._primitive = Primitive(pd, [*arguments, (C.POST_OP_BASE | C.SRC_1, layout)])

    def run(self, x: AnyArray, out: Any) -> None:
        self._primitive.run(x, self._zero, out, x)


class _ReluBackward:
    """``gy * (saved > 0)``, faster than oneDNN's own gradient of ReLU.

    Measured: twice as fast with AVX2 (EPYC), 15 to 30% faster with AVX-512 (Xeon).
    """

    __slots__ = ("_primitive", "_zero")

    def __init__(self, layout: L.Layout) -> None:
        layout = layout.flat()
        self._zero = ffi.new("float[1]", [0.0])
        number = L.dense((1,) * max(layout.ndim, 1))
        pd = describe(
            lib.dnnl_binary_primitive_desc_create,
            "gradient of ReLU",
            C.BINARY["gt"],
            layout.md,
            number.md,
            layout.md,
            attributes([("binary", "mul", layout)]),
        )
        arguments = [(C.SRC, layout), (C.SRC_1, number), (C.DST, layout)]
        self._primitive = Primitive(pd, [*arguments, (C.POST_OP_BASE | C.SRC_1, layout)])

    def run(self, saved: Any, gy: AnyArray, out: Any) -> None:
        self._primitive.run(saved, self._zero, out, gy)


class _LeakyReluBackward:
    """``gy`` where ``signed > 0``, else ``slope * gy``, for slopes of either sign."""

    __slots__ = ("_primitive", "_zero")

    def __init__(self, layout: L.Layout, slope: float) -> None:
        layout = layout.flat()
        self._zero = ffi.new("float[1]", [0.0])
        number = L.dense((1,) * max(layout.ndim, 1))
        # The comparison yields 1 or 0, which becomes 1 or the slope. It is followed by the product
        # with gy: the second fused step, whose argument has an index of its own.
        factor = ("eltwise", "linear", 1.0 - slope, slope)
        pd = describe(
            lib.dnnl_binary_primitive_desc_create,
            "gradient of leaky ReLU",
            C.BINARY["gt"],
            layout.md,
            number.md,
            layout.md,
            attributes([factor, ("binary", "mul", layout)]),
        )
        arguments = [(C.SRC, layout), (C.SRC_1, number), (C.DST, layout)]
        arguments.append((C.POST_OP_BASE * 2 | C.SRC_1, layout))
        self._primitive = Primitive(pd, arguments)

    def run(self, signed: Any, gy: AnyArray, out: Any) -> None:
        self._primitive.run(signed, self._zero, out, gy)


class _SquashBackward:
    """Gradients of tanh and sigmoid from the output in two passes.

    With AVX2 they are faster than oneDNN's single pass (measured on EPYC), with AVX-512 slower.
    """

    __slots__ = ("_first", "_second", "_tanh")

    def __init__(self, layout: L.Layout, alg: int) -> None:
        layout = layout.flat()
        self._tanh = alg == _TANH_OUT
        complement = ("eltwise", "linear", -1.0, 1.0)
        create, md = lib.dnnl_binary_primitive_desc_create, layout.md
        three = [(C.SRC, layout), (C.SRC_1, layout), (C.DST, layout)]
        mul, what = C.BINARY["mul"], "gradient of tanh or sigmoid"
        if self._tanh:  # (1 - y * y) * gy
            pd = describe(create, what, mul, md, md, md, attributes([complement]))
            self._first = Primitive(pd, three)
            pd = describe(create, what, mul, md, md, md, attributes())
            self._second = Primitive(pd, three)
        else:  # (1 - y) * y * gy
            pd = _forward_pd(layout, C.ELTWISE["linear"], -1.0, 1.0)
            self._first = Primitive(pd, [(C.SRC, layout), (C.DST, layout)])
            pd = describe(create, what, mul, md, md, md, attributes([("binary", "mul", layout)]))
            self._second = Primitive(pd, [*three, (C.POST_OP_BASE | C.SRC_1, layout)])

    def run(self, y: AnyArray, gy: AnyArray, out: Any) -> None:
        if self._tanh:
            self._first.run(y, y, out)
            self._second.run(out, gy, out)
        else:
            self._first.run(y, out)
            self._second.run(out, y, out, gy)


class _Backward:
    __slots__ = ("run",)

    def __init__(self, layout: L.Layout, alg: int, alpha: float, beta: float, saved: int) -> None:
        if layout.data_type == C.F32:
            if alg in _RELU and not alpha:
                self.run = _ReluBackward(layout).run
                return
            squash = alg in (_TANH_OUT, _LOGISTIC_OUT) and layout.size >= _LARGE
            if squash and not HAS_AVX512:
                self.run = _SquashBackward(layout, alg).run
                return
        # oneDNN describes no gradient without the descriptor of its forward pass.
        hint = _forward_pd(layout, alg, alpha, beta)
        md = layout.md
        pd = describe(
            lib.dnnl_eltwise_backward_primitive_desc_create,
            "eltwise backward",
            alg,
            md,
            md,
            md,
            alpha,
            beta,
            hint,
            attributes(),
        )
        arguments = [(saved, layout), (C.DIFF_DST, layout), (C.DIFF_SRC, layout)]
        self.run = Primitive(pd, arguments).run


def forward(x: Data, alg: int, alpha: float = 0.0, beta: float = 0.0) -> Data:
    """A new array ``f(x)`` in the layout of ``x``."""
    layout, pointer = x
    out = allocate(layout.nbytes)
    runtime.plan(_Forward, layout, alg, alpha, beta).run(pointer, out)
    return layout, out


def forward_into(x: Data, out: Any, alg: int, alpha: float = 0.0, beta: float = 0.0) -> None:
    """``out[...] = f(x)``, where ``out`` points to an array in the layout of ``x``."""
    runtime.plan(_Forward, x[0], alg, alpha, beta).run(x[1], out)


def forward_inplace(x: Data, alg: int, alpha: float = 0.0, beta: float = 0.0) -> None:
    """``x[...] = f(x)``."""
    layout, pointer = x
    runtime.plan(_Forward, layout, alg, alpha, beta).run(pointer, pointer)


def backward(saved: Data, gy: Data, alg: int, alpha: float, beta: float, from_output: bool) -> Data:
    """``gy * f'(x)`` in the layout of ``saved``: the input, or the output if ``from_output``."""
    layout, pointer = saved
    gradient = in_layout(gy, layout)
    out = allocate(layout.nbytes)
    argument = C.DST if from_output else C.SRC
    found = runtime.plan(_Backward, layout, alg, alpha, beta, argument)
    found.run(pointer, gradient, out)
    return layout, out


def leaky_relu_backward(signed: Data, gy: Data, slope: float) -> Data:
    """``gy`` where ``signed > 0``, else ``slope * gy``, in the layout of ``signed``."""
    layout, pointer = signed
    gradient = in_layout(gy, layout)
    out = allocate(layout.nbytes)
    runtime.plan(_LeakyReluBackward, layout, slope).run(pointer, gradient, out)
    return layout, out
