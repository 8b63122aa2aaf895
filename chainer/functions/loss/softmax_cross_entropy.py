"""Softmax cross entropy."""

# The creator of the scores is read from the graph without the calls of properties.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any, Literal

import numpy

from chainer import functions
from chainer.backends import operations
from chainer.core.arrays.backend import backend_of, is_array
from chainer.core.arrays.extended_dtypes import is_half, kind_of
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import threads
from chainer.core.misuse import expect_flags, looks, warn_once
from chainer.core.typing import Array, ArrayGrads, Arrays, Grads, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions._label_range import label_error
from chainer.functions.activation.softmax import Softmax
from chainer.functions.loss._class_labels import means_of_samples
from chainer.functions.rules import (
    KernelFunction,
    Ops,
    Value,
    Values,
    gradients_of_composition,
)
from chainer.functions.rules.batching import sums_of_samples, with_samples
from chainer.functions.rules.once import stand_in

if TYPE_CHECKING:
    from chainer.core.autograd.function_hook import FunctionHook
    from chainer.core.config.configuration import ThreadState

#: Loss of soft targets.
SoftTargetLoss = Literal["cross-entropy", "kl-divergence"]


# The checks keep their names from release 7, because programs with custom losses import them.


def _check_reduce_option(reduce: str) -> None:
    """Raises ValueError unless ``reduce`` is ``'mean'`` or ``'no'``."""
    if reduce not in ("mean", "no"):
        raise ValueError(f"only 'mean' and 'no' are valid for 'reduce', but '{reduce}' is given")


def _check_class_weight_option(class_weight: Any) -> None:
    """Raises ValueError or TypeError unless ``class_weight`` is None or a vector of floats."""
    if class_weight is None:
        return
    if isinstance(class_weight, Variable):
        raise ValueError(
            "class_weight should be a numpy.ndarray or cupy.ndarray, not a chainer.Variable"
        )
    if not is_array(class_weight):
        raise TypeError(f"class_weight should be an array, got {type(class_weight)}")
    if kind_of(class_weight.dtype) != "f":
        raise ValueError(
            f"The dtype of class_weight should be a floating one, got {class_weight.dtype}"
        )
    if class_weight.ndim != 1:
        raise ValueError(f"class_weight.ndim should be 1, got {class_weight.ndim}")


