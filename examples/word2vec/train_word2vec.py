#!/usr/bin/env python3
"""Train word embeddings with word2vec.

The text is a file of your choice, the Penn Treebank (--ptb, downloaded at the first time), or the
language reference installed with Python. Leaves log, snapshot.npz and word2vec.model (text: a word
and its vector on each line) in the output directory; search.py finds similar words in the last.
"""

import argparse
import collections
import os
import re

import numpy as np

import chainer
import chainer.functions as F
import chainer.initializers as I
import chainer.links as L
import chainer.optimizers as O
from chainer import reporter, training
from chainer.backends import cuda
from chainer.training import extensions


class ContinuousBoW(chainer.Chain):
    """Predicts a word from the mean embedding of the words around it."""

    def __init__(self, n_vocab, n_units, loss_func):
        super().__init__()

        with self.init_scope():
            self.embed = L.EmbedID(n_vocab, n_units, initialW=I.Uniform(1.0 / n_units))
            self.loss_func = loss_func

    def __call__(self, x, contexts):
        e = self.embed(contexts)
        h = F.sum(e, axis=1) * (1.0 / contexts.shape[1])
        loss = self.loss_func(h, x)
        reporter.report({"loss": loss}, self)
        return loss


class SkipGram(chainer.Chain):
    """Predicts a word from the embedding of each of the words around it."""

    def __init__(self, n_vocab, n_units, loss_func):
        super().__init__()

        with self.init_scope():
            self.embed = L.EmbedID(n_vocab, n_units, initialW=I.Uniform(1.0 / n_units))
            self.loss_func = loss_func

    def __call__(self, x, contexts):
        e = self.embed(contexts)
        batch_size, n_context, n_units = e.shape
        x = F.broadcast_to(x[:, None], (batch_size, n_context))
        e = F.reshape(e, (batch_size * n_context, n_units))
        x = F.reshape(x, (batch_size * n_context,))
        loss = self.loss_func(e, x)
        reporter.report({"loss": loss}, self)
        return loss


class SoftmaxCrossEntropyLoss(chainer.Chain):
    """Softmax cross entropy loss function preceded by linear transformation."""

    def __init__(self, n_in, n_out):
        super().__init__()
        with self.init_scope():
            self.out = L.Linear(n_in, n_out, initialW=0)

    def __call__(self, x, t):
        return F.softmax_cross_entropy(self.out(x), t)


class WindowIterator(chainer.dataset.Iterator):
    """Dataset iterator to create a batch of sequences at different positions.

    This iterator returns a pair of the current words and the context words.
    """

    def __init__(self, dataset, window, batch_size, repeat=True):
        self.dataset = np.array(dataset, np.int32)
        self.window = window  # size of context window
        self.batch_size = batch_size
        self._repeat = repeat
        # The places of the words that have a whole window around them, shuffled.
        self.order = np.random.permutation(len(dataset) - window * 2).astype(np.int32)
        self.order += window
        self.reset()

    def reset(self):
        self.current_position = 0
        # Completed sweeps: incremented when every word has been visited since the last time.
        self.epoch = 0
        self.is_new_epoch = False

    def __next__(self):
        if not self._repeat and self.epoch > 0:
            raise StopIteration

        i = self.current_position
        i_end = i + self.batch_size
        position = self.order[i:i_end]
        # The nearer a word, the more often it is in the window.
        w = np.random.randint(1, self.window + 1)
        offset = np.concatenate([np.arange(-w, 0), np.arange(1, w + 1)])
        pos = position[:, None] + offset[None, :]
        contexts = self.dataset.take(pos)
        center = self.dataset.take(position)

        if i_end >= len(self.order):
            np.random.shuffle(self.order)
            self.epoch += 1
            self.is_new_epoch = True
            self.current_position = 0
        else:
            self.is_new_epoch = False
            self.current_position = i_end

        return center, contexts

    @property
    def epoch_detail(self):
        return self.epoch + float(self.current_position) / len(self.order)

    def serialize(self, serializer):
        self.current_position = serializer("current_position", self.current_position)
        self.epoch = serializer("epoch", self.epoch)
        self.is_new_epoch = serializer("is_new_epoch", self.is_new_epoch)
        serializer("order", self.order)


def convert(batch, device):
    """Sends the two arrays of a batch to the device."""
    center, contexts = batch
    return chainer.dataset.to_device(device, center), chainer.dataset.to_device(device, contexts)


def read_words(path=None):
    """Returns the words of a text in lower case, without punctuation."""
    if path is None:
        # The chapters of the language reference that are installed with Python.
        from pydoc_data.topics import topics

        text = "\n".join(topics[name] for name in sorted(topics))
    else:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    return re.findall(r"\w+(?:['’-]\w+)*", text.lower())


