#!/usr/bin/env python3
"""Train a recurrent language model with truncated backprop through time.

The text is a file of your choice, the Penn Treebank (--ptb, downloaded at the first time), or the
language reference installed with Python. Leaves in the output directory: log, vocab.txt,
snapshot.npz and model.npz; generate.py writes sentences with the last two.
"""

import argparse
import os

import corpus
import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.training import extensions


class RNNForLM(chainer.Chain):
    """Word embedding, two layers of LSTM and a linear layer that scores the next word."""

    def __init__(self, n_vocab, n_units):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_vocab, n_units)
            self.l1 = L.LSTM(n_units, n_units)
            self.l2 = L.LSTM(n_units, n_units)
            self.l3 = L.Linear(n_units, n_vocab)

        for param in self.params():
            param.data[...] = np.random.uniform(-0.1, 0.1, param.data.shape)

    def reset_state(self):
        self.l1.reset_state()
        self.l2.reset_state()

    def __call__(self, x):
        h0 = self.embed(x)
        h1 = self.l1(F.dropout(h0))
        h2 = self.l2(F.dropout(h1))
        y = self.l3(F.dropout(h2))
        return y


class ParallelSequentialIterator(chainer.dataset.Iterator):
    """Reads a sequence from equally spaced places at once.

    A batch is a list of pairs: a word at each place, and the word that follows it.
    """

    def __init__(self, dataset, batch_size, repeat=True):
        self.dataset = dataset
        self.batch_size = batch_size
        self.repeat = repeat
        length = len(dataset)
        # The place of each sequence of the batch.
        self.offsets = [i * length // batch_size for i in range(batch_size)]
        self.reset()

    def reset(self):
        # Completed sweeps: incremented when every word has been visited since the last time.
        self.epoch = 0
        self.is_new_epoch = False
        # Not a count of parameter updates, but of calls of __next__.
        self.iteration = 0
        # -1 is used for None, which files do not hold.
        self._previous_epoch_detail = -1.0

    def __next__(self):
        length = len(self.dataset)
        if not self.repeat and self.iteration * self.batch_size >= length:
            # Without repeat, the end is where all words have been visited once.
            raise StopIteration
        cur_words = self.get_words()
        self._previous_epoch_detail = self.epoch_detail
        self.iteration += 1
        next_words = self.get_words()

        epoch = self.iteration * self.batch_size // length
        self.is_new_epoch = self.epoch < epoch
        if self.is_new_epoch:
            self.epoch = epoch

        return list(zip(cur_words, next_words))

    @property
    def epoch_detail(self):
        return self.iteration * self.batch_size / len(self.dataset)

    @property
    def previous_epoch_detail(self):
        if self._previous_epoch_detail < 0:
            return None
        return self._previous_epoch_detail

    def get_words(self):
        return [
            self.dataset[(offset + self.iteration) % len(self.dataset)] for offset in self.offsets
        ]

    def serialize(self, serializer):
        self.iteration = serializer("iteration", self.iteration)
        self.epoch = serializer("epoch", self.epoch)
        self._previous_epoch_detail = serializer(
            "previous_epoch_detail", self._previous_epoch_detail
        )


class BPTTUpdater(training.updaters.StandardUpdater):
    """Sums the losses of bprop_len words, then backpropagates and cuts the graph."""

    def __init__(self, train_iter, optimizer, bprop_len, device, capture=False):
        super().__init__(train_iter, optimizer, device=device)
        self.bprop_len = bprop_len
        self.train_step = self.step
        if capture:
            self.train_step = chainer.capture(self.step, optimizer.target, optimizer)

    def update_core(self):
        train_iter = self.get_iterator("main")
        batches = [self.converter(next(train_iter), self.device) for _ in range(self.bprop_len)]
        self.train_step(batches)

    def step(self, batches):
        loss = 0
        optimizer = self.get_optimizer("main")

        for x, t in batches:
            loss += optimizer.target(chainer.Variable(x), chainer.Variable(t))

        optimizer.target.cleargrads()  # Clear the parameter gradients
        loss.backward()  # Backprop
        loss.unchain_backward()  # Truncate the graph
        optimizer.update()  # Update the parameters


def compute_perplexity(result):
    """Adds perplexities to an entry of the log."""
    result["perplexity"] = float(np.exp(result["main/loss"]))
    if "validation/main/loss" in result:
        result["val_perplexity"] = float(np.exp(result["validation/main/loss"]))


def get_dataset(args):
    """Returns the IDs of three parts of the text, and the vocabulary."""
    if args.ptb:
        return (*chainer.datasets.get_ptb_words(), chainer.datasets.get_ptb_words_vocabulary())
    words = corpus.read_words(args.text)
    vocabulary = corpus.make_vocabulary(words, args.vocab_size)
    return (*corpus.split(corpus.to_ids(words, vocabulary)), vocabulary)


def parse_args():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("text", nargs="?", type=corpus.existing_file, help="text file in UTF-8")
    parser.add_argument("--ptb", action="store_true", help="use the Penn Treebank")
    parser.add_argument("--vocab-size", type=int, default=4000, help="words to tell apart")
    parser.add_argument("--batchsize", "-b", type=int, default=20, help="sequences in a minibatch")
    parser.add_argument(
        "--bproplen", "-l", type=int, default=35, help="words until the graph is cut"
    )
    parser.add_argument("--epoch", "-e", type=int, default=10, help="sweeps over the text")
    parser.add_argument(
        "--gradclip", "-c", type=float, default=5, help="largest norm of the gradients"
    )
    parser.add_argument("--unit", "-u", type=int, default=128, help="units of a layer of LSTM")
    parser.add_argument("--log-interval", type=int, default=40, help="iterations between logs")
    parser.add_argument("--seed", type=int, default=0, help="seed of all random numbers")
    parser.add_argument(
        "--capture", action="store_true", help="record the update once and repeat it"
    )
    parser.add_argument(
        "--device", "-d", default="@numpy", help="device, such as @numpy or @cupy:0"
    )
    parser.add_argument("--out", "-o", default="result", help="directory of the results")
    parser.add_argument(
        "--resume",
        "-r",
        type=corpus.existing_file,
        metavar="SNAPSHOT",
        help="go on from a snapshot",
    )
    return parser.parse_args()


def main():
    args = parse_args()
    device = chainer.get_device(args.device)
    chainer.utils.seed(args.seed)  # of this device, too

    train, val, test, vocabulary = get_dataset(args)
    shortest = min(len(train), len(val), len(test))
    if shortest < args.batchsize:
        raise SystemExit(
            f"the text is too short: a part has {shortest} words, a batch {args.batchsize}"
        )
    print(f"#vocab = {len(vocabulary)}, #words = {len(train)} + {len(val)} + {len(test)}")
    corpus.save_vocabulary(os.path.join(args.out, "vocab.txt"), vocabulary)

    train_iter = ParallelSequentialIterator(train, args.batchsize)
    # Reading one sequence from end to end would be exact, and that much slower.
    val_iter = ParallelSequentialIterator(val, args.batchsize, repeat=False)
    test_iter = ParallelSequentialIterator(test, args.batchsize, repeat=False)

    rnn = RNNForLM(len(vocabulary), args.unit)
    model = L.Classifier(rnn)
    model.compute_accuracy = False  # we only want the perplexity
    model.to_device(device)

    optimizer = chainer.optimizers.SGD(lr=1.0)
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(args.gradclip))

    updater = BPTTUpdater(train_iter, optimizer, args.bproplen, device, args.capture)
    trainer = training.Trainer(updater, (args.epoch, "epoch"), out=args.out)

    eval_model = model.copy()  # Model with shared params and distinct states
    eval_rnn = eval_model.predictor
    trainer.extend(
        extensions.Evaluator(
            val_iter,
            eval_model,
            device=device,
            # Reset the RNN state at the beginning of each evaluation
            eval_hook=lambda _: eval_rnn.reset_state(),
        )
    )
    interval = (args.log_interval, "iteration")
    trainer.extend(extensions.LogReport(postprocess=compute_perplexity, trigger=interval))
    trainer.extend(
        extensions.PrintReport(["epoch", "iteration", "perplexity", "val_perplexity"]),
        trigger=interval,
    )
    trainer.extend(extensions.ProgressBar(update_interval=10))
    trainer.extend(extensions.snapshot(filename="snapshot.npz"))
    if args.resume:
        # The words go on where they were; the LSTM starts with an empty memory.
        chainer.serializers.load_npz(args.resume, trainer)

    trainer.run()

    eval_rnn.reset_state()
    evaluator = extensions.Evaluator(test_iter, eval_model, device=device)
    result = evaluator()
    print("test perplexity:", np.exp(float(result["main/loss"])))

    rnn.to_device("@numpy")
    chainer.serializers.save_npz(os.path.join(args.out, "model.npz"), rnn)


if __name__ == "__main__":
    main()
