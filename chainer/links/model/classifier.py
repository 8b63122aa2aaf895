"""Classifier: a predictor with a loss and an accuracy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chainer.core.arguments import wrong_type
from chainer.core.autograd.variable import Variable
from chainer.core.reporting.reporter import report
from chainer.functions.evaluation import accuracy
from chainer.functions.loss import softmax_cross_entropy
from chainer.links.chain import Chain
from chainer.links.link import Link


class Classifier(Chain):
    """A simple classifier model: wraps a predictor and computes loss and accuracy of its output.

    Both are reported under the names ``'loss'`` and ``'accuracy'``.

    Args:
        predictor (Link): Predictor network.
        lossfun (callable): Loss function of the predictor's output and the labels; softmax cross
            entropy by default (which is not differentiable twice unless told so).
        accfun (callable): Function of the same arguments that computes accuracy.
        label_key (int or str): Where the labels are among the arguments of a call: a position or a
            keyword.

    Attributes:
        predictor (Link): Predictor network.
        lossfun (callable): Loss function.
        accfun (callable): Accuracy function.
        y (Variable): Prediction for the last minibatch.
        loss (Variable): Loss value for the last minibatch.
        accuracy (Variable): Accuracy for the last minibatch.
        compute_accuracy (bool): Whether accuracy is computed; True by default.

    Example:
        >>> model = L.Classifier(L.Linear(4, 3))
        >>> loss = model(np.zeros((2, 4), np.float32), np.array([0, 2], np.int32))
        >>> loss.shape, model.accuracy.shape
        ((), ())
    """

    compute_accuracy: bool = True

    def __init__(
        self,
        predictor: Link,
        lossfun: Callable[..., Variable] = softmax_cross_entropy.softmax_cross_entropy,
        accfun: Callable[..., Variable] = accuracy.accuracy,
        label_key: int | str = -1,
    ) -> None:
        if not isinstance(label_key, (int, str)):
            raise TypeError(f"label_key must be int or str, but is {type(label_key)}")
        if not callable(predictor):
            raise TypeError(
                f"predictor must be a link or a function, got {type(predictor).__name__}"
            )
        if isinstance(predictor, type):
            raise wrong_type("predictor", "a link or a function", predictor)
        for name, function in (("lossfun", lossfun), ("accfun", accfun)):
            if function is not None and not callable(function):
                raise wrong_type(name, "a function of predictions and labels", function)
        super().__init__()
        self.lossfun = lossfun
        self.accfun = accfun
        self.y: Variable | None = None
        self.loss: Any = None  # a Variable after the first call
        self.accuracy: Any = None
        self.label_key = label_key
        with self.init_scope():
            self.predictor = predictor

    def forward(self, *args: Any, **kwargs: Any) -> Variable:
        """Computes the loss value for an input and label pair, and reports loss and accuracy.

        Args:
            args (list of Variable): Input minibatch.
            kwargs (dict of Variable): Input minibatch. The argument named by ``label_key`` holds
                the ground truth labels; all others go to the predictor.

        Returns:
            Variable: Loss value.

        Raises:
            ValueError: If there is no argument of that position or name.
        """
        key = self.label_key
        if isinstance(key, int):
            if not -len(args) <= key < len(args):
                raise ValueError(f"Label key {key} is out of bounds")
            # All other arguments go to the predictor in their order.
            t = args[key]
            position = key % len(args)
            args = args[:position] + args[position + 1 :]
        else:
            if key not in kwargs:
                raise ValueError(f'Label key "{key}" is not found')
            t = kwargs.pop(key)
        if not args and not kwargs:
            raise TypeError(
                "Classifier must get inputs and labels, as in model(x, t), got one argument; "
                "examples of its dataset are pairs (x, t)"
            )
        # If the predictor raises, no results of the call before are left.
        self.y = None
        self.loss = None
        self.accuracy = None
        self.y = self.predictor(*args, **kwargs)
        self.loss = self.lossfun(self.y, t)
        report({"loss": self.loss}, self)
        if self.compute_accuracy:
            self.accuracy = self.accfun(self.y, t)
            report({"accuracy": self.accuracy}, self)
        return self.loss
