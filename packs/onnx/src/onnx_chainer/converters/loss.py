"""Converters of losses."""

from __future__ import annotations

from onnx_chainer.converters.rules import rule
from onnx_chainer.nodes import Nodes, array_of


def _mean(g: Nodes, losses: str, kept: str | None, dtype: object) -> str:
    """Returns the sum of losses divided by how many count.

    Args:
        g: The nodes.
        losses: The losses, zero for labels to ignore.
        kept: Booleans of the labels that count; None to divide by the number of samples.
        dtype: Dtype of the losses.
    """
    total = g.reduce("ReduceSum", losses, None)
    if kept is None:
        size = g.gather(g("Shape", g.params.input_names[1]), 0) if g.ndim(1) else g.ints(1)
        return g("Div", total, g.cast(size, dtype))
    count = g.reduce("ReduceSum", g.cast(kept, dtype), None)
    # Without labels that count the loss is zero.
    return g("Div", total, g("Max", count, g.const(1, dtype)))


@rule()
def SoftmaxCrossEntropy(g: Nodes, x: str, t: str) -> str:
    """Cross entropy of labels or of probabilities."""
    func = g.func
    ndim, dtype = g.ndim(), g.dtype()
    log_p = g.softmax(x, 1, ndim, "LogSoftmax")
    if func.soft_target:
        return _soft_target(g, log_p, t)
    ignored = g("Equal", t, g.const(func.ignore_label, g.dtype(1)))
    kept = g("Not", ignored)
    # Any valid label: the losses at these places are replaced by zeros below.
    labels = g("Where", ignored, g.const(0, g.dtype(1)), t)
    chosen = g.one_hot(labels, g.shape()[1], dtype, axis=1)
    losses = g("Neg", g.reduce("ReduceSum", g("Mul", log_p, chosen), [1]))
    if func.class_weight is not None:
        weight = g.const(array_of(func.class_weight), dtype)
        losses = g("Mul", losses, g("Gather", weight, labels, axis=0))
    losses = g("Where", kept, losses, g.const(0, dtype))
    if func.reduce == "no":
        return losses
    return _mean(g, losses, kept if func.normalize else None, dtype)


def _soft_target(g: Nodes, log_p: str, t: str) -> str:
    func = g.func
    t = g.cast(t, g.dtype())
    losses = g("Neg", g.reduce("ReduceSum", g("Mul", t, log_p), [1]))
    if func.soft_target_loss == "kl-divergence":
        own = g("Mul", t, g("Log", g("Add", t, g.const(func.eps))))
        losses = g("Add", losses, g.reduce("ReduceSum", own, [1]))
    if func.reduce == "mean":
        losses = g.reduce("ReduceMean", losses, None)
    return g.cast(losses, g.out_dtype)


@rule()
def SigmoidCrossEntropy(g: Nodes, x: str, t: str) -> str:
    """Cross entropy of booleans; the label -1 is ignored."""
    dtype = g.dtype()
    kept = g("Not", g("Equal", t, g.const(-1, g.dtype(1))))
    zero = g.const(0)
    # max(x, 0) + log(1 + exp(-|x|)) - t x
    loss = g("Add", g("Relu", x), g("Softplus", g("Neg", g("Abs", x))))
    loss = g("Sub", loss, g("Mul", x, g.cast(t, dtype)))
    loss = g("Where", kept, loss, zero)
    if g.func.reduce == "no":
        return loss
    return _mean(g, loss, kept if g.func.normalize else None, dtype)


def _pair(reduction: str | None, power: str) -> object:
    """Makes the converter of a loss of the difference of two arrays."""

    @rule()
    def convert(g: Nodes, x0: str, x1: str) -> str:
        d = g("Sub", x0, x1)
        y = g("Mul", d, d) if power == "square" else g("Abs", d)
        return y if reduction is None else g.reduce(reduction, y, None)

    return convert


AbsoluteError = _pair(None, "absolute")
MeanAbsoluteError = _pair("ReduceMean", "absolute")
MeanSquaredError = _pair("ReduceMean", "square")
SquaredError = _pair(None, "square")


