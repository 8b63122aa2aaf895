"""Trains a classifier of handwritten digits with many extensions.

Each update is made from several small batches, an average of the parameters is kept and evaluated,
the best snapshots stay, and the training stops when the average no longer improves. Watch it
live on a terminal, afterwards in result/log.csv, or with `tensorboard --logdir result`. End it
by Ctrl-C or kill, and start it again: it goes on.
"""

from __future__ import annotations

import argparse
import os
import sys

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.training import extensions
from chainer.training.extensions import (
    BestSnapshots,
    CSVLogger,
    Dashboard,
    EarlyStop,
    EMAEvaluator,
    ExponentialMovingAverage,
    JSONLinesLogger,
    SignalSnapshot,
    TensorBoardWriter,
    list_best,
)
from chainer.training.triggers import AnyTrigger, StopRequestedTrigger
from chainer.training.updaters import GradientAccumulationUpdater


class MLP(chainer.Chain):
    """Two hidden layers of rectified linear units."""

    def __init__(self, n_units, n_out):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(64, n_units)
            self.l2 = L.Linear(n_units, n_units)
            self.l3 = L.Linear(n_units, n_out)

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
    dataset = chainer.datasets.TupleDataset(images, digits.target.astype(np.int32))
    return chainer.datasets.split_dataset_random(dataset, len(dataset) * 3 // 4, seed=seed)


def parse_args():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--epoch", type=int, default=100, help="sweeps at most (100)")
    parser.add_argument("--patience", type=int, default=8, help="epochs without improvement (8)")
    parser.add_argument("--batchsize", type=int, default=16, help="images in a minibatch (16)")
    parser.add_argument("--accumulate", type=int, default=4, help="minibatches an update (4)")
    parser.add_argument("--seed", type=int, default=0, help="seed of all random numbers (0)")
    parser.add_argument("--out", default="result", help="directory of the results (result)")
    return parser.parse_args()


def main():
    args = parse_args()
    np.random.seed(args.seed)
    train, test = get_digits(args.seed)
    train_iterator = chainer.iterators.SerialIterator(train, args.batchsize)

    def test_iterator():
        return chainer.iterators.SerialIterator(test, 128, repeat=False, shuffle=False)

    model = L.Classifier(MLP(64, 10))
    optimizer = chainer.optimizers.Adam(2e-3).setup(model)
    updater = GradientAccumulationUpdater(train_iterator, optimizer, n_accumulate=args.accumulate)
    trainer = training.Trainer(updater, (args.epoch, "epoch"), out=args.out)

    ema = ExponentialMovingAverage(model, decay=0.98, warmup=True)
    trainer.extend(ema)
    trainer.extend(extensions.Evaluator(test_iterator(), model))
    trainer.extend(EMAEvaluator(test_iterator(), model, ema))
    metric = "ema_validation/main/loss"
    trainer.extend(EarlyStop(metric, args.patience, min_delta=1e-3, divergence=10, verbose=False))
    trainer.extend(CSVLogger())
    trainer.extend(JSONLinesLogger())

    def first_layer(trainer):
        W = model.predictor.l1.W.array[:16].reshape(-1, 1, 8, 8)
        return {"first layer": (W - W.min()) / (W.max() - W.min())}

    trainer.extend(
        TensorBoardWriter(
            graph="main/loss",
            histograms=(5, "epoch"),
            images=first_layer,
            images_trigger=AnyTrigger((10, "epoch"), StopRequestedTrigger()),
        )
    )
    trainer.extend(Dashboard())
    trainer.extend(BestSnapshots(metric, k=3))
    trainer.extend(SignalSnapshot(extensions.snapshot(filename="resume", autoload=True)))
    # Ctrl-C leaves no snapshot: this one is at most an epoch old.
    trainer.extend(extensions.snapshot(filename="resume"), name="resume", trigger=(1, "epoch"))
    trainer.run()

    print(f"end: {trainer.stop_reason or f'{args.epoch} epochs'}")
    for entry in list_best(args.out):
        print(f"{entry.file}: {metric} {entry.value:.4f}, epoch {entry.epoch}")
    best = os.path.join(args.out, list_best(args.out)[0].file)
    chainer.serializers.load_npz(best, trainer)
    with ema.applied(model):
        result = extensions.Evaluator(test_iterator(), model)()
        chainer.serializers.save_npz(os.path.join(args.out, "model.npz"), model)
    print(f"held-out accuracy of the averaged model {float(result['main/accuracy']):.4f}")


if __name__ == "__main__":
    main()
