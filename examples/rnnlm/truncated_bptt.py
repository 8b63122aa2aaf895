#!/usr/bin/env python3
"""Train a small recurrent language model with a loop of its own instead of a trainer.

Three ways to handle a sequence: the loss of the whole sequence as a loss function, backprop
truncated every few words, and evaluation that keeps no history.
"""

import argparse

import corpus
import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import optimizers


class RNN(chainer.Chain):
    """Scores the next word, given the current one and a memory of those before."""

    def __init__(self, n_vocab, n_units):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_vocab, n_units)  # word embedding
            self.mid = L.LSTM(n_units, n_units)  # the first LSTM layer
            self.out = L.Linear(n_units, n_vocab)  # the feed-forward output layer

    def reset_state(self):
        self.mid.reset_state()

    def __call__(self, cur_word):
        # Given the current word ID, predict the next word.
        x = self.embed(cur_word)
        h = self.mid(x)
        y = self.out(h)
        return y


def compute_loss(model, x_list):
    """Returns the sum of the losses of all words but the first."""
    loss = 0
    for cur_word, next_word in zip(x_list, x_list[1:]):
        loss += model(cur_word, next_word)
    return loss


def train_whole(model, optimizer, x_list):
    """One update with backprop through the whole sequence."""
    model.predictor.reset_state()
    optimizer.update(compute_loss, model, x_list)


def train_truncated(model, optimizer, x_list, length):
    """One sweep with an update, and backprop truncated, every `length` words."""
    loss = 0
    seqlen = len(x_list[1:])

    model.predictor.reset_state()
    for count, (cur_word, next_word) in enumerate(zip(x_list, x_list[1:]), 1):
        loss += model(cur_word, next_word)
        if count % length == 0 or count == seqlen:
            model.cleargrads()
            loss.backward()
            loss.unchain_backward()
            optimizer.update()
            loss = 0


def evaluate(model, x_list):
    """Returns the perplexity; no history of the computation is kept."""
    model.predictor.reset_state()
    with chainer.no_backprop_mode(), chainer.using_config("train", False):
        loss = compute_loss(model, x_list)
    return float(F.exp(loss / (len(x_list) - 1)).array)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument(
        "text",
        nargs="?",
        type=corpus.existing_file,
        help="text file in UTF-8; Python's manual if not given",
    )
    parser.add_argument("--vocab-size", type=int, default=1000, help="words to tell apart")
    parser.add_argument("--unit", "-u", type=int, default=50, help="units of the LSTM")
    parser.add_argument("--bproplen", "-l", type=int, default=30, help="words until the cut")
    parser.add_argument("--epoch", "-e", type=int, default=5, help="sweeps over the text")
    parser.add_argument("--words", "-n", type=int, default=3000, help="words of the text to use")
    parser.add_argument("--seed", type=int, default=0, help="seed of all random numbers")
    args = parser.parse_args()
    np.random.seed(args.seed)

    words = corpus.read_words(args.text)[: args.words]
    vocabulary = corpus.make_vocabulary(words, args.vocab_size)
    # A list of minibatches of one word.
    x_list = list(corpus.to_ids(words, vocabulary)[:, None])
    held_out = len(x_list) * 9 // 10

    model = L.Classifier(RNN(len(vocabulary), args.unit))
    model.compute_accuracy = False
    optimizer = optimizers.Adam()
    optimizer.setup(model)

    train_whole(model, optimizer, x_list[: args.bproplen + 1])
    for epoch in range(1, args.epoch + 1):
        train_truncated(model, optimizer, x_list[:held_out], args.bproplen)
        perplexity = evaluate(model, x_list[:held_out]), evaluate(model, x_list[held_out:])
        print(f"epoch {epoch}: perplexity {perplexity[0]:.1f}, held out {perplexity[1]:.1f}")


if __name__ == "__main__":
    main()
