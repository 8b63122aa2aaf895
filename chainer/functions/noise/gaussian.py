"""Sampling from Gaussian distributions."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check
from chainer.core.utils.argument import parse_kwargs
from chainer.functions.math.exponential import exp


class Gaussian(FunctionNode):
    """Sampling from Gaussian distributions.

    Args:
        eps (array): Sample of the standard distribution; made at random if None.

    Attributes:
        eps: Sample of the standard distribution.
    """

    type_check_key = ()

    def __init__(self, eps: Any = None) -> None:
        self.eps = eps

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 2)
        mean_type, ln_var_type = in_types
        type_check.expect(
            mean_type.dtype.kind == "f",
            ln_var_type.dtype.kind == "f",
            mean_type.dtype == ln_var_type.dtype,
            mean_type.shape == ln_var_type.shape,
        )

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((1,))
        mean, ln_var = inputs
        if self.eps is None:
            self.eps = self.xp.random.standard_normal(ln_var.shape).astype(mean.dtype)
        elif self.eps.shape != ln_var.shape or self.eps.dtype != ln_var.dtype:
            raise ValueError(
                f"eps must have the shape and dtype of ln_var, {ln_var.shape} and {ln_var.dtype}, "
                f"got {self.eps.shape} and {self.eps.dtype}"
            )
        y = self._noise(ln_var)
        y += mean
        return (y,)

    def _noise(self, ln_var: Any) -> Any:
        noise = ln_var * ln_var.dtype.type(0.5)
        noise = self.xp.exp(noise)
        noise *= self.eps
        return noise

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        (ln_var,) = self.get_retained_inputs()
        (gy,) = grad_outputs
        return tuple(
            [
                gy if i == 0 else exp(ln_var * 0.5) * (self.eps * 0.5) * gy
                for i in target_input_indexes
            ]
        )

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (ln_var,) = self.retained_input_arrays
        (gy,) = grad_outputs
        gradients: list[Any] = []
        for i in target_input_indexes:
            if i == 0:
                gradients.append(gy)
            else:
                g = self._noise(ln_var)
                g *= gy
                g *= g.dtype.type(0.5)
                gradients.append(g)
        return tuple(gradients)


def gaussian(mean: Any, ln_var: Any, **kwargs: Any) -> Any:
    r"""gaussian(mean, ln_var, *, eps=None, return_eps=False)

    Gaussian sampling function.

    It takes mean :math:`\mu` and logarithm of the variance :math:`\log(\sigma^2)`, and draws a
    sample from the Gaussian distribution :math:`N(\mu, \sigma)`: ``mean + exp(ln_var / 2) * eps``
    with ``eps`` from the standard distribution.

    Args:
        mean (~chainer.Variable or array): Mean :math:`\mu`, floating point, any shape.
        ln_var (~chainer.Variable or array): Logarithm of the variance, shape and dtype of ``mean``.
        eps (array or None): The sample of the standard distribution to use. If None, it is
            generated randomly. Shape, dtype and device must be those of ``ln_var``.
        return_eps (bool): If True, ``eps`` is returned together with the output variable. It can be
            passed as ``eps`` later.

    Returns:
        ~chainer.Variable or tuple: The output variable, or the tuple of it and ``eps``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If shape or dtype of ``eps`` differ from those of ``ln_var``.

    Example:
        >>> mean, ln_var = np.ones((1, 2), np.float32), np.zeros((1, 2), np.float32)
        >>> F.gaussian(mean, ln_var, eps=np.array([[2, -3]], np.float32)).array
        array([[ 3., -2.]], dtype=float32)
    """
    eps, return_eps = None, False
    if kwargs:
        eps, return_eps = parse_kwargs(kwargs, ("eps", None), ("return_eps", False))
    node = Gaussian(eps.array if isinstance(eps, Variable) else eps)
    y = node.apply((mean, ln_var))[0]
    return (y, node.eps) if return_eps else y
