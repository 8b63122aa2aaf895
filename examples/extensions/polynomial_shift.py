#!/usr/bin/env python3
"""Three ways to write a trainer extension that lowers the learning rate.

A function, a function with a trigger of its own, and a class that keeps values across a resumed
training. The network is a small classifier of the digits that come with scikit-learn.
"""

import argparse
import os

import numpy as np
from digits import get_digits

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.training import extensions


def lr_drop(trainer):
    """Extension as a simple function."""
    trainer.updater.get_optimizer("main").lr *= 0.1


@training.make_extension(trigger=(10, "epoch"))
def lr_drop_every_10_epochs(trainer):
    """Extension as a function that says when it is to be called."""
    trainer.updater.get_optimizer("main").lr *= 0.1


class PolynomialShift(training.Extension):
    """Extension as a class: lowers an attribute to 0 as (1 - t / t_max) ** power."""

    def __init__(self, attr, power, stop_trigger, batchsize=None, len_dataset=None):
        self._attr = attr
        self._power = power
        self._init = None
        self._t = 0
        self._last_value = 0

        if stop_trigger[1] == "iteration":
            self._maxiter = stop_trigger[0]
        elif stop_trigger[1] == "epoch":
            if batchsize is None or len_dataset is None:
                raise ValueError(
                    "When the unit of 'stop_trigger' is 'epoch', 'batchsize' and 'len_dataset' "
                    "should be specified to calculate the maximum iteration."
                )
            n_iter_per_epoch = len_dataset / float(batchsize)
            self._maxiter = float(stop_trigger[0] * n_iter_per_epoch)

    def initialize(self, trainer):
        optimizer = trainer.updater.get_optimizer("main")
        # ensure that _init is set
        if self._init is None:
            self._init = getattr(optimizer, self._attr)
        # A resumed training goes on with the value that it was left with.
        if self._t > 0:
            setattr(optimizer, self._attr, self._last_value)

    def __call__(self, trainer):
        self._t += 1

        optimizer = trainer.updater.get_optimizer("main")
        # The last minibatch of an epoch may reach over its end, and so past the maximum.
        rest = max(1 - self._t / self._maxiter, 0)
        value = self._init * rest**self._power
        setattr(optimizer, self._attr, value)
        self._last_value = value

    def serialize(self, serializer):
        self._t = serializer("_t", self._t)
        self._last_value = serializer("_last_value", self._last_value)
        if isinstance(self._last_value, np.ndarray):
            self._last_value = self._last_value.item()


def existing_file(path):
    """Returns the path of a file; argparse tells the user if there is none."""
    if not os.path.isfile(path):
        raise argparse.ArgumentTypeError(f"there is no file {path!r}")
    return path


def parse_args():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    add = parser.add_argument
    add("--shift", choices=["polynomial", "function", "decorated"], default="polynomial")
    add("--power", type=float, default=0.5, help="exponent of the polynomial")
    add("--lr", type=float, default=0.1, help="first learning rate")
    add("--batchsize", "-b", type=int, default=32, help="images in a minibatch")
    add("--epoch", "-e", type=int, default=20, help="sweeps over the training data")
    add("--seed", type=int, default=0, help="seed of all random numbers")
    add("--out", "-o", default="result", help="directory of the results")
    add("--resume", "-r", type=existing_file, metavar="SNAPSHOT", help="go on from a snapshot")
    add("--stop-after", type=int, metavar="EPOCH", help="stop early, to try --resume")
    return parser.parse_args()


def main():
    args = parse_args()
    np.random.seed(args.seed)
    train, test = get_digits(args.seed)

    predictor = chainer.Sequential(L.Linear(64, 64), F.relu, L.Linear(64, 10))
    model = L.Classifier(predictor)
    optimizer = chainer.optimizers.SGD(args.lr)
    optimizer.setup(model)
    train_iter = chainer.iterators.SerialIterator(train, args.batchsize)
    test_iter = chainer.iterators.SerialIterator(test, 128, repeat=False, shuffle=False)
    updater = training.StandardUpdater(train_iter, optimizer)
    stop_trigger = (args.epoch, "epoch")
    trainer = training.Trainer(updater, (args.stop_after or args.epoch, "epoch"), out=args.out)

    if args.shift == "polynomial":
        trainer.extend(PolynomialShift("lr", args.power, stop_trigger, args.batchsize, len(train)))
    elif args.shift == "function":
        trainer.extend(lr_drop, trigger=(10, "epoch"))
    else:
        trainer.extend(lr_drop_every_10_epochs)

    trainer.extend(extensions.Evaluator(test_iter, model))
    trainer.extend(extensions.observe_lr())
    trainer.extend(extensions.LogReport())
    trainer.extend(extensions.PrintReport(["epoch", "lr", "main/loss", "validation/main/accuracy"]))
    trainer.extend(extensions.snapshot(filename="snapshot.npz"))
    if args.resume:
        chainer.serializers.load_npz(args.resume, trainer)
    trainer.run()
    chainer.serializers.save_npz(os.path.join(args.out, "model.npz"), model)


if __name__ == "__main__":
    main()
