"""Digits with a static graph: the steps of a static chain are recorded once and replayed.

python static_graph.py --epochs 20
python static_graph.py --small
"""

import argparse

from small_data import add_options, images, set_weights, write_log

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import static_graph


class StaticPerceptron(chainer.Chain):
    """The batch size must be the same at each call: a graph is recorded for each size."""

    def __init__(self, units, classes):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(784, units)
            self.l2 = L.Linear(units, units)
            self.l3 = L.Linear(units, classes)

    @static_graph
    def forward(self, x):
        h = F.relu(self.l1(x))
        h = F.relu(self.l2(h))
        return self.l3(h)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser, epochs=20)
    parser.add_argument("--batch-size", "-b", type=int, default=100)
    parser.add_argument("--units", "-u", type=int, default=1000)
    arguments = parser.parse_args()
    device = chainer.get_device(arguments.device)
    device.use()

    model = StaticPerceptron(arguments.units, 10)
    if arguments.small:
        set_weights(model)
        train, arguments.batch_size, arguments.epochs = images(100, shape=(784,)), 20, 2
    else:
        train, _ = chainer.datasets.get_mnist()
    model.to_device(device)
    # The losses of --small are compared; large steps would magnify rounding errors.
    optimizer = chainer.optimizers.SGD(0.02 if arguments.small else 0.1).setup(model)
    iterator = chainer.iterators.SerialIterator(
        train, arguments.batch_size, shuffle=not arguments.small
    )
    losses = []
    while iterator.epoch < arguments.epochs:
        x, t = chainer.dataset.concat_examples(iterator.next(), device)
        loss = F.softmax_cross_entropy(model(chainer.Variable(x)), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        losses.append(float(loss.array))
        if iterator.is_new_epoch:
            print(f"epoch {iterator.epoch}: loss {losses[-1]:.4f}")
    write_log(arguments.out, losses)


if __name__ == "__main__":
    main()
