"""The pretrained networks, with weights of no meaning; runs under this and under release 7.8.1.

``python large_links.py write NAME FOLDER`` saves a network and what it computes;
``python large_links.py read NAME FOLDER`` loads it and compares.
"""

import os
import sys
import zlib

import numpy as np

import chainer
import chainer.links as L

#: Smallest images that a network takes, in pixels.
INPUT_SIZES = {
    "GoogLeNet": 224,
    "ResNet50Layers": 224,
    "ResNet101Layers": 224,
    "ResNet152Layers": 224,
    "VGG16Layers": 224,
    "VGG19Layers": 224,
}


def filled(name):
    """Makes a network, whose parameters and statistics depend on their path only."""
    model = getattr(L, name)(pretrained_model=None)
    for path, param in model.namedparams():
        random = np.random.RandomState(zlib.crc32(path.encode()) & 0xFFFFFFFF)
        if path.endswith("gamma"):
            param.data[...] = random.uniform(0.5, 1.0, param.shape)
        elif len(param.shape) == 1:
            param.data[...] = random.uniform(-0.1, 0.1, param.shape)
        else:
            # A few random numbers again and again are enough.
            bound = np.sqrt(4 * param.shape[0] / float(param.data.size))
            param.data[...] = np.resize(random.uniform(-bound, bound, 10007), param.shape)
    for path, link in model.namedlinks():
        if hasattr(link, "avg_mean"):
            random = np.random.RandomState(zlib.crc32(path.encode()) & 0xFFFFFFFF)
            link.avg_mean[...] = random.uniform(-0.1, 0.1, link.avg_mean.shape)
            link.avg_var[...] = random.uniform(0.5, 1.5, link.avg_var.shape)
    return model


def image(name):
    size = INPUT_SIZES[name]
    return np.random.RandomState(1).uniform(-1, 1, (1, 3, size, size)).astype(np.float32)


def call(model, x):
    return model(x, layers=["prob"])["prob"]


def output(model):
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        return call(model, image(type(model).__name__)).data


def main(action, name, folder):
    path = os.path.join(folder, "model")
    if action == "write":
        model = filled(name)
        chainer.serializers.save_npz(path, model, compression=False)
        np.save(os.path.join(folder, "output.npy"), output(model))
    else:
        model = getattr(L, name)(pretrained_model=None)
        chainer.serializers.load_npz(path, model)
        expected = np.load(os.path.join(folder, "output.npy"))
        np.testing.assert_allclose(output(model), expected, rtol=1e-3, atol=1e-6)
        print(name + " agrees")


if __name__ == "__main__":
    main(*sys.argv[1:])
