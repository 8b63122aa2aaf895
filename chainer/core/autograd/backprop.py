"""Backpropagation from one variable (:meth:`chainer.Variable.backward`)."""

# The gradient of a variable belongs to core.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy

from chainer.core.arrays.backend import backend_of
from chainer.core.autograd.accumulate import Scalar, add_arrays
from chainer.core.autograd.collector_pacing import pacing
from chainer.core.autograd.engine import BackwardPass
from chainer.core.autograd.gradient_arrays import check_gradient
from chainer.core.autograd.lazy_gradient import LazyGradient
from chainer.core.autograd.variable_node import GRAD_WAS_SET, dead_leaves
from chainer.core.autograd.watched_backward import WatchedPass
from chainer.core.config.configuration import using_config
from chainer.core.misuse import MisuseWarning

if TYPE_CHECKING:
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.autograd.variable import Variable
    from chainer.core.autograd.watched_backward import OnComplete
    from chainer.core.typing import Array

_ndarray = numpy.ndarray

#: Warning about roots of shape (1,), (1, 1) and so on.
_ONE_ELEMENT = (
    "Treating a variable with only one element as a scalar in Variable.backward is deprecated. A "
    "scalar variable must be a 0-dimensional array. Apply chainer.functions.squeeze to obtain a "
    "scalar variable. If the size of this variable accidentally becomes one, set zero to grad."
)


def backward(
    root: Variable,
    retain_grad: bool,
    enable_double_backprop: bool,
    loss_scale: float | None,
    on_complete: OnComplete | None = None,
) -> None:
    """Implements :meth:`chainer.Variable.backward`, and ``backward_watched()``."""
    node = root.node
    creator = node._creator_node
    given = root.grad
    # A leaf that requires a gradient gets one, as in release 7.
    if given is None and not root.requires_grad and (creator is None or creator.inputs):
        warnings.warn(
            "backward() has no effect: the variable was computed from arrays, or from "
            "variables that require no gradient",
            MisuseWarning,
            stacklevel=3,
        )
    if given is None and root.size == 1:
        if root.ndim != 0:
            warnings.warn(_ONE_ELEMENT, DeprecationWarning, stacklevel=3)
        _start(root, initial_gradient(root.array, loss_scale))
    if creator is None:
        return
    if not creator._targets:
        _use_up_gradients(root, creator)
        return
    if on_complete is None:
        backward_pass = BackwardPass(enable_double_backprop, retain_grad)
        if dead_leaves:
            backward_pass.leave_out_unread(node)
    else:
        if loss_scale is not None:
            on_complete = _with_loss_scale(on_complete, loss_scale)
        backward_pass = WatchedPass(node, on_complete, enable_double_backprop, retain_grad)
    unseeded = None
    if root.grad is None:
        _check_needs_no_gradient(root, creator)
        unseeded = creator
    else:
        backward_pass.sums.add(node, root.grad_var if backward_pass.on_variables else root.grad)
    if retain_grad:
        given = root.grad
        backward_pass.keep_seed(node, root)
    else:
        # Another output may be alive only as this gradient. It takes part in the pass.
        _kept = root._grad_var
        root.cleargrad()
        node._marks &= ~GRAD_WAS_SET
    if given is not None:
        backward_pass.delivery.mark_borrowed(given)
    backward_pass.run([node], unseeded)
    deliver_to_leaves(backward_pass, enable_double_backprop, loss_scale)
    pacing.restore_with(node)


def _start(root: Variable, gradient: Array) -> None:
    """Sets the initial gradient of a root."""
    if type(gradient) is _ndarray and type(root._array) is _ndarray:
        # Made for the array just now, so that the checks of a gradient of the user are left out.
        root._gradient = gradient
        root._mark_grad_set()
    else:
        root.grad = gradient


def backward_watched(
    root: Variable, on_complete: OnComplete, loss_scale: float | None = None
) -> None:
    """Differentiates like :meth:`chainer.Variable.backward`, and reports each complete gradient.

    Programs use it to send gradients of some parameters to other processes while the gradients of
    other parameters are still computed. As always, gradients are stored in the variables at the
    end.

    Args:
        root: Variable to start from.
        on_complete: Function of a leaf and an array. The array is the sum that this pass adds to
            the gradient of the leaf. The function is called as soon as the sum is complete, and
            must not change the array. If it returns True, the gradient is not stored in the leaf,
            and its memory is freed.
        loss_scale: Factor of the gradient of the root. Leaves have it as ``loss_scale``, also those
            whose gradient is not stored.
    """
    backward(root, False, False, loss_scale, on_complete)


