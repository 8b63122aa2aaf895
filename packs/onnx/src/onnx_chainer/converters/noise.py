"""Converters of functions that draw random numbers."""

from __future__ import annotations

import numpy

from onnx_chainer.converters.rules import rule
from onnx_chainer.nodes import Nodes


def drop(g: Nodes, x: str, ratio: float) -> str:
    """Sets random elements to zero, as in training."""
    if g.opset < 12:
        return g("Dropout", x, ratio=float(ratio))
    # From opset 12 on the operator is the identity unless it is told that this is training.
    return g("Dropout", x, g.const(ratio, numpy.float32), g.const(True, bool))


@rule()
def Dropout(g: Nodes, x: str) -> str:
    """Dropout of training mode; in test mode the function leaves no node."""
    return drop(g, x, g.func.dropout_ratio)


@rule()
def Gaussian(g: Nodes, mean: str, ln_var: str) -> str:
    """The mean plus exp(ln_var / 2) times a random number of the normal distribution."""
    noise = g("RandomNormalLike", ln_var)
    deviation = g("Exp", g("Mul", ln_var, g.const(0.5)))
    return g("Add", mean, g("Mul", deviation, noise))


@rule()
def DropPath(g: Nodes, x: str) -> str:
    """Drops whole samples at random, unless the caller chose them."""
    behind = list(range(1, g.ndim()))
    if not g.func.is_random:
        mask = g.func.mask
        return g("Mul", x, g.array(mask.reshape((-1,) + (1,) * len(behind))))
    # One number for each sample. A Dropout of ones would be simpler, but onnxruntime 1.31 removes
    # it when it optimizes the graph.
    like = g.reduce("ReduceMean", x, behind, keepdims=True)
    kept = g("Not", g("Less", g("RandomUniformLike", like), g.const(g.func.ratio)))
    factor = g("Mul", g.cast(kept, g.dtype()), g.const(1 / (1 - g.func.ratio)))
    return g("Mul", x, factor)
