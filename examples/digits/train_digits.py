#!/usr/bin/env python3
"""Train a classifier on handwritten digits: 1,797 real images of 8x8 pixels that come with
scikit-learn.

Leaves in the output directory: log (JSON), loss.png and accuracy.png, cg.dot (the computational
graph), snapshot.npz (the whole state of the training) and model.npz (the parameters).
"""

import argparse
import os
import sys

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.core.config.blas_threads import slow_threads_advice
from chainer.training import extensions


class MLP(chainer.Chain):
    """Two hidden layers of rectified linear units."""

    def __init__(self, n_units, n_out):
        super().__init__()
        with self.init_scope():
            # The input sizes are inferred at the first call.
            self.l1 = L.Linear(None, n_units)
            self.l2 = L.Linear(None, n_units)
            self.l3 = L.Linear(None, n_out)

    def forward(self, x):
        h = F.relu(self.l1(x))
        h = F.relu(self.l2(h))
        return self.l3(h)


def get_digits(seed):
    """Returns training and held-out data: pairs of 64 pixels in [0, 1] and a label."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        sys.exit(
            f"this example needs scikit-learn: {chainer.utils.install_command('scikit-learn')}"
        )
    digits = load_digits()
    images = (digits.data / 16).astype(np.float32)
    labels = digits.target.astype(np.int32)
    dataset = chainer.datasets.TupleDataset(images, labels)
    return chainer.datasets.split_dataset_random(dataset, len(dataset) * 3 // 4, seed=seed)


def parse_args():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--batchsize", "-b", type=int, default=32, help="images in a minibatch")
    parser.add_argument("--epoch", "-e", type=int, default=30, help="sweeps over the training data")
    parser.add_argument("--unit", "-u", type=int, default=128, help="units of a hidden layer")
    parser.add_argument("--seed", type=int, default=0, help="seed of all random numbers")
    parser.add_argument(
        "--device", "-d", default="@numpy", help="device, such as @numpy or @cupy:0"
    )
    parser.add_argument(
        "--capture", action="store_true", help="record the update once and repeat it"
    )
    parser.add_argument("--out", "-o", default="result", help="directory of the results")
    parser.add_argument(
        "--resume",
        "-r",
        nargs="?",
        const="",
        metavar="SNAPSHOT",
        help="go on from a snapshot; without a name, from the one in the output directory",
    )
    parser.add_argument(
        "--stop-after", type=int, metavar="EPOCH", help="stop early, to try --resume"
    )
    args = parser.parse_args()
    if args.resume is not None:
        args.resume = args.resume or os.path.join(args.out, "snapshot.npz")
        if not os.path.isfile(args.resume):
            parser.error(f"argument --resume/-r: there is no file {args.resume!r}")
    return args


def main():
    args = parse_args()
    advice = slow_threads_advice()
    if advice:
        print(f"Note: {advice}", file=sys.stderr)
    device = chainer.get_device(args.device)
    chainer.utils.seed(args.seed)  # of this device, too

    model = L.Classifier(MLP(args.unit, 10))
    model.to_device(device)
    optimizer = chainer.optimizers.Adam()
    optimizer.setup(model)

    train, test = get_digits(args.seed)
    train_iter = chainer.iterators.SerialIterator(train, args.batchsize)
    test_iter = chainer.iterators.SerialIterator(test, 128, repeat=False, shuffle=False)

    updater = training.StandardUpdater(train_iter, optimizer, device=device, capture=args.capture)
    trainer = training.Trainer(updater, (args.stop_after or args.epoch, "epoch"), out=args.out)

    trainer.extend(extensions.Evaluator(test_iter, model, device=device))
    trainer.extend(extensions.dump_graph("main/loss"))
    trainer.extend(extensions.snapshot(filename="snapshot.npz"), trigger=(1, "epoch"))
    trainer.extend(extensions.LogReport())
    trainer.extend(
        extensions.PlotReport(["main/loss", "validation/main/loss"], "epoch", file_name="loss.png")
    )
    trainer.extend(
        extensions.PlotReport(
            ["main/accuracy", "validation/main/accuracy"], "epoch", file_name="accuracy.png"
        )
    )
    trainer.extend(
        extensions.PrintReport(
            [
                "epoch",
                "main/loss",
                "validation/main/loss",
                "main/accuracy",
                "validation/main/accuracy",
                "elapsed_time",
            ]
        )
    )
    trainer.extend(extensions.ProgressBar(update_interval=20))

    if args.resume:
        chainer.serializers.load_npz(args.resume, trainer)
        print(f"going on from {args.resume}: epoch {updater.epoch}, iteration {updater.iteration}")

    trainer.run()

    model.to_device("@numpy")
    path = os.path.join(args.out, "model.npz")
    chainer.serializers.save_npz(path, model)
    test_iter.reset()
    result = extensions.Evaluator(test_iter, model)()
    print(f"held-out accuracy {float(result['main/accuracy']):.4f}; results are in {args.out}/")


if __name__ == "__main__":
    main()
