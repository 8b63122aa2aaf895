"""Handwritten digits with a trainer: evaluation, snapshots with autoload, time per link.

python train_mnist.py --epochs 20
python train_mnist.py --small
"""

import argparse

from small_data import add_options, duration, extend, images, interval, set_weights

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.link_hooks import TimerHook
from chainer.training import extensions


class Perceptron(chainer.Chain):
    def __init__(self, units, classes):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(784, units)
            self.l2 = L.Linear(units, units)
            self.l3 = L.Linear(units, classes)

    def forward(self, x):
        h = F.relu(self.l1(x))
        h = F.relu(self.l2(h))
        return self.l3(h)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser, epochs=20)
    parser.add_argument("--batch-size", "-b", type=int, default=100)
    parser.add_argument("--units", "-u", type=int, default=1000)
    parser.add_argument("--profile", action="store_true", help="show the time that links take")
    arguments = parser.parse_args()
    device = chainer.get_device(arguments.device)
    device.use()

    model = L.Classifier(Perceptron(arguments.units, 10))
    if arguments.small:
        set_weights(model)
        train, test = images(100, shape=(784,)), images(20, shape=(784,))
        arguments.batch_size = 20
    else:
        train, test = chainer.datasets.get_mnist()
    model.to_device(device)
    optimizer = chainer.optimizers.Adam().setup(model)

    shuffle = not arguments.small
    train_iter = chainer.iterators.SerialIterator(train, arguments.batch_size, shuffle=shuffle)
    test_iter = chainer.iterators.SerialIterator(
        test, arguments.batch_size, repeat=False, shuffle=False
    )
    updater = training.StandardUpdater(train_iter, optimizer, device=device)
    trainer = training.Trainer(updater, duration(arguments), out=arguments.out)
    trainer.extend(
        extensions.Evaluator(test_iter, model, device=device), trigger=interval(arguments)
    )
    extend(trainer, arguments, "validation/main/loss", "main/accuracy", "validation/main/accuracy")

    if arguments.profile:
        hook = TimerHook()
        with hook:
            trainer.run()
        hook.print_report()
    else:
        trainer.run()


if __name__ == "__main__":
    main()
