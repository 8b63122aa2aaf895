"""CIFAR-10 or CIFAR-100 with a VGG-like network, and a learning rate that falls.

python train_cifar.py --dataset cifar100
python train_cifar.py --small
"""

import argparse

from small_data import add_options, duration, extend, images, interval, set_weights

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.training import extensions


class Block(chainer.Chain):
    """A convolution, batch normalization and ReLU."""

    def __init__(self, in_channels, out_channels):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(in_channels, out_channels, 3, pad=1, nobias=True)
            self.bn = L.BatchNormalization(out_channels)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)))


class VGG(chainer.Chain):
    def __init__(self, classes, widths=(64, 128, 256), repeats=2, dropout=0.4):
        super().__init__()
        self.dropout = dropout
        sizes = (3, *tuple(widths))
        with self.init_scope():
            self.stages = chainer.ChainList(
                *[
                    chainer.Sequential(
                        Block(before, after), *[Block(after, after) for _ in range(repeats - 1)]
                    )
                    for before, after in zip(sizes, widths)
                ]
            )
            self.fc = L.Linear(widths[-1], classes)

    def forward(self, x):
        for stage in self.stages:
            x = F.dropout(F.max_pooling_2d(stage(x), 2), self.dropout)
        return self.fc(F.average(x, axis=(2, 3)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser, epochs=100)
    parser.add_argument("--dataset", choices=["cifar10", "cifar100"], default="cifar10")
    parser.add_argument("--batch-size", "-b", type=int, default=64)
    parser.add_argument("--learning-rate", "-l", type=float, default=0.05)
    arguments = parser.parse_args()
    device = chainer.get_device(arguments.device)
    device.use()

    if arguments.small:
        model = L.Classifier(VGG(10, widths=(4, 8), repeats=1, dropout=0))
        set_weights(model)
        train, test = images(40, shape=(3, 16, 16)), images(16, shape=(3, 16, 16))
        arguments.batch_size = 8
    else:
        classes = {"cifar10": 10, "cifar100": 100}[arguments.dataset]
        model = L.Classifier(VGG(classes))
        train, test = getattr(chainer.datasets, "get_" + arguments.dataset)()
    model.to_device(device)
    optimizer = chainer.optimizers.MomentumSGD(arguments.learning_rate).setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(5e-4))

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
    trainer.extend(extensions.ExponentialShift("lr", 0.5), trigger=(25, "epoch"))
    trainer.extend(extensions.observe_lr(), trigger=interval(arguments))
    extend(trainer, arguments, "main/accuracy", "validation/main/accuracy", "lr")
    trainer.run()


if __name__ == "__main__":
    main()
