"""Vectors of words, by skip-gram or a continuous bag of words, and three output layers.

python train_word2vec.py --model skipgram --output hsm
python train_word2vec.py --small
"""

import argparse
import collections

import numpy as np
from small_data import add_options, duration, extend, set_weights
from train_ptb import small_text

import chainer
import chainer.functions as F
import chainer.initializers as I
import chainer.links as L
from chainer import training


class ContinuousBoW(chainer.Chain):
    """The words around a place tell together which word is there."""

    def __init__(self, words, units, output):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(words, units, initialW=I.Uniform(1.0 / units))
            self.output = output

    def forward(self, x, contexts):
        h = F.average(self.embed(contexts), axis=1)
        loss = self.output(h, x)
        chainer.report({"loss": loss}, self)
        return loss


class SkipGram(chainer.Chain):
    """Each of the words around a place tells which word is there."""

    def __init__(self, words, units, output):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(words, units, initialW=I.Uniform(1.0 / units))
            self.output = output

    def forward(self, x, contexts):
        batch, count = contexts.shape
        x = F.reshape(F.broadcast_to(x[:, None], (batch, count)), (batch * count,))
        h = self.embed(F.reshape(contexts, (batch * count,)))
        loss = self.output(h, x)
        chainer.report({"loss": loss}, self)
        return loss


class SoftmaxOutput(chainer.Chain):
    """Scores of all words: exact, and slow for many words."""

    def __init__(self, units, words):
        super().__init__()
        with self.init_scope():
            self.scores = L.Linear(units, words, initialW=0)

    def forward(self, h, t):
        return F.softmax_cross_entropy(self.scores(h), t)


class WindowIterator(chainer.dataset.Iterator):
    """Makes batches of words and the words around them."""

    def __init__(self, text, window, batch_size, shuffle=True):
        self.text = text
        self.window = window
        self.batch_size = batch_size
        self.places = np.arange(window, len(text) - window, dtype=np.int32)
        if shuffle:
            self.places = np.random.permutation(self.places).astype(np.int32)
        self.position = 0
        self.epoch = 0
        self.is_new_epoch = False

    def __next__(self):
        end = self.position + self.batch_size
        places = self.places[self.position : end]
        offsets = np.concatenate([np.arange(-self.window, 0), np.arange(1, self.window + 1)])
        contexts = self.text[places[:, None] + offsets[None, :]]
        self.is_new_epoch = end >= len(self.places)
        self.position = 0 if self.is_new_epoch else end
        self.epoch += int(self.is_new_epoch)
        return self.text[places], contexts

    next = __next__

    @property
    def epoch_detail(self):
        return self.epoch + self.position / len(self.places)

    def serialize(self, serializer):
        self.position = serializer("position", self.position)
        self.epoch = serializer("epoch", self.epoch)
        self.places = serializer("places", self.places)


@chainer.dataset.converter()
def convert(batch, device):
    """A batch is a pair of arrays already."""
    words, contexts = batch
    return device.send(words), device.send(contexts)


def make_output(kind, counts, units):
    """Returns the output layer: a link of vectors and words that computes a loss."""
    if kind == "hsm":
        tree = L.BinaryHierarchicalSoftmax.create_huffman_tree(counts)
        return L.BinaryHierarchicalSoftmax(units, tree)
    if kind == "ns":
        output = L.NegativeSampling(units, [counts[i] for i in range(len(counts))], 5)
        output.W.array[...] = 0
        return output
    return SoftmaxOutput(units, len(counts))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser, epochs=20)
    parser.add_argument("--model", choices=["skipgram", "cbow"], default="skipgram")
    parser.add_argument("--output", choices=["hsm", "ns", "softmax"], default="softmax")
    parser.add_argument("--batch-size", "-b", type=int, default=1000)
    parser.add_argument("--units", "-u", type=int, default=100)
    parser.add_argument("--window", "-w", type=int, default=5)
    arguments = parser.parse_args()
    device = chainer.get_device(arguments.device)
    device.use()

    if arguments.small:
        text = small_text()
        arguments.batch_size, arguments.units, arguments.window = 10, 6, 2
    else:
        text, _, _ = chainer.datasets.get_ptb_words()
    counts = collections.Counter(int(word) for word in text)
    output = make_output(arguments.output, counts, arguments.units)
    model_class = {"skipgram": SkipGram, "cbow": ContinuousBoW}[arguments.model]
    model = model_class(max(counts) + 1, arguments.units, output)
    if arguments.small:
        set_weights(model)
    model.to_device(device)
    optimizer = chainer.optimizers.Adam().setup(model)
    iterator = WindowIterator(
        text, arguments.window, arguments.batch_size, shuffle=not arguments.small
    )
    updater = training.updaters.StandardUpdater(
        iterator, optimizer, converter=convert, device=device
    )
    trainer = training.Trainer(updater, duration(arguments), out=arguments.out)
    extend(trainer, arguments)
    trainer.run()
    np.savez(arguments.out + "/vectors.npz", W=device_to_host(model.embed.W.array))


def device_to_host(array):
    """Returns an array of NumPy."""
    return chainer.get_device("@numpy").send(array)


if __name__ == "__main__":
    main()
