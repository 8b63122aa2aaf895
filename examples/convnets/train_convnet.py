#!/usr/bin/env python3
"""Train a convolutional network on handwritten digits or on images of your own.

Images are read from a directory with a subdirectory for each class. Without them, the digits that
come with scikit-learn are used. Leaves log, snapshot.npz and model.npz in the output directory.
"""

import argparse
import os

import models
import numpy as np
from images import get_digits, get_folder

import chainer
import chainer.links as L
from chainer import training
from chainer.training import extensions

ARCHITECTURES = {
    "lenet5": models.LeNet5,
    "vgg16": models.VGG16,
    "resnet152": models.ResNet152,
}


def existing_file(path):
    """Returns the path of a file; argparse tells the user if there is none."""
    if not os.path.isfile(path):
        raise argparse.ArgumentTypeError(f"there is no file {path!r}")
    return path


def existing_directory(path):
    """Returns the path of a directory; argparse tells the user if there is none."""
    if not os.path.isdir(path):
        raise argparse.ArgumentTypeError(f"there is no directory {path!r}")
    return path


def parse_args():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    add = parser.add_argument
    add("images", nargs="?", type=existing_directory, help="directory of images")
    add("--arch", "-a", choices=ARCHITECTURES, default="lenet5", help="network")
    add("--size", type=int, help="width and height of the images; what the network is made for")
    add("--limit", type=int, help="use so many images only")
    add("--batchsize", "-b", type=int, default=32, help="images in a minibatch")
    add("--epoch", "-e", type=int, default=20, help="sweeps; 0 to evaluate only")
    add("--lr", type=float, default=0.001, help="learning rate of Adam")
    add("--seed", type=int, default=0, help="seed of all random numbers")
    add("--device", "-d", default="@numpy", help="device, such as @numpy or @cupy:0")
    add("--out", "-o", default="result", help="directory of the results")
    model_help = "start with the parameters of a model.npz"
    add("--model", "-m", type=existing_file, metavar="FILE", help=model_help)
    add("--resume", "-r", type=existing_file, metavar="SNAPSHOT", help="go on from a snapshot")
    add("--no-save", action="store_true", help="write neither snapshot.npz nor model.npz")
    return parser.parse_args()


def main():
    args = parse_args()
    device = chainer.get_device(args.device)
    chainer.utils.seed(args.seed)  # of this device, too
    architecture = ARCHITECTURES[args.arch]
    size = args.size or architecture.size

    if args.images:
        dataset, names = get_folder(args.images, architecture.channels, size)
    else:
        dataset, names = get_digits(architecture.channels, size)
    n = min(args.limit or len(dataset), len(dataset))
    order = np.random.RandomState(args.seed).permutation(len(dataset))
    train = chainer.datasets.SubDataset(dataset, 0, n * 3 // 4, order)
    test = chainer.datasets.SubDataset(dataset, n * 3 // 4, n, order)
    print(f"{len(train)} + {len(test)} images of {size}x{size} pixels, classes: {', '.join(names)}")

    predictor = architecture()
    # The sizes of the inputs are inferred at the first call.
    with chainer.no_backprop_mode(), chainer.using_config("train", False):
        outputs = predictor(np.zeros((1, architecture.channels, size, size), np.float32)).shape[1]
    if len(names) > outputs:
        raise SystemExit(f"{args.arch} tells {outputs} classes apart, there are {len(names)}")
    print(f"{args.arch}: {predictor.count_params():,} parameters")
    if args.model:
        chainer.serializers.load_npz(args.model, predictor)
    model = L.Classifier(predictor)
    model.to_device(device)

    test_iter = chainer.iterators.SerialIterator(test, args.batchsize, repeat=False, shuffle=False)
    if args.epoch:
        fit(args, model, train, test_iter, device)
        test_iter.reset()
    result = extensions.Evaluator(test_iter, model, device=device)()
    print(f"held-out accuracy {float(result['main/accuracy']):.4f}")
    if not args.no_save:
        predictor.to_device("@numpy")
        os.makedirs(args.out, exist_ok=True)
        chainer.serializers.save_npz(os.path.join(args.out, "model.npz"), predictor)


def fit(args, model, train, test_iter, device):
    """Trains the model."""
    optimizer = chainer.optimizers.Adam(args.lr)
    optimizer.setup(model)
    train_iter = chainer.iterators.SerialIterator(train, args.batchsize)
    updater = training.StandardUpdater(train_iter, optimizer, device=device)
    trainer = training.Trainer(updater, (args.epoch, "epoch"), out=args.out)
    # The accuracy alone: in evaluation, the networks give probabilities instead of scores.
    trainer.extend(extensions.Evaluator(test_iter, model, device=device))
    trainer.extend(extensions.LogReport())
    trainer.extend(
        extensions.PrintReport(
            ["epoch", "main/loss", "main/accuracy", "validation/main/accuracy", "elapsed_time"]
        )
    )
    trainer.extend(extensions.ProgressBar(update_interval=10))
    if not args.no_save:
        trainer.extend(extensions.snapshot(filename="snapshot.npz"), trigger=(1, "epoch"))
    if args.resume:
        chainer.serializers.load_npz(args.resume, trainer)
    trainer.run()


if __name__ == "__main__":
    main()
