"""The changes that hooks of optimizers make to the gradients of many parameters at once."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation


class GradientHooks(Operation):
    """Changes of gradients in place, for parameters of one device and dtype.

    ``select(grad)``: one of the gradients; floating point. Optimizers use the operation for
    parameters on accelerators, and for contiguous NumPy arrays of one dtype where
    ``chainer.config.kernels`` asks for kernels.

    Below, ``entries`` is a list of tuples ``(param, grad, scale)``: two arrays of one shape, and a
    float or None. With a scale, ``grad`` is that multiple of the true gradient: the true gradient
    is changed, and the result is multiplied by the scale again. ``param`` has the dtype of
    ``grad``, or float32 where ``grad`` has 16 bits. ``grads`` is a list of arrays.

    Methods:
        ``weight_decay(entries, rate)``: ``grad += rate * param``.

        ``lasso(entries, rate)``: ``grad += rate * sign(param)``.

        ``clip(grads, low, high)``: limits every element to an interval.

        ``scale(grads, factor)``: multiplies by ``factor``, an array without dimensions, of the
        dtype of the gradients, or float32 where these have 16 bits.

        ``sum_of_squares(grads) -> total``: an array without dimensions; of float32 where gradients
        have 16 bits, else of their dtype, or of a wider dtype, in which squares do not overflow.
        ``grads`` has at least one element.
    """

    name = "gradient_hooks"
    methods = ("weight_decay", "lasso", "clip", "scale", "sum_of_squares")
    in_place = True
    reference = "chainer.backends.numpy.kernels.gradient_hooks:GradientHooksKernel"


gradient_hooks = GradientHooks()