class SoftmaxCrossEntropy(KernelFunction):
    """Softmax activation followed by a cross entropy loss.

    Attributes:
        y: The softmax of the scores, if it was cached; else None.
        soft_target: Whether the targets are probabilities instead of labels.
        eps: Added to probabilities before computing their logarithm.
    """

    argument_names = ("x", "t")

    type_check_key = ()
    eps = 1e-7
    soft_target: bool = False

    def __init__(
        self,
        normalize: bool = True,
        cache_score: bool = True,
        class_weight: Any = None,
        ignore_label: int = -1,
        reduce: str = "mean",
        soft_target_loss: SoftTargetLoss = "cross-entropy",
        enable_double_backprop: bool = False,
    ) -> None:
        if soft_target_loss not in ("cross-entropy", "kl-divergence"):
            raise ValueError(
                "soft_target_loss must be 'cross-entropy' or 'kl-divergence', got "
                f"{soft_target_loss!r}"
            )
        # Without calls where there is nothing to say: a loss is often computed at each step.
        if reduce != "mean":
            _check_reduce_option(reduce)
        if class_weight is not None:
            _check_class_weight_option(class_weight)
        self.normalize = normalize
        # With the option, earlier releases kept the scores. Gradients then have the same bits.
        self.cache_score = cache_score and not enable_double_backprop
        self.class_weight = class_weight
        self.ignore_label = ignore_label
        self.reduce = reduce
        self.soft_target_loss = soft_target_loss
        self.y: Any = None

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 2)
        x_type, t_type = in_types
        if kind_of(type_check.eval(t_type.dtype)) == "f":
            type_check.expect(
                x_type.dtype.kind == "f", x_type.ndim >= 2, t_type.shape == x_type.shape
            )
            return
        type_check.expect(
            x_type.dtype.kind == "f",
            t_type.dtype.kind == "i",
            t_type.ndim == x_type.ndim - 1,
            x_type.shape[0] == t_type.shape[0],
            x_type.shape[2:] == t_type.shape[1:],
        )

    def forward(self, inputs: Arrays) -> Arrays:
        x, t = inputs
        self.soft_target = kind_of(t.dtype) == "f"
        if self.soft_target:
            return self._forward_soft(x, t)
        if threads.state.debug:
            self._check_labels(t, x.shape[1])
        weight = self.class_weight
        if weight is not None:
            # The weight is not an input of the node: FunctionNode.apply did not check its device.
            if backend_of(weight).family != backend_of(x).family:
                raise TypeError(
                    f"class_weight is a {type(weight)}, but x a {type(x)}; "
                    "send it to the device of x by chainer.dataset.to_device()"
                )
            if len(weight) != x.shape[1]:
                raise ValueError(
                    f"class_weight must have one element for each of the {x.shape[1]} classes, "
                    f"got {len(weight)}"
                )
            weight = self.class_weight = weight.astype(x.dtype, copy=False)
        self._kernel = operations.softmax_cross_entropy.select(x, t, weight)
        try:
            losses, self.y = self._kernel.forward(x, t, weight, self.ignore_label, self.cache_score)
        except IndexError as error:
            raise label_error(error, "t", t, x.shape[1], self.ignore_label, False) from error
        # The scores are retained only where the softmax was not cached.
        self.retain_inputs((1,) if self.cache_score else (0, 1))
        if self.reduce == "no":
            return (losses,)
        mean = operations.loss_mean.select(losses, t)
        count = None if self.normalize else len(t)
        loss, self._coefficient = mean.forward(losses, t, self.ignore_label, count)
        return (loss,)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        x, t = with_samples(inputs, are_batched, size)
        node = copy.copy(self)
        node.reduce = "no"
        # One batch of all labels; then the mean over the labels of each sample.
        (losses,) = node.apply((_joined(x), _joined(t)))
        losses = losses.reshape((*x.shape[:2], *losses.shape[1:]))
        if self.reduce == "no":
            return (losses,)
        if kind_of(t.dtype) == "f":
            return (sums_of_samples(losses, 1 / max(math.prod(losses.shape[1:]), 1)),)
        return (means_of_samples(losses, t, self.ignore_label, self.normalize),)

    def _forward_soft(self, x: Array, t: Array) -> Arrays:
        """Computes the loss of soft targets; it does not use weights or ``ignore_label``."""
        xp = self.xp
        dtype = numpy.result_type(x.dtype, t.dtype)
        # Sum float16 in float32, as the loss of labels does.
        wide = x.astype(numpy.float32 if is_half(dtype) else dtype, copy=False)
        log_y = operations.log_softmax.select(wide, axis=1).forward(wide, 1)
        weights = t.astype(wide.dtype, copy=False)
        losses = -(weights * log_y).sum(axis=1)
        if self.soft_target_loss == "kl-divergence":
            losses += (weights * xp.log(weights + self.eps)).sum(axis=1)
        if self.cache_score:
            self.y = xp.exp(log_y).astype(x.dtype, copy=False)
        self.retain_inputs((1,) if self.cache_score else (0, 1))
        if self.reduce == "no":
            return (losses.astype(dtype, copy=False),)
        self._coefficient = 1 / max(losses.size, 1)
        loss = xp.asarray(losses.sum() * self._coefficient)
        return (loss.astype(dtype, copy=False),)

    def _check_labels(self, t: Array, n_classes: int) -> None:
        if not (((t >= 0) & (t < n_classes)) | (t == self.ignore_label)).all():
            raise ValueError(
                f"Each label `t` need to satisfy `0 <= t < x.shape[1] or t == {self.ignore_label}`"
            )

    def _scale(self, gy: Array) -> Any:
        if self.reduce == "no":
            return gy
        coefficient = self._coefficient
        # NumPy 1 multiplied an array without axes by a number in float64.
        return gy * (numpy.float64(coefficient) if isinstance(coefficient, float) else coefficient)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        # The indexes are in ascending order. If the scores are not first, there are only labels.
        if target_input_indexes[0] != 0:
            return (None,)
        if self.cache_score:
            x, (t,) = None, self.retained_input_arrays
        else:
            x, t = self.retained_input_arrays
        if self.soft_target:
            y = self.y
            if y is None:
                y = operations.softmax.select(x, axis=1).forward(x, 1)
            gx = y * t.sum(axis=1, keepdims=True)
            gx -= t
            gx *= self.xp.expand_dims(self._scale(grad_outputs[0]), 1 if self.reduce == "no" else 0)
            gx = gx.astype(self.input_nodes[0].dtype, copy=False)
            return tuple([gx if i == 0 else None for i in target_input_indexes])
        gx = self._kernel.backward(
            x, t, self.class_weight, self.ignore_label, self.y, self._scale(grad_outputs[0])
        )
        gx = gx.astype(self.input_nodes[0].dtype, copy=False)
        return tuple([gx if i == 0 else None for i in target_input_indexes])

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        if not self.cache_score:
            return super().backward(target_input_indexes, grad_outputs)
        # The scores are not kept for the case that gradients are differentiated again: the cached
        # softmax has all that the formula needs.
        if target_input_indexes[0] != 0:
            return (None,) * len(target_input_indexes)
        (gy,) = grad_outputs
        assert gy is not None
        x = stand_in(self, 0, self.softmax_of_scores())
        (gx,) = _GradientOfCachedScores(self).apply((x, gy))
        return tuple([gx if i == 0 else None for i in target_input_indexes])

    def softmax_of_scores(self) -> Array:
        """Returns the cached softmax in the dtype of the scores."""
        y = backend_of(self.y).to_xp(self.y)
        return y.astype(self.input_nodes[0].dtype, copy=False)

    def gradients(self, ops: Ops, targets: Indexes, x: Value, t: Value, gy: Value) -> Values:
        return (self.slope(ops, ops.softmax(x, axis=1), t.array, gy),)

    def slope(self, ops: Ops, y: Value, t: Array, gy: Value) -> Value:
        """Returns the gradient w.r.t. the scores.

        Args:
            ops: The functions of ``chainer.functions``.
            y: Softmax of the scores.
            t: Targets.
            gy: Gradient of the loss.
        """
        xp = self.xp
        if self.soft_target:
            # The factor makes the derivative correct for targets that do not sum to 1, too.
            slope = y * t.sum(axis=1, keepdims=True) - t
            if self.reduce == "mean":
                gx = slope * ops.broadcast_to(gy * self._coefficient, y.shape)
            else:
                gx = slope * ops.broadcast_to(ops.expand_dims(gy, 1), y.shape)
            return ops.cast(gx, y.dtype)
        valid = t != self.ignore_label
        # An ignored label may be out of range; its factor below is zero.
        labels = xp.where(valid, t, 0)
        classes = xp.arange(y.shape[1]).reshape((-1,) + (1,) * (y.ndim - 2))
        hit = (labels[:, None] == classes).astype(y.dtype)
        factors = valid.astype(y.dtype)
        if self.class_weight is not None:
            factors *= self.class_weight[labels]
        if self.reduce == "mean":
            factors *= xp.asarray(self._coefficient, y.dtype)
        return (y - hit) * ops.expand_dims(gy * factors, 1)


