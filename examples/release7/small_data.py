"""Small data made by rules, and weights that do not depend on a release's random numbers.

With ``--small`` the programs of this folder train on these data for some steps. So they need no
download, and the losses of two releases of Chainer can be compared.
"""

import json
import os

import numpy as np

from chainer import training


def images(count=60, classes=10, shape=(1, 28, 28), seed=0):
    """Returns (image, label) pairs: a pattern for each class, and noise; values from 0 to 1."""
    random = np.random.RandomState(seed)
    patterns = random.uniform(0, 1, (classes, *shape))
    labels = random.randint(0, classes, count).astype(np.int32)
    noise = random.uniform(-0.2, 0.2, (count, *shape))
    pixels = np.clip(patterns[labels] + noise, 0, 1).astype(np.float32)
    return list(zip(pixels, labels))


def sentences(count=40, words=20, classes=2, seed=0):
    """Returns (word numbers, label) pairs of various lengths; the words depend on the label."""
    random = np.random.RandomState(seed)
    pairs = []
    for _ in range(count):
        label = random.randint(classes)
        first, last = words * label // classes, words * (label + 1) // classes
        numbers = random.randint(first, last, random.randint(3, 9))
        pairs.append((numbers.astype(np.int32), np.int32(label)))
    return pairs


def set_weights(model, seed=0):
    """Gives all parameters values that depend on their names' order and their shapes alone."""
    random = np.random.RandomState(seed)
    for _, parameter in sorted(model.namedparams()):
        array = parameter.array
        scale = 1 / np.sqrt(max(array[0].size, 1)) if array.ndim > 1 else 0.01
        array[...] = random.normal(0, scale, array.shape)
        if parameter.name == "gamma":  # scales of normalizations
            array += 1


def write_log(folder, losses):
    """Writes losses as a LogReport does."""
    if not os.path.isdir(folder):
        os.makedirs(folder)
    entries = [{"iteration": i + 1, "main/loss": float(loss)} for i, loss in enumerate(losses)]
    with open(os.path.join(folder, "log"), "w") as file:
        json.dump(entries, file)


def add_options(parser, epochs):
    """Adds the options that all programs of this folder have."""
    parser.add_argument("--device", "-d", default="@numpy", help="@numpy, @intel64 or @cupy:0")
    parser.add_argument("--epochs", "-e", type=int, default=epochs)
    parser.add_argument("--out", "-o", default="result", help="folder for what comes out")
    parser.add_argument("--small", action="store_true", help="ten steps with small data")


def duration(arguments):
    """Returns the length of the training."""
    return (10, "iteration") if arguments.small else (arguments.epochs, "epoch")


def interval(arguments):
    """Returns how often to report."""
    return (1, "iteration") if arguments.small else (1, "epoch")


def extend(trainer, arguments, *columns, postprocess=None):
    """Adds the extensions that all trainers of this folder have: snapshots, a log, a table."""
    extensions = training.extensions
    # A training that was stopped continues with the newest snapshot of the folder.
    trainer.extend(
        extensions.snapshot(n_retains=1, autoload=not arguments.small),
        trigger=duration(arguments) if arguments.small else (1, "epoch"),
    )
    trainer.extend(extensions.LogReport(trigger=interval(arguments), postprocess=postprocess))
    trainer.extend(
        extensions.PrintReport(["epoch", "iteration", "main/loss", *list(columns)]),
        trigger=interval(arguments),
    )