@rule()
def HuberLoss(g: Nodes, x0: str, x1: str) -> str:
    """Half the square for small differences, linear for large ones."""
    delta = float(g.func.delta)
    a = g("Abs", g("Sub", x0, x1))
    small = g("Mul", g.const(0.5), g("Mul", a, a))
    large = g("Mul", g.const(delta), g("Sub", a, g.const(0.5 * delta)))
    loss = g("Where", g("Less", a, g.const(delta)), small, large)
    return loss if g.func.reduce == "no" else g.reduce("ReduceSum", loss, [1])


@rule()
def Hinge(g: Nodes, x: str, t: str) -> str:
    """Distance to the margin: scores of the labels are to be above 1, others below -1."""
    dtype = g.dtype()
    chosen = g.one_hot(t, g.shape()[1], dtype, axis=1)
    # -1 for the score of the label, 1 for the other scores.
    flip = g("Sub", g.const(1), g("Mul", g.const(2), chosen))
    loss = g("Relu", g("Add", g("Mul", x, flip), g.const(1)))
    if g.func.norm == "L2":
        loss = g("Mul", loss, loss)
    return loss if g.func.reduce == "no" else _mean(g, loss, None, dtype)


@rule()
def Triplet(g: Nodes, anchor: str, positive: str, negative: str) -> str:
    """Hinge of the difference of squared distances."""
    near, far = g("Sub", anchor, positive), g("Sub", anchor, negative)
    difference = g("Sub", g("Mul", near, near), g("Mul", far, far))
    loss = g("Relu", g("Add", g.reduce("ReduceSum", difference, [1]), g.const(g.func.margin)))
    return loss if g.func.reduce == "no" else g.reduce("ReduceMean", loss, None)


@rule()
def Contrastive(g: Nodes, x0: str, x1: str, t: str) -> str:
    """Squares of distances for the label 1, squares of the gap to the margin for the label 0."""
    d = g("Sub", x0, x1)
    squares = g.reduce("ReduceSum", g("Mul", d, d), [1])
    gap = g("Relu", g("Sub", g.const(float(g.func.margin)), g("Sqrt", squares)))
    similar = g("Equal", t, g.const(1, g.dtype(2)))
    loss = g("Mul", g("Where", similar, squares, g("Mul", gap, gap)), g.const(0.5))
    return loss if g.func.reduce == "no" else g.reduce("ReduceMean", loss, None)


@rule()
def CrossCovariance(g: Nodes, y: str, z: str) -> str:
    """Products of the centered columns of two matrices."""
    y, z = (g("Sub", x, g.reduce("ReduceMean", x, [0], keepdims=True)) for x in (y, z))
    count = g.cast(g.gather(g("Shape", g.params.input_names[0]), 0), g.dtype())
    covariance = g("Div", g("MatMul", g.transpose(y, [1, 0]), z), count)
    if g.func.reduce == "no":
        return covariance
    squares = g.reduce("ReduceSum", g("Mul", covariance, covariance), None)
    return g("Mul", squares, g.const(0.5))


@rule()
def Accuracy(g: Nodes, y: str, t: str) -> str:
    """Ratio of the labels that have the greatest score."""
    dtype = g.out_dtype
    axes = [i for i in range(2, g.ndim()) if i >= g.ndim(1) + 1]
    scores = g.squeeze(y, axes) if axes else y
    predicted = g.cast(g("ArgMax", scores, axis=1, keepdims=0), g.dtype(1))
    hits = g.cast(g("Equal", predicted, t), dtype)
    if g.func.ignore_label is None:
        return g.reduce("ReduceMean", hits, None)
    kept = g.cast(g("Not", g("Equal", t, g.const(g.func.ignore_label, g.dtype(1)))), dtype)
    count = g("Max", g.reduce("ReduceSum", kept, None), g.const(1, dtype))
    return g("Div", g.reduce("ReduceSum", g("Mul", hits, kept), None), count)


@rule()
def BinaryAccuracy(g: Nodes, y: str, t: str) -> str:
    """Ratio of the scores that have the sign of the label; the label -1 is ignored."""
    dtype = g.dtype()
    kept = g.cast(g("Not", g("Equal", t, g.const(-1, g.dtype(1)))), dtype)
    # Not less than 0: a score of 0 counts as the label 1.
    predicted = g.cast(g("Not", g("Less", y, g.const(0))), g.dtype(1))
    hits = g("Mul", g.cast(g("Equal", predicted, t), dtype), kept)
    count = g("Max", g.reduce("ReduceSum", kept, None), g.const(1))
    return g("Div", g.reduce("ReduceSum", hits, None), count)
