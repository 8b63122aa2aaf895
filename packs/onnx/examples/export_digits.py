"""Trains a classifier of handwritten digits, exports it to ONNX, and runs it in onnxruntime.

Prints the accuracy on held-out data that Chainer and onnxruntime compute: it is the same.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L


class ConvNet(chainer.Chain):
    """Two convolutions and a linear layer."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(1, 16, 3, pad=1)
            self.bn1 = L.BatchNormalization(16)
            self.conv2 = L.Convolution2D(16, 32, 3, pad=1)
            self.out = L.Linear(None, 10)

    def forward(self, x):
        h = F.max_pooling_2d(F.relu(self.bn1(self.conv1(x))), 2)
        h = F.max_pooling_2d(F.relu(self.conv2(h)), 2)
        return self.out(F.dropout(h, 0.2))


def get_digits():
    """Returns training and held-out data: images of 8 x 8 pixels in [0, 1], and labels."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        sys.exit(f"this example needs: {chainer.utils.install_command('onnx-chainer[examples]')}")
    data = load_digits()
    images = (data.images[:, None] / 16).astype(np.float32)
    order = np.random.RandomState(0).permutation(len(images))
    dataset = chainer.datasets.TupleDataset(images[order], data.target[order].astype(np.int32))
    return chainer.datasets.split_dataset(dataset, len(images) * 4 // 5)


def train(model, dataset, n_epoch):
    """Trains a model."""
    optimizer = chainer.optimizers.Adam().setup(model)
    iterator = chainer.iterators.SerialIterator(dataset, 50)
    while iterator.epoch < n_epoch:
        x, t = chainer.dataset.concat_examples(iterator.next())
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()


def main(arguments=None):
    """Trains, exports and compares.

    Returns:
        tuple of float: Accuracies that Chainer and onnxruntime compute.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0, help="seed of all random numbers")
    parser.add_argument("--out", default="digits.onnx", help="file to write")
    options = parser.parse_args(arguments)

    import onnx_chainer
    import onnxruntime

    np.random.seed(options.seed)
    chainer.global_config.dtype = np.float32
    training_data, test_data = get_digits()
    model = ConvNet()
    train(model, training_data, options.epochs)

    x, t = chainer.dataset.concat_examples(test_data)
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        of_chainer = float(F.accuracy(model(x), t).array)

    # The axis "batch" may have any length in the exported model.
    onnx_chainer.export(
        model, x[:1], options.out, input_names="images", input_shapes=("batch", 1, 8, 8)
    )
    session = onnxruntime.InferenceSession(options.out, providers=["CPUExecutionProvider"])
    (scores,) = session.run(None, {"images": x})
    of_runtime = float((scores.argmax(axis=1) == t).mean())
    print(f"accuracy: {of_chainer:.4f} in Chainer, {of_runtime:.4f} in onnxruntime")
    return of_chainer, of_runtime


if __name__ == "__main__":
    main()
