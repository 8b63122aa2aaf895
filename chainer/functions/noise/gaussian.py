"""Sampling from Gaussian distributions."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, Arrays, Indexes, VariableLike
from chainer.core.utils.argument import explained_keywords
from chainer.functions.array.cast import in_dtype
from chainer.functions.noise._given import fit
from chainer.functions.rules import ExpressionFunction, Ops, Value, Values, expect_two_equal_floats


class Gaussian(ExpressionFunction):
    """Sampling from Gaussian distributions.

    Args:
        eps (array): Sample of the standard distribution; made at random if None.

    Attributes:
        eps: Sample of the standard distribution.
    """

    argument_names = ("mean", "ln_var")

    type_check_key = ()
    check_type_forward = expect_two_equal_floats
    retained_inputs = (1,)

    def __init__(self, eps: Array | None = None) -> None:
        self.eps = eps

    @property
    def noise(self) -> Array | None:
        """The noise added to the mean, ``exp(ln_var / 2) * eps``; None before the function ran."""
        # Computed when a program asks: the function itself keeps only the sample.
        if self.eps is None or self.inputs is None:
            return None
        return self.xp.exp(self.retained_input_arrays[0] * 0.5).astype(self.eps.dtype) * self.eps

    def forward(self, inputs: Arrays) -> Arrays:
        mean, ln_var = inputs
        if self.eps is None:
            self.eps = self.xp.random.standard_normal(ln_var.shape).astype(mean.dtype)
        elif self.eps.shape != ln_var.shape or self.eps.dtype != ln_var.dtype:
            raise ValueError(
                f"eps must have the shape and dtype of ln_var, {ln_var.shape} and {ln_var.dtype}, "
                f"got {self.eps.shape} and {self.eps.dtype}"
            )
        y = self.xp.exp(ln_var * ln_var.dtype.type(0.5))
        y *= self.eps
        y += mean
        return (y,)

    def gradients(self, ops: Ops, targets: Indexes, ln_var: Value, gy: Value) -> Values:
        # A number of the same dtype: numbers of Python promote bfloat16.
        half = ln_var.dtype.type(0.5)
        gradients: list[Any] = []
        for i in targets:
            if i == 0:
                gradients.append(gy)
            else:
                g = ops.exp(ln_var * half)
                g *= self.eps
                g *= half
                g *= gy
                gradients.append(g)
        return tuple(gradients)


@explained_keywords
def gaussian(
    mean: VariableLike,
    ln_var: VariableLike,
    *,
    eps: VariableLike | None = None,
    return_eps: bool = False,
) -> Any:
    r"""Gaussian sampling function.

    It takes mean :math:`\mu` and logarithm of the variance :math:`\log(\sigma^2)`, and draws a
    sample from the Gaussian distribution :math:`N(\mu, \sigma)`: ``mean + exp(ln_var / 2) * eps``
    with ``eps`` from the standard distribution.

    Args:
        mean (~chainer.Variable or array): Mean :math:`\mu`, floating point, any shape.
        ln_var (~chainer.Variable or array): Logarithm of the variance, shape and dtype of ``mean``.
        eps (array or None): The sample of the standard distribution to use. If None, it is
            generated randomly. It is on the device of ``ln_var`` and broadcast to its shape. If the
            dtypes differ, the output has the one that NumPy promotes both to.
        return_eps (bool): If True, ``eps`` is returned together with the output variable. It can be
            passed as ``eps`` later.

    Returns:
        ~chainer.Variable or tuple: The output variable, or the tuple of it and ``eps``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If ``eps`` cannot be broadcast to the shape of ``ln_var``.

    Example:
        >>> mean, ln_var = np.ones((1, 2), np.float32), np.zeros((1, 2), np.float32)
        >>> F.gaussian(mean, ln_var, eps=np.array([[2, -3]], np.float32)).array
        array([[ 3., -2.]], dtype=float32)
    """
    given = eps.array if isinstance(eps, Variable) else eps
    fitted = given
    # Where the dtypes of the two inputs differ, the check of types refuses them.
    if given is not None and mean.dtype == ln_var.dtype:
        fitted, ln_var = fit("eps", given, ln_var)
        mean = in_dtype(mean, ln_var.dtype)
    node = Gaussian(fitted)
    y = node.apply((mean, ln_var))[0]
    return (y, node.eps if given is None else given) if return_eps else y
