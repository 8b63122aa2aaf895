"""Classes of texts with an LSTM or a convolution over words of sentences of various lengths.

A file has one text a line: the label, a tab, and words separated by spaces.

    python train_text.py --train train.tsv --model cnn
    python train_text.py --small
"""

import argparse
import collections

import numpy as np
from small_data import add_options, duration, extend, interval, sentences, set_weights

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.training import extensions


def read(path, least=2):
    """Returns (word numbers, label) pairs, the number of words and the number of labels."""
    with open(path) as file:
        rows = [line.rstrip("\n").split("\t", 1) for line in file if "\t" in line]
    counts = collections.Counter(word for _, text in rows for word in text.split())
    words = [word for word, count in counts.most_common() if count >= least]
    numbers = {word: i + 1 for i, word in enumerate(words)}  # 0: a word that is rare
    labels = {label: i for i, label in enumerate(sorted({label for label, _ in rows}))}
    pairs = [
        (
            np.array([numbers.get(word, 0) for word in text.split()] or [0], np.int32),
            np.int32(labels[label]),
        )
        for label, text in rows
    ]
    return pairs, len(words) + 1, len(labels)


def embed_sequences(embed, xs):
    """Looks up all words in one call."""
    ends = np.cumsum([len(x) for x in xs[:-1]])
    return F.split_axis(embed(F.concat(xs, axis=0)), ends, axis=0)


class LSTMEncoder(chainer.Chain):
    def __init__(self, words, units, dropout):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(words, units)
            self.lstm = L.NStepLSTM(1, units, units, dropout)

    def forward(self, xs):
        h, _, _ = self.lstm(None, None, embed_sequences(self.embed, xs))
        return h[-1]


class CNNEncoder(chainer.Chain):
    def __init__(self, words, units, dropout):
        super().__init__()
        self.dropout = dropout
        with self.init_scope():
            self.embed = L.EmbedID(words, units, ignore_label=-1)
            self.conv3 = L.Convolution1D(units, units, 3, pad=2)
            self.conv5 = L.Convolution1D(units, units, 5, pad=4)

    def forward(self, xs):
        x = F.pad_sequence(xs, padding=-1)
        h = F.transpose(self.embed(x), (0, 2, 1))
        found = [F.max(F.relu(conv(h)), axis=2) for conv in (self.conv3, self.conv5)]
        return F.dropout(F.concat(found, axis=1), self.dropout)


class TextClassifier(chainer.Chain):
    def __init__(self, encoder, width, classes):
        super().__init__()
        with self.init_scope():
            self.encoder = encoder
            self.output = L.Linear(width, classes)

    def forward(self, xs):
        return self.output(self.encoder(xs))


@chainer.dataset.converter()
def convert(batch, device):
    """Sequences have various lengths: they stay a list of arrays."""
    xs = [device.send(x) for x, _ in batch]
    return xs, device.send(np.array([t for _, t in batch], np.int32))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser, epochs=30)
    parser.add_argument("--train", help="file with a text a line")
    parser.add_argument("--model", choices=["lstm", "cnn"], default="lstm")
    parser.add_argument("--batch-size", "-b", type=int, default=64)
    parser.add_argument("--units", "-u", type=int, default=300)
    arguments = parser.parse_args()
    if not arguments.small and not arguments.train:
        parser.error("--train is needed, or --small")
    device = chainer.get_device(arguments.device)
    device.use()

    dropout = 0.4
    if arguments.small:
        data, words, classes = sentences(), 20, 2
        arguments.batch_size, arguments.units, dropout = 8, 6, 0
    else:
        data, words, classes = read(arguments.train)
    test = data[::10]
    train = [pair for i, pair in enumerate(data) if i % 10]
    width = arguments.units * (1 if arguments.model == "lstm" else 2)
    encoder = {"lstm": LSTMEncoder, "cnn": CNNEncoder}[arguments.model]
    model = L.Classifier(TextClassifier(encoder(words, arguments.units, dropout), width, classes))
    if arguments.small:
        set_weights(model)
    model.to_device(device)
    optimizer = chainer.optimizers.Adam().setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(1e-4))

    train_iter = chainer.iterators.SerialIterator(
        train, arguments.batch_size, shuffle=not arguments.small
    )
    test_iter = chainer.iterators.SerialIterator(
        test, arguments.batch_size, repeat=False, shuffle=False
    )
    updater = training.StandardUpdater(train_iter, optimizer, converter=convert, device=device)
    trainer = training.Trainer(updater, duration(arguments), out=arguments.out)
    trainer.extend(
        extensions.Evaluator(test_iter, model, converter=convert, device=device),
        trigger=interval(arguments),
    )
    extend(trainer, arguments, "main/accuracy", "validation/main/accuracy")
    trainer.run()


if __name__ == "__main__":
    main()