class _GradientOfCachedScores(FunctionNode):
    """Gradient of the loss by array code, a function of the scores and of the gradient of the loss.

    Args:
        function: The loss, which has the softmax of the scores.
    """

    accepts_opaque_arrays = True
    type_check_key = ()
    _retained_inputs = (1,)
    label = "SoftmaxCrossEntropyGrad"

    def __init__(self, function: SoftmaxCrossEntropy) -> None:
        self._function = function

    def _all_hooks(self, state: ThreadState) -> list[FunctionHook]:
        # Hooks of earlier releases did not see this gradient: it was computed on arrays.
        return []

    def forward(self, inputs: Arrays) -> Arrays:
        return (self._function.backward_arrays((0,), (inputs[1],))[0],)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        function = self._function
        (gy,) = self.get_retained_inputs()
        softmax = _CachedSoftmax(function.softmax_of_scores())
        (y,) = softmax.apply((stand_in(self, 0, softmax.y),))
        t = function.retained_input_arrays[-1]
        by_y, by_gy = gradients_of_composition(
            lambda y, gy: (function.slope(functions, y, t, gy),), (y, gy), (0, 1), grad_outputs
        )
        return tuple(
            [
                by_gy if i else softmax.gradients(functions, (0,), y, by_y)[0]
                for i in target_input_indexes
            ]
        )


