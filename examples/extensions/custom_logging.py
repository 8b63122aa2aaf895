#!/usr/bin/env python3
"""Report values of your own from inside a network, and see them in the log.

A value reported by a link is named after its place: "main/loss" by the link that is trained,
"main/predictor/sum_y" by its child, "validation/main/loss" during evaluation.
"""

import argparse

import numpy as np
from digits import get_digits

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import Chain, iterators, optimizers, report, training
from chainer.training import extensions


class Classifier(Chain):
    """Reports loss and accuracy."""

    def __init__(self, predictor):
        super().__init__()
        with self.init_scope():
            self.predictor = predictor

    def __call__(self, x, t):
        y = self.predictor(x)
        loss = F.softmax_cross_entropy(y, t)
        accuracy = F.accuracy(y, t)
        report({"loss": loss, "accuracy": accuracy}, self)
        return loss


class MLP(Chain):
    """Reports the sum of its outputs."""

    def __init__(self, n_units, n_out):
        super().__init__()
        with self.init_scope():
            # the size of the inputs to each layer will be inferred
            self.l1 = L.Linear(None, n_units)  # n_in -> n_units
            self.l2 = L.Linear(None, n_units)  # n_units -> n_units
            self.l3 = L.Linear(None, n_out)  # n_units -> n_out

    def __call__(self, x):
        h1 = F.relu(self.l1(x))
        h2 = F.relu(self.l2(h1))
        y = self.l3(h2)
        report({"sum_y": F.sum(y)}, self)
        return y


def show_naming():
    """Collects a value by hand, with a reporter of our own."""
    reporter = chainer.Reporter()
    observer = object()  # it can be an arbitrary (reference) object
    reporter.add_observer("my_observer", observer)
    observation = {}
    with reporter.scope(observation):
        report({"x": 1}, observer)
    print("reported by hand:", observation)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--batchsize", "-b", type=int, default=32, help="images in a minibatch")
    parser.add_argument("--epoch", "-e", type=int, default=5, help="sweeps over the training data")
    parser.add_argument("--unit", "-u", type=int, default=100, help="units of a hidden layer")
    parser.add_argument("--seed", type=int, default=0, help="seed of all random numbers")
    parser.add_argument("--out", "-o", default="result", help="directory of the results")
    args = parser.parse_args()
    np.random.seed(args.seed)
    show_naming()

    model = Classifier(MLP(args.unit, 10))
    print("observers:", *(name for name, _ in model.namedlinks(skipself=True)))
    train, test = get_digits(args.seed)
    train_iter = iterators.SerialIterator(train, batch_size=args.batchsize, shuffle=True)
    test_iter = iterators.SerialIterator(test, batch_size=100, repeat=False, shuffle=False)
    optimizer = optimizers.SGD(0.1)
    optimizer.setup(model)
    updater = training.StandardUpdater(train_iter, optimizer)
    trainer = training.Trainer(updater, (args.epoch, "epoch"), out=args.out)
    trainer.extend(extensions.Evaluator(test_iter, model))
    trainer.extend(extensions.LogReport())
    trainer.extend(
        extensions.PrintReport(
            [
                "epoch",
                "main/accuracy",
                "main/loss",
                "main/predictor/sum_y",
                "validation/main/accuracy",
            ]
        )
    )
    trainer.run()


if __name__ == "__main__":
    main()
