"""Converters of activation functions."""

from __future__ import annotations

from onnx_chainer.converters.rules import operator, rule
from onnx_chainer.nodes import Nodes, array_of

ReLU = operator("Relu")
Sigmoid = operator("Sigmoid")
Tanh = operator("Tanh")


@rule()
def ClippedReLU(g: Nodes, x: str) -> str:
    """Limits x to 0 and ``cap``."""
    return g.clip(x, 0, g.func.cap)


@rule()
def CReLU(g: Nodes, x: str) -> str:
    """Joins the positive and the negative part."""
    return g("Concat", g("Relu", x), g("Relu", g("Neg", x)), axis=g.axis(g.func.axis))


@rule()
def ELU(g: Nodes, x: str) -> str:
    """Exponential linear unit."""
    return g("Elu", x, alpha=g.func.alpha)


@rule()
def HardSigmoid(g: Nodes, x: str) -> str:
    """0.2 x + 0.5 between 0 and 1."""
    return g("HardSigmoid", x, alpha=0.2, beta=0.5)


@rule()
def LeakyReLU(g: Nodes, x: str) -> str:
    """Slope for negative inputs."""
    return g("LeakyRelu", x, alpha=float(g.func.slope))


@rule()
def RReLU(g: Nodes, x: str) -> str:
    """In test mode all slopes are their mean; in training mode they are the slopes of the
    sample.
    """
    slopes = array_of(g.func.r)
    if slopes.size and (slopes == slopes.flat[0]).all():
        return g("LeakyRelu", x, alpha=float(slopes.flat[0]))
    g.warn("the random slopes of the sample are constants of the exported model")
    return g("PRelu", x, g.const(slopes))


@rule()
def PReLUFunction(g: Nodes, x: str, W: str) -> str:
    """Slopes, whose first axis is the second one of x.

    The operator aligns the last axes, so that the slopes get axes of length 1 behind.
    """
    behind = g.ndim() - 1 - g.ndim(1)
    if behind > 0:
        W = g.unsqueeze(W, [g.ndim(1) + i for i in range(behind)])
    return g("PRelu", x, W)


@rule()
def Softmax(g: Nodes, x: str) -> str:
    """Softmax along one axis."""
    return g.softmax(x, g.func.axis, g.ndim())


@rule()
def LogSoftmax(g: Nodes, x: str) -> str:
    """Logarithm of softmax along one axis."""
    return g.softmax(x, g.func.axis, g.ndim(), "LogSoftmax")


@rule()
def Softplus(g: Nodes, x: str) -> str:
    """log(1 + exp(beta x)) / beta; the operator has no beta."""
    beta = g.func.beta
    if beta == 1:
        return g("Softplus", x)
    return g("Div", g("Softplus", g("Mul", x, g.const(beta))), g.const(beta))