class _CachedSoftmax(Softmax):
    """Softmax of an input whose array may be gone, because the output is known.

    Args:
        y: The output.
    """

    def __init__(self, y: Array) -> None:
        super().__init__(1)
        self.y = y

    def forward(self, inputs: Arrays) -> Arrays:
        self._kernel = self.operation.select(self.y, axis=self.axis)
        return (self.y,)


def _joined(x: Variable) -> Variable:
    """Returns an array whose first two axes are one."""
    return x.reshape((x.shape[0] * x.shape[1], *x.shape[2:]))


@explained_keywords
def softmax_cross_entropy(
    x: VariableLike,
    t: VariableLike,
    normalize: bool = True,
    cache_score: bool = True,
    class_weight: Array | None = None,
    ignore_label: int = -1,
    reduce: str = "mean",
    enable_double_backprop: bool = False,
    soft_target_loss: SoftTargetLoss = "cross-entropy",
) -> Variable:
    """Computes cross entropy loss for pre-softmax activations.

    Args:
        x (Variable or array): Unnormalized log probabilities, shape ``(N, C)`` for ``N`` samples
            and ``C`` classes, floating point. With more axes, ``(N, C, ...)``, the softmax is
            replicated over them.
        t (Variable or array): Ground truth labels, shape ``(N,)`` or ``(N, ...)``, signed integer.
            Samples whose label is ``ignore_label`` are ignored. Or soft targets: probabilities of
            the classes, of the shape of ``x``, floating point.
        normalize (bool): If True, the sum of the losses is divided by the number of samples that
            are not ignored; otherwise by the batch size ``N``. Losses of soft targets are always
            divided by the number of all samples, with the additional axes.
        cache_score (bool): If True, the softmax is kept for backward, which saves computation and
            costs memory. It is not kept if ``enable_double_backprop`` is True.
        class_weight (array): Constant weights of the classes, shape ``(C,)``, which the log softmax
            is multiplied by. Without effect on soft targets.
        ignore_label (int): Label to ignore. Without effect on soft targets.
        reduce (str): ``'mean'``: the sum of the losses, normalized; a scalar. ``'no'``: the loss of
            each sample, of the shape of ``t``; zero for ignored samples.
        enable_double_backprop (bool): Not needed: the gradient can be differentiated in any case.
            In releases 4 to 7 differentiating it again was an error without this option.
        soft_target_loss (str): Loss of soft targets: ``'cross-entropy'``, or ``'kl-divergence'``,
            which is the cross entropy minus the entropy of the targets. Without effect on labels.

    Returns:
        Variable: The loss, in the dtype of ``x``; with soft targets, in the dtype to which NumPy
        promotes ``x`` and ``t``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If ``reduce``, ``soft_target_loss`` or ``class_weight`` is wrong, or (in debug
            mode) a label is.

    Note:
        This function is differentiable only by ``x``.

    Example:
        >>> x = np.array([[-1, 0, 1, 2], [2, 0, 1, -1]], np.float32)
        >>> t = np.array([3, 0], np.int32)
        >>> F.softmax_cross_entropy(x, t)
        variable(0.44018972)
        >>> probabilities = np.array([[0, 0, 0, 1], [1, 0, 0, 0]], np.float32)
        >>> F.softmax_cross_entropy(x, probabilities)
        variable(0.44018972)
    """
    node = x._graph_node if isinstance(x, Variable) else None
    if node is not None and isinstance(node._creator_node, Softmax):
        warn_once(
            "softmax",
            "softmax_cross_entropy",
            "x of softmax_cross_entropy is the result of softmax, which it computes itself: give "
            "it the values before softmax, or the model learns slowly",
        )
    if isinstance(normalize, str):
        expect_flags("softmax_cross_entropy", normalize=normalize)
    if (
        isinstance(class_weight, numpy.ndarray)
        and looks("class_weight")
        and (class_weight < 0).any()
    ):
        warn_once(
            "class_weight",
            "softmax_cross_entropy",
            "class_weight should have no negative numbers, got "
            f"{class_weight.min()}: the loss of that class grows without a bound",
        )
    function = SoftmaxCrossEntropy(
        normalize,
        cache_score,
        class_weight,
        ignore_label,
        reduce,
        soft_target_loss,
        enable_double_backprop,
    )
    return function.apply((x, t))[0]
