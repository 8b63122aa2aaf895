"""Handwritten digits without a trainer: the loop is written out.

python train_mnist_custom_loop.py --epochs 20
python train_mnist_custom_loop.py --small
"""

import argparse
import os

from small_data import add_options, images, set_weights, write_log
from train_mnist import Perceptron

import chainer
import chainer.functions as F
from chainer.dataset import concat_examples


def evaluate(model, iterator, device):
    """Returns the mean loss and accuracy; no graph is built."""
    iterator.reset()
    loss = accuracy = count = 0
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        for batch in iterator:
            x, t = concat_examples(batch, device)
            y = model(x)
            loss += float(F.softmax_cross_entropy(y, t).array) * len(batch)
            accuracy += float(F.accuracy(y, t).array) * len(batch)
            count += len(batch)
    return loss / count, accuracy / count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser, epochs=20)
    parser.add_argument("--batch-size", "-b", type=int, default=100)
    parser.add_argument("--units", "-u", type=int, default=1000)
    arguments = parser.parse_args()
    device = chainer.get_device(arguments.device)
    device.use()

    model = Perceptron(arguments.units, 10)
    if arguments.small:
        set_weights(model)
        train, test = images(100, shape=(784,)), images(20, shape=(784,))
        arguments.batch_size = 20
        arguments.epochs = 2
    else:
        train, test = chainer.datasets.get_mnist()
    model.to_device(device)
    optimizer = chainer.optimizers.Adam().setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(1e-4))

    shuffle = not arguments.small
    train_iter = chainer.iterators.SerialIterator(train, arguments.batch_size, shuffle=shuffle)
    test_iter = chainer.iterators.SerialIterator(
        test, arguments.batch_size, repeat=False, shuffle=False
    )
    losses = []
    while train_iter.epoch < arguments.epochs:
        x, t = concat_examples(train_iter.next(), device)
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        losses.append(float(loss.array))
        if train_iter.is_new_epoch:
            test_loss, accuracy = evaluate(model, test_iter, device)
            print(f"epoch {train_iter.epoch}: loss {losses[-1]:.4f}")
            print(f"    test loss {test_loss:.4f}, test accuracy {accuracy:.4f}")
    write_log(arguments.out, losses)
    chainer.serializers.save_npz(os.path.join(arguments.out, "model.npz"), model)
    chainer.serializers.save_npz(os.path.join(arguments.out, "optimizer.npz"), optimizer)


if __name__ == "__main__":
    main()
