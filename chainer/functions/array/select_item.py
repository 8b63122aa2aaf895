"""Selection of one element of each row."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, VariableLike
from chainer.core.utils import type_check
from chainer.functions._label_range import label_error
from chainer.functions.rules import PiecewiseLinearFunction


class SelectItem(PiecewiseLinearFunction):
    """Takes the ``t[i]``-th element of row ``i``."""

    argument_names = ("x", "t")

    type_check_key = ()
    retained_inputs = (1,)
    batch_inputs = (0, 1)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 2)
        x_type, t_type = in_types
        type_check.expect(
            t_type.dtype.kind == "i",
            x_type.ndim == 2,
            t_type.ndim == 1,
            x_type.shape[0] == t_type.shape[0],
        )

    def forward(self, inputs: Arrays) -> Arrays:
        x, t = inputs
        # On a device, checking values waits for it: in debug mode only.
        if config.debug and not ((t >= 0) & (t < x.shape[1])).all():
            raise ValueError("Each label `t` need to satisfy `0 <= t < x.shape[1]`")
        try:
            return (x[self.xp.arange(len(t)), t],)
        except IndexError as error:
            raise label_error(error, "t", t, x.shape[1]) from error

    def jvp(self, targets: Indexes, tangents: Arrays) -> Arrays:
        return self.forward((tangents[0], self.retained_input_arrays[0]))

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        (t,) = self.retained_input_arrays
        gy: Array = grad_outputs[0]
        gx = self.xp.zeros(self.input_shape(0), dtype=gy.dtype)
        gx[self.xp.arange(len(t)), t] = gy
        return tuple([None if i else gx for i in target_input_indexes])


def select_item(x: VariableLike, t: VariableLike) -> Variable:
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