def _with_loss_scale(on_complete: OnComplete, loss_scale: float) -> OnComplete:
    """Returns a callback that gives leaves their loss scale: it may take the gradient."""

    def complete(variable: Variable, gradient: Array) -> bool | None:
        variable.loss_scale = loss_scale
        return on_complete(variable, gradient)

    return complete


def _use_up_gradients(root: Variable, creator: FunctionNode) -> None:
    """Clears the gradients of a function's outputs whose inputs require no gradient.

    As in release 7, they are used up, even if gradients are retained, and nothing is computed.
    """
    root.cleargrad()
    for reference in creator.outputs or ():
        node = reference()
        if node is not None and node._creator_node is creator:
            variable = node.get_variable_or_none()
            if variable is not None:
                variable.cleargrad()


class InitialGradientError(ValueError, TypeError):
    """A root of several elements has no gradient.

    Also a TypeError, which functions raised in earlier releases.
    """


def _check_needs_no_gradient(root: Variable, creator: FunctionNode) -> None:
    """Raises an error if the root has no gradient and the rule of its creator needs one.

    Functions that users define are accepted: their rules get None as the gradient of the output.
    Rules of this package would fail, or return nothing, without saying why.
    """
    function = getattr(creator, "function", creator)  # the one behind an adapter
    if type(function).__module__.partition(".")[0] == "chainer":
        raise InitialGradientError(
            f"backward() from a variable of shape {root.shape} needs an initial gradient: set "
            "its 'grad' to an array of the same shape, or reduce it to one element first"
        )


def initial_gradient(array: Array, loss_scale: float | None) -> Array:
    """Returns the gradient of a root for which the user gave none: ones, or the loss scale.

    Args:
        array: Array of the root.
        loss_scale: Factor the gradient is multiplied by; None for one.
    """
    if type(array) is _ndarray:  # has one device, which need not be made current
        grad = numpy.empty(array.shape, array.dtype)
        grad.fill(1 if loss_scale is None else loss_scale)
        return grad
    backend = backend_of(array)
    with backend.use(backend.device_of(array)):
        grad = backend.xp.empty(array.shape, array.dtype)
        grad.fill(1 if loss_scale is None else loss_scale)  # takes less time than full_like
    return grad


def deliver_to_leaves(
    backward_pass: BackwardPass, create_graph: bool, loss_scale: float | None
) -> None:
    """Adds the results of a backward pass to the gradients of the leaves.

    Args:
        backward_pass: A pass that was run without targets, so that the sums that remain in it are
            gradients of leaves.
        create_graph: Whether gradients can be differentiated in turn.
        loss_scale: Factor by which update rules have to divide the gradients.
    """
    sums = backward_pass.sums
    if not backward_pass.on_variables:
        for node in list(sums.sums):
            variable = node.get_variable_or_none()
            if variable is not None:
                if loss_scale is not None:
                    variable.loss_scale = loss_scale
                _add_array(backward_pass, variable, sums.sums[node])
        return
    with using_config("enable_backprop", create_graph):
        for node in list(sums.sums):
            variable = node.get_variable_or_none()
            if variable is None:
                continue
            if loss_scale is not None:
                variable.loss_scale = loss_scale
            previous = variable.grad_var
            total = sums.pop(node)
            if previous is not None:
                total = previous + total
            if create_graph:
                variable.grad_var = total
            else:
                variable.cleargrad()
                _add_array(backward_pass, variable, total._array)


def _add_array(backward_pass: BackwardPass, variable: Variable, grad: Array) -> None:
    """Adds an array to the gradient of a leaf; its previous gradient is not changed in place."""
    previous = variable._gradient if variable._grad_var is None else variable._grad_var._array
    array = variable._array
    if previous is not None:
        is_lazy = isinstance(previous, LazyGradient)
        dtype = array.dtype if is_lazy else previous.dtype
        if dtype != grad.dtype:
            raise ValueError(
                "dtype of gradients returned from backward is incorrect: actual "
                f"{grad.dtype} != expected {dtype}, the dtype of the gradient that "
                f"{variable.summary()} has already"
            )
        grad = previous.plus(array, grad) if is_lazy else add_arrays(previous, grad)
    if isinstance(grad, LazyGradient):
        variable._gradient = grad
        variable._grad_var = None
        return
    if isinstance(grad, Scalar):
        grad = numpy.asarray(grad)
    if grad.__class__ is not _ndarray and array.__class__ is _ndarray:
        grad = backend_of(grad).to_xp(grad)  # kernels may return gradients of other types
    elif grad.__class__ is _ndarray and array.__class__ is not _ndarray:
        check_gradient(array, grad, "A function computed a gradient elsewhere. ")
    if previous is None:
        grad = backward_pass.delivery.deliver(variable, grad)
    variable._gradient = grad
    variable._grad_var = None
