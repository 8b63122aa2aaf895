"""Fast Fourier transform."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, Variables
from chainer.core.utils import type_check
from chainer.core.utils.documentation import SharedSections
from chainer.functions.rules import LinearMap, expect_one_dtype
from chainer.functions.rules.batching import with_samples

_transform_sections = SharedSections(
    """
    Args:
        x (tuple): ``(real, imag)``: two Variables or arrays of the same shape ``(..., n)`` and
            dtype, floating point.

    Returns:
        tuple of Variable: Real and imaginary part of the transform.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If ``x`` does not have two elements.
    """
)


class FFT(LinearMap):
    """Fourier transform along the last axis, of real and imaginary part."""

    argument_names = ("real", "imag")

    type_check_key = ()

    def __init__(self, method: str) -> None:
        self.method = method

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        r_type, i_type = expect_one_dtype(in_types, 2)
        type_check.expect(
            r_type.ndim > 0,
            r_type.shape == i_type.shape,
        )

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        return self.apply(with_samples(inputs, are_batched, size))

    def forward(self, inputs: Arrays) -> Arrays:
        return self._transform(self.method, *inputs)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        given = next(g for g in grad_outputs if g is not None)
        # Where only one part of the output was used, the other has no gradient.
        zeros = self.xp.zeros_like(given)
        g_real, g_imag = [zeros if g is None else g for g in grad_outputs]
        # The adjoint of the transform is the inverse one without (or with) its factor 1 / n.
        n = given.shape[-1]
        if self.method == "fft":
            gradients = [g * float(n) for g in self._transform("ifft", g_real, g_imag)]
        else:
            gradients = [g * (1.0 / n) for g in self._transform("fft", g_real, g_imag)]
        return tuple([gradients[i] for i in target_input_indexes])

    def _transform(self, method: str, real: Array, imag: Array) -> Arrays:
        z = getattr(self.xp.fft, method)(real + imag * 1j)
        dtype = real.dtype
        return z.real.astype(dtype), z.imag.astype(dtype)


@_transform_sections()
def fft(x: Sequence[Any]) -> tuple[Variable, ...]:
    """Fast Fourier transform along the last axis.

    Example:
        >>> real, imag = F.fft((np.array([1., 0., 0., 0.]), np.zeros(4)))
        >>> real
        variable([1., 1., 1., 1.])
    """
    real, imag = _parts(x)
    return FFT("fft").apply((real, imag))


@_transform_sections()
def ifft(x: Sequence[Any]) -> tuple[Variable, ...]:
    """Inverse fast Fourier transform along the last axis.

    Example:
        >>> real, imag = F.ifft((np.ones(4), np.zeros(4)))
        >>> real
        variable([1., 0., 0., 0.])
    """
    real, imag = _parts(x)
    return FFT("ifft").apply((real, imag))


def _parts(x: Array) -> tuple[Any, Any]:
    parts = tuple(x)
    if len(parts) != 2:
        raise ValueError(
            "x must be a tuple of two variables, the real and the imaginary part, "
            f"got {len(parts)} elements"
        )
    return parts