def get_dataset(args):
    """Returns the IDs of two parts of the text, and the words by ID."""
    if args.ptb:
        train, val, _ = chainer.datasets.get_ptb_words()
        vocabulary = chainer.datasets.get_ptb_words_vocabulary()
        return train, val, {i: word for word, i in vocabulary.items()}
    words = read_words(args.text)
    counts = collections.Counter(words)
    # Rare words are left out, so that the others come closer to each other.
    words = [word for word in words if counts[word] >= args.min_count]
    kept = [word for word, count in counts.most_common() if count >= args.min_count]
    vocabulary = {word: i for i, word in enumerate(kept)}
    ids = np.array([vocabulary[word] for word in words], np.int32)
    train, val = np.split(ids, [len(ids) * 9 // 10])
    return train, val, dict(enumerate(kept))


def make_loss_function(args, counts, n_vocab):
    """Returns the loss function: a link that takes embeddings and word IDs."""
    if args.out_type == "hsm":
        tree = L.BinaryHierarchicalSoftmax.create_huffman_tree(counts)
        loss_func = L.BinaryHierarchicalSoftmax(args.unit, tree)
        loss_func.W.array[...] = 0
    elif args.out_type == "ns":
        loss_func = L.NegativeSampling(
            args.unit, [counts[w] for w in range(n_vocab)], args.negative_size
        )
        loss_func.W.array[...] = 0
    else:
        loss_func = SoftmaxCrossEntropyLoss(args.unit, n_vocab)
    return loss_func


def save_embeddings(path, model, words):
    """Writes the vectors in the text format of the word2vec tool."""
    w = cuda.to_cpu(model.embed.W.array)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{len(words)} {w.shape[1]}\n")
        for i, vector in enumerate(w):
            file.write(f"{words[i]} {' '.join(f'{v:g}' for v in vector)}\n")


def existing_file(path):
    """Returns the path of a file; argparse tells the user if there is none."""
    if not os.path.isfile(path):
        raise argparse.ArgumentTypeError(f"there is no file {path!r}")
    return path


def parse_args():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("text", nargs="?", type=existing_file, help="text file in UTF-8")
    parser.add_argument("--ptb", action="store_true", help="use the Penn Treebank")
    parser.add_argument("--min-count", type=int, default=5, help="leave out rarer words")
    parser.add_argument("--unit", "-u", type=int, default=100, help="numbers in a vector")
    parser.add_argument("--window", "-w", type=int, default=5, help="words on either side")
    parser.add_argument("--batchsize", "-b", type=int, default=100, help="words in a minibatch")
    parser.add_argument("--epoch", "-e", type=int, default=10, help="sweeps over the text")
    parser.add_argument(
        "--model",
        "-m",
        choices=["skipgram", "cbow"],
        default="skipgram",
        help="predict a word from each of its neighbors, or from their mean",
    )
    parser.add_argument(
        "--out-type",
        "-t",
        choices=["ns", "hsm", "original"],
        default="ns",
        help="negative sampling, hierarchical softmax, or softmax over all words",
    )
    parser.add_argument(
        "--negative-size", type=int, default=5, help="words to tell a true one from (ns)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of all random numbers")
    parser.add_argument(
        "--device", "-d", default="@numpy", help="device, such as @numpy or @cupy:0"
    )
    parser.add_argument("--out", "-o", default="result", help="directory of the results")
    parser.add_argument(
        "--resume", "-r", type=existing_file, metavar="SNAPSHOT", help="go on from a snapshot"
    )
    return parser.parse_args()


def main():
    args = parse_args()
    device = chainer.get_device(args.device)
    chainer.utils.seed(args.seed)  # of this device, too

    train, val, words = get_dataset(args)
    if min(len(train), len(val)) <= args.window * 2:
        raise SystemExit(
            f"the text is too short: {len(train)} + {len(val)} words after --min-count"
        )
    n_vocab = len(words)
    print(f"n_vocab: {n_vocab}, data length: {len(train)} + {len(val)}")
    # All words of the vocabulary are in the count, those of the validation data alone as well.
    counts = collections.Counter(np.concatenate([train, val]).tolist())

    loss_func = make_loss_function(args, counts, n_vocab)
    model_class = {"skipgram": SkipGram, "cbow": ContinuousBoW}[args.model]
    model = model_class(n_vocab, args.unit, loss_func)
    model.to_device(device)

    optimizer = O.Adam()
    optimizer.setup(model)

    train_iter = WindowIterator(train, args.window, args.batchsize)
    val_iter = WindowIterator(val, args.window, args.batchsize, repeat=False)

    updater = training.updaters.StandardUpdater(
        train_iter, optimizer, converter=convert, device=device
    )
    trainer = training.Trainer(updater, (args.epoch, "epoch"), out=args.out)
    trainer.extend(extensions.Evaluator(val_iter, model, converter=convert, device=device))
    trainer.extend(extensions.LogReport())
    trainer.extend(
        extensions.PrintReport(["epoch", "main/loss", "validation/main/loss", "elapsed_time"])
    )
    trainer.extend(extensions.ProgressBar(update_interval=50))
    trainer.extend(extensions.snapshot(filename="snapshot.npz"))
    if args.resume:
        chainer.serializers.load_npz(args.resume, trainer)
    trainer.run()

    save_embeddings(os.path.join(args.out, "word2vec.model"), model, words)


if __name__ == "__main__":
    main()
