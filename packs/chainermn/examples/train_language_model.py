#!/usr/bin/env python3
"""Train a language model of characters in one or more processes.

    python train_language_model.py --launch 2

The text is a file of your choice, or the language reference that is installed with Python. Each
process reads another part of the text. The loss that is printed is the mean over all processes.
"""

import argparse
import sys

import chainermn
import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.training import extensions


def read(path):
    """Returns the numbers of the characters of a text, and the number of different ones."""
    if path is not None:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    else:
        from pydoc_data.topics import topics

        text = "\n".join(topics[name] for name in sorted(topics))
    characters = {character: i for i, character in enumerate(sorted(set(text)))}
    return np.array([characters[c] for c in text], np.int32), len(characters)


class LanguageModel(chainer.Chain):
    """Predicts each character from those before it, by a GRU."""

    def __init__(self, n_characters, n_units):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_characters, n_units)
            self.rnn = L.NStepGRU(1, n_units, n_units, 0.0)
            self.output = L.Linear(n_units, n_characters)

    def __call__(self, windows):
        inputs = F.separate(self.embed(windows[:, :-1]))
        _, hidden = self.rnn(None, list(inputs))
        y = self.output(F.concat(hidden, axis=0))
        loss = F.softmax_cross_entropy(y, windows[:, 1:].reshape(-1))
        chainer.report({"loss": loss}, self)
        return loss


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--launch", type=int, metavar="N", default=0, help="start N processes")
    parser.add_argument("--text", help="file to read")
    parser.add_argument("--length", type=int, default=32, help="characters of an example")
    parser.add_argument("--batchsize", "-b", type=int, default=32, help="of each process")
    parser.add_argument("--iteration", "-i", type=int, default=500)
    parser.add_argument("--unit", "-u", type=int, default=128)
    parser.add_argument("--out", "-o", default="result")
    args = parser.parse_args()
    if args.launch:
        from chainermn.launching import launch

        # The same arguments again: a later --launch 0 says that this is one of the processes.
        sys.exit(launch([__file__, *sys.argv[1:], "--launch", "0"], args.launch))

    comm = chainermn.create_communicator("naive")
    np.random.seed(0)
    ids, n_characters = read(args.text)
    count = len(ids) // (args.length + 1)
    windows = ids[: count * (args.length + 1)].reshape(count, -1)
    model = LanguageModel(n_characters, args.unit)
    optimizer = chainer.optimizers.Adam(0.002).setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(1.0))
    updater = training.StandardUpdater(
        chainer.iterators.SerialIterator(windows, args.batchsize), optimizer
    )
    trainer = training.Trainer(updater, (args.iteration, "iteration"), out=args.out)
    # In all processes: it is collective.
    trainer.extend(chainermn.extensions.ObservationAggregator(comm, "main/loss"))
    period = (max(args.iteration // 10, 1), "iteration")
    trainer.extend(extensions.LogReport(trigger=period))
    trainer.extend(extensions.PrintReport(["iteration", "main/loss"]), trigger=period)
    chainermn.distribute(trainer, comm, overlap=True)
    trainer.run()


if __name__ == "__main__":
    main()
