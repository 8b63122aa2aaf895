"""Rows of the benchmarks of training steps, and their data, the same for every framework.

A row is a network, which each framework writes in its ``capture_nets.py`` or ``fast_nets.py``, and
the batches below.
"""

from __future__ import annotations

#: Name of the row -> inputs and labels of a batch: a shape of normal numbers, or
#: ``(high, shape)`` of integers below ``high``.
ROWS = {
    "MLP b32": ((32, 784), (10, (32,))),
    "wide MLP b100": ((100, 784), (10, (100,))),
    "LeNet b64": ((64, 1, 28, 28), (10, (64,))),
    "LSTM 35x20": ((1000, (35, 20)), (1000, (35, 20))),
    "Transformer 16x32": ((1000, (16, 32)), (1000, (16, 32))),
    "CNN 64 b64": ((64, 3, 32, 32), (10, (64,))),
    "VGG16 b8": ((8, 3, 64, 64), (10, (8,))),
    "ResNet50 b8": ((8, 3, 64, 64), (100, (8,))),
    "GRU 35x20": ((1000, (35, 20)), (1000, (35, 20))),
    "NStepLSTM 35x20": ((1000, (35, 20)), (1000, (35, 20))),
    "GPT-2 layer 1x128": ((128, 768), (128, 768)),
    "graph network": ((1000, 64), (10, (1000,))),
    "U-Net b4": ((4, 3, 64, 64), (4, (4, 64, 64))),
    "WGAN-GP b16": ((16, 3, 24, 24), (16, 3, 24, 24)),
}

#: Layers of VGG16 (configuration D), by resolution, and its classes.
VGG16 = ((64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512))

#: Inner channels and blocks of the stages of ResNet50.
RESNET50 = ((64, 3), (128, 4), (256, 6), (512, 3))

#: Channels of U-Net, by resolution.
UNET = (16, 32, 64)

#: Edges of the graph, units of the nodes, and classes.
EDGES, UNITS, CLASSES = 5000, 64, 10

#: Factor of the gradient penalty.
PENALTY = 10.0


def with_data(nets, random, integers):
    """Returns name -> network, what makes inputs of a number, what makes labels of a number.

    Args:
        nets: Name -> function that makes a network.
        random: Function of a shape and a seed that makes normal numbers.
        integers: Function of a limit, a shape and a seed that makes integers.
    """

    def maker(spec):
        if isinstance(spec[1], tuple):
            return lambda n: integers(spec[0], *spec[1], seed=n)
        return lambda n: random(*spec, seed=n)

    return {name: (net, *map(maker, ROWS[name])) for name, net in nets.items()}
