"""Selection of one element of each row."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.core.utils import type_check


class SelectItem(FunctionNode):
    """Takes the ``t[i]``-th element of row ``i``."""

    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 2)
        x_type, t_type = in_types
        type_check.expect(
            t_type.dtype.kind == "i",
            x_type.ndim == 2,
            t_type.ndim == 1,
            x_type.shape[0] == t_type.shape[0],
        )

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((1,))
        x, t = inputs
        if config.debug and not ((t >= 0) & (t < x.shape[1])).all():
            raise ValueError("Each label `t` need to satisfy `0 <= t < x.shape[1]`")
        return (x[self.xp.arange(len(t)), t],)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        if target_input_indexes[0] != 0:
            return (None,)
        (t,) = self.get_retained_inputs()
        gx = SelectItemGrad(self.inputs[0].shape).apply((grad_outputs[0], t))[0]  # type: ignore[index]
        return tuple([gx if i == 0 else None for i in target_input_indexes])


class SelectItemGrad(FunctionNode):
    """Puts an element into each row of a matrix of zeros."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape = shape

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((1,))
        gy, t = inputs
        gx = self.xp.zeros(self.shape, dtype=gy.dtype)
        gx[self.xp.arange(len(t)), t] = gy
        return (gx,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        if target_input_indexes[0] != 0:
            return (None,)
        (t,) = self.get_retained_inputs()
        ggy = SelectItem().apply((grad_outputs[0], t))[0]
        return tuple([ggy if i == 0 else None for i in target_input_indexes])


def select_item(x: Any, t: Any) -> Variable:
    """Selects elements stored in given indices: ``y[i] == x[i, t[i]]``.

    Args:
        x (Variable or array): Matrix of shape ``(N, K)``.
        t (Variable or array): Indices of shape ``(N,)``, integers in ``[0, K)``.

    Returns:
        Variable: Selected elements, shape ``(N,)``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: In debug mode, if an index is out of range.

    Example:
        >>> F.select_item(np.array([[0, 1, 2], [3, 4, 5]]), np.array([0, 2], np.int32))
        variable([0, 5])
    """
    return SelectItem().apply((x, t))[0]
