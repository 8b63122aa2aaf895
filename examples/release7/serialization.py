"""Saves a model and an optimizer as npz and HDF5, loads parts of it, and goes on training.

python serialization.py --small
"""

import argparse
import os

import numpy as np
from small_data import add_options, images, set_weights, write_log

import chainer
import chainer.functions as F
import chainer.links as L


class Network(chainer.Chain):
    """Batch normalization has state besides parameters."""

    def __init__(self, classes):
        super().__init__()
        with self.init_scope():
            self.body = chainer.Sequential(L.Linear(64, 16), L.BatchNormalization(16), F.relu)
            self.output = L.Linear(16, classes)

    def forward(self, x):
        return self.output(self.body(x))


def make(classes=10):
    """Returns a model and its optimizer."""
    model = Network(classes)
    optimizer = chainer.optimizers.Adam().setup(model)
    return model, optimizer


def train(model, optimizer, data, steps):
    """Returns the losses of some steps."""
    losses = []
    for step in range(steps):
        x, t = chainer.dataset.concat_examples(data[step % 2 :: 2])
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        losses.append(float(loss.array))
    return losses


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser, epochs=0)
    arguments = parser.parse_args()
    if not os.path.isdir(arguments.out):
        os.makedirs(arguments.out)
    data = images(40, shape=(64,))
    model, optimizer = make()
    set_weights(model)
    losses = train(model, optimizer, data, 5)

    formats = [("npz", chainer.serializers.save_npz, chainer.serializers.load_npz)]
    try:
        import h5py  # noqa: F401

        formats.append(("h5", chainer.serializers.save_hdf5, chainer.serializers.load_hdf5))
    except ImportError:
        print("h5py is not installed: no HDF5")
    continued = []
    for ending, save, load in formats:
        paths = [os.path.join(arguments.out, name + ending) for name in ("model.", "optimizer.")]
        for path, target in zip(paths, (model, optimizer)):
            save(path, target)
        copies = make()
        for path, target in zip(paths, copies):
            load(path, target)
        # The copy goes on as if it had not been stopped.
        continued.append(train(copies[0], copies[1], data, 5))
    more = train(model, optimizer, data, 5)
    for other in continued:
        np.testing.assert_allclose(other, more, rtol=1e-6)

    # A model with more classes: only what fits is loaded.
    larger, _ = make(classes=12)
    chainer.serializers.load_npz(
        os.path.join(arguments.out, "model.npz"),
        larger,
        ignore_names=lambda name: name.startswith("output/"),
    )
    with np.load(os.path.join(arguments.out, "model.npz")) as file:
        np.testing.assert_array_equal(larger.body[0].W.array, file["body/0/W"])
    write_log(arguments.out, losses + more)
    print(f"saved, loaded and continued: loss {more[-1]:.4f}")


if __name__ == "__main__":
    main()
