"""Convolution over one, two or three spatial axes, with groups, dilation, bias and fused ReLU."""

from __future__ import annotations

from collections.abc import Sequence

from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.buffers import allocate
from ideep4py._core.reorder import in_layout
from ideep4py._mdarray import mdarray, wrap
from ideep4py.ops._convolution_plans import (
    plan_backward_data,
    plan_backward_weights,
    plan_forward,
)
from ideep4py.ops._inputs import Array, data_of, hashable, vector
from ideep4py.ops._weights import weights_in, weights_out


def convolution(
    x: Array,
    W: Array,
    b: Array | None = None,
    *,
    stride: int | Sequence[int] = 1,
    pad: int | Sequence[int] = 0,
    dilate: int | Sequence[int] = 1,
    groups: int = 1,
    pad_after: int | Sequence[int] | None = None,
    out_size: Sequence[int] | None = None,
    relu: bool = False,
) -> mdarray:
    """Convolution (cross-correlation, as in every deep-learning framework).

    Args:
        x: input of shape (N, C, [D, [H,]] W), float32.
        W: filters of shape (O, C / groups, kernel...).
        b: bias of shape (O,), or None.
        stride: step of the window.
        pad: zeros in front of (and behind) each spatial axis.
        dilate: distance of the elements of the filter; 1 means adjacent.
        groups: number of groups of channels.
        pad_after: zeros behind each spatial axis; ``pad`` when None.
        out_size: spatial size of the output; ``pad_after`` follows from it when given.
        relu: apply ReLU to the output, at no extra cost.

    Returns:
        Array of shape (N, O, out...), in the layout oneDNN chose.

    Raises:
        TypeError: an argument is not an array, or not of dtype float32.
        ValueError: shapes do not fit, or an array is empty.

    Example:
        >>> import numpy as np
        >>> from ideep4py import ops
        >>> y = ops.convolution(np.ones((1, 3, 5, 5), 'f'), np.ones((8, 3, 3, 3), 'f'), pad=1)
        >>> y.shape, float(y[0, 0, 2, 2])
        ((1, 8, 5, 5), 27.0)
    """
    x_data, w_data = data_of(x, "x"), data_of(W, "W")
    found = runtime.plan(
        plan_forward,
        x_data[0],
        w_data[0].shape,
        b is not None,
        hashable(stride),
        hashable(pad),
        hashable(dilate),
        groups,
        hashable(pad_after),
        hashable(out_size),
        relu,
    )
    pointer = allocate(found.y.nbytes)
    # The order in which the plan binds its arguments; the bias is the last one if there is one.
    pointers = [in_layout(x_data, found.x), weights_in(w_data, found.w, groups), pointer]
    if b is not None:
        pointers.append(vector(b, "b", found.channels))
    found.run(*pointers)
    return wrap(found.y, pointer)


def prepare_weights(
    W: mdarray,
    x: Array | L.Layout,
    *,
    stride: int | Sequence[int] = 1,
    pad: int | Sequence[int] = 0,
    dilate: int | Sequence[int] = 1,
    bias: bool = True,
) -> mdarray:
    """Reorders filters in place into the layout that :func:`convolution` wants for such an input.

    Otherwise every call reorders them, which takes noticeable time for filters that are larger than
    the images. They keep the layout until NumPy accesses them; updates (:func:`sgd_update`, ...)
    and gradients work in it. Only for one group.

    Args:
        W: filters (O, C, kernel...), an mdarray.
        x: an input, or its layout.
        stride, pad, dilate: as given to :func:`convolution`.
        bias: whether there will be a bias.

    Returns:
        ``W`` itself.

    Raises:
        TypeError, ValueError: as :func:`convolution`.
    """
    if not isinstance(W, mdarray):
        raise TypeError(f"W must be an mdarray, got {type(W).__name__}")
    layout = x if isinstance(x, L.Layout) else data_of(x, "x")[0]
    geometry = (hashable(stride), hashable(pad), hashable(dilate))
    # The key of a plain call of convolution(), whose compiled plan is found again.
    found = runtime.plan(plan_forward, layout, W.shape, bias, *geometry, 1, None, None, False)
    W._data = found.w, in_layout(data_of(W, "W"), found.w)
    return W


def convolution_backward_data(
    gy: Array,
    W: Array,
    x_shape: Sequence[int],
    *,
    stride: int | Sequence[int] = 1,
    pad: int | Sequence[int] = 0,
    dilate: int | Sequence[int] = 1,
    groups: int = 1,
) -> mdarray:
    """Gradient of :func:`convolution` with respect to its input.

    This is a deconvolution (transposed convolution) without bias.

    Args:
        gy: gradient of the output, (N, O, out...).
        W: filters, (O, C / groups, kernel...).
        x_shape: shape of the input, (N, C, size...).
        stride, pad, dilate, groups: as given to :func:`convolution`; the padding behind follows
            from the shapes.

    Returns:
        Array of shape ``x_shape``.

    Raises:
        TypeError, ValueError: as :func:`convolution`.
    """
    gy_data, w_data = data_of(gy, "gy"), data_of(W, "W")
    run, gy_layout, w_layout, gx_layout = runtime.plan(
        plan_backward_data,
        gy_data[0],
        w_data[0].shape,
        tuple(x_shape),
        hashable(stride),
        hashable(pad),
        hashable(dilate),
        groups,
    )
    pointer = allocate(gx_layout.nbytes)
    run(in_layout(gy_data, gy_layout), weights_in(w_data, w_layout, groups), pointer)
    return wrap(gx_layout, pointer)


def convolution_backward_weights(
    x: Array,
    gy: Array,
    W_shape: Sequence[int],
    *,
    stride: int | Sequence[int] = 1,
    pad: int | Sequence[int] = 0,
    dilate: int | Sequence[int] = 1,
    groups: int = 1,
    bias: bool = False,
) -> tuple[mdarray, mdarray | None]:
    """Gradient of :func:`convolution` with respect to its filters and bias.

    Args:
        x: input, (N, C, size...).
        gy: gradient of the output, (N, O, out...).
        W_shape: shape of the filters, (O, C / groups, kernel...).
        stride, pad, dilate, groups: as given to :func:`convolution`; the padding behind follows
            from the shapes.
        bias: compute the gradient with respect to the bias as well.

    Returns:
        Gradient of shape ``W_shape``, and gradient of the bias of shape (O,) (None unless
        ``bias``).

    Raises:
        TypeError, ValueError: as :func:`convolution`.
    """
    x_data, gy_data = data_of(x, "x"), data_of(gy, "gy")
    w_shape = tuple(W_shape)
    found = runtime.plan(
        plan_backward_weights,
        x_data[0],
        gy_data[0],
        w_shape,
        hashable(stride),
        hashable(pad),
        hashable(dilate),
        groups,
        bias,
    )
    pointer = allocate(found.gw.nbytes)
    pointers = [in_layout(x_data, found.x), in_layout(gy_data, found.gy), pointer]
    gb = None
    if bias:
        gb = wrap(found.gb, allocate(found.gb.nbytes))
        pointers.append(gb._data[1])
    found.run(*pointers)
    # With groups, oneDNN's filters have an axis more than the array, whose layout therefore is
    # dense.
    return weights_out(found.gw, pointer, w_shape, groups), gb
