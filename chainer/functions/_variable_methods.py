"""Operators and methods of Variable that are differentiable functions, by name.

The function pack registers them; :class:`~chainer.Variable` looks one up when it is first used.
"""

from __future__ import annotations

_BASIC = "chainer.functions.math.basic_math"
_MATMUL = "chainer.functions.math.matmul"

#: Name of the method -> lazy reference of a function whose first argument is the Variable.
VARIABLE_METHODS: dict[str, str] = {
    "__neg__": f"{_BASIC}:negative_operator",
    "__abs__": f"{_BASIC}:absolute",
    "__add__": f"{_BASIC}:add_operator",
    "__radd__": f"{_BASIC}:add_operator",
    "__sub__": f"{_BASIC}:subtract_operator",
    "__rsub__": f"{_BASIC}:reflected_subtract_operator",
    "__mul__": f"{_BASIC}:multiply_operator",
    "__rmul__": f"{_BASIC}:multiply_operator",
    "__truediv__": f"{_BASIC}:divide_operator",
    "__rtruediv__": f"{_BASIC}:reflected_divide_operator",
    "__floordiv__": f"{_BASIC}:floor_divide_operator",
    "__rfloordiv__": f"{_BASIC}:reflected_floor_divide_operator",
    "__pow__": f"{_BASIC}:power_operator",
    "__rpow__": f"{_BASIC}:reflected_power_operator",
    "__matmul__": f"{_MATMUL}:matmul_operator",
    "__rmatmul__": f"{_MATMUL}:reflected_matmul_operator",
    "__getitem__": "chainer.functions.array.get_item:get_item",
    "reshape": "chainer.functions.array.reshape:reshape_method",
    "transpose": "chainer.functions.array.transpose:transpose_method",
}
