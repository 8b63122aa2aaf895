"""A small Transformer learns to write, character by character.

    python train_characters.py [--iterations 200] [--out result]

It reads all verses of a nursery rhyme but the last (*The House That Jack Built*, in the public
domain), and is judged by the last one, which repeats the others after a line of its own. In the
end it continues a beginning.
"""

import argparse
from pathlib import Path

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import iterators, optimizers, training
from chainer.training import extensions

TEXT = (Path(__file__).parent / "the_house_that_jack_built.txt").read_text()
CHARACTERS = sorted(set(TEXT))
LENGTH = 64


def encoded(text):
    return np.array([CHARACTERS.index(c) for c in text], np.int32)


class Windows(chainer.dataset.DatasetMixin):
    """All pieces of a text, with the next characters as labels."""

    def __init__(self, text, length):
        self.codes = encoded(text)
        self.length = length

    def __len__(self):
        return len(self.codes) - self.length

    def get_example(self, i):
        piece = self.codes[i : i + self.length + 1]
        return piece[:-1], piece[1:]


class Transformer(chainer.Chain):
    """Language model: embedded characters, causal layers, scores of the next character."""

    def __init__(self, n_characters, size=64, n_heads=4, n_layers=2):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_characters, size)
            self.layers = chainer.ChainList(
                *[
                    L.TransformerEncoderLayer(
                        size, n_heads, dropout=0.1, rotary=True, normalization="rms"
                    )
                    for _ in range(n_layers)
                ]
            )
            self.norm = L.RMSNormalization(size)
            self.scores = L.Linear(size, n_characters)

    def forward(self, codes):
        """Returns scores of shape (B, T, n_characters) for codes of shape (B, T)."""
        x = self.embed(codes)
        for layer in self.layers:
            x = layer(x, causal=True)
        return self.scores(self.norm(x), n_batch_axes=2)

    def loss(self, codes, labels):
        """Reports and returns the loss."""
        scores = F.reshape(self(codes), (-1, len(CHARACTERS)))
        labels = labels.reshape(-1)
        chainer.report({"accuracy": F.accuracy(scores, labels)}, self)
        loss = F.label_smoothed_cross_entropy(scores, labels, 0.05)
        chainer.report({"loss": loss}, self)
        return loss


def write(model, beginning, length):
    """Continues a text with the most probable characters."""
    text = beginning
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        while len(text) < length:
            scores = model(encoded(text[-LENGTH:])[None])
            text += CHARACTERS[int(scores.array[0, -1].argmax())]
    return text


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--out", default="result")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(arguments)
    np.random.seed(args.seed)

    last = TEXT.rindex("\n\n")
    model = Transformer(len(CHARACTERS))
    optimizer = optimizers.Adam(3e-3).setup(model)
    train = iterators.SerialIterator(Windows(TEXT[:last], LENGTH), 32)
    test = iterators.SerialIterator(Windows(TEXT[last:], LENGTH), 64, repeat=False, shuffle=False)
    updater = training.StandardUpdater(train, optimizer, loss_func=model.loss)
    trainer = training.Trainer(updater, (args.iterations, "iteration"), out=args.out)
    interval = (50, "iteration")
    trainer.extend(extensions.Evaluator(test, model, eval_func=model.loss), trigger=interval)
    trainer.extend(extensions.LogReport(trigger=interval))
    columns = ["iteration", "main/loss", "main/accuracy", "validation/main/accuracy"]
    trainer.extend(extensions.PrintReport([*columns, "elapsed_time"]), trigger=interval)
    trainer.run()

    print(write(model, "This is the cat,\n", 150))
    return trainer


if __name__ == "__main__":
    main()
