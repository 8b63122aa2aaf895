"""A language model of two LSTM layers, with an updater that backpropagates through a few words.

python train_ptb.py --epochs 39
python train_ptb.py --small
"""

import argparse

import numpy as np
from small_data import add_options, duration, extend, interval, set_weights

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.training import extensions


class LanguageModel(chainer.Chain):
    def __init__(self, words, units, dropout):
        super().__init__()
        self.dropout = dropout
        with self.init_scope():
            self.embed = L.EmbedID(words, units)
            self.lstm1 = L.LSTM(units, units)
            self.lstm2 = L.LSTM(units, units)
            self.output = L.Linear(units, words)

    def reset_state(self):
        self.lstm1.reset_state()
        self.lstm2.reset_state()

    def forward(self, x):
        h = F.dropout(self.embed(x), self.dropout)
        h = F.dropout(self.lstm1(h), self.dropout)
        h = F.dropout(self.lstm2(h), self.dropout)
        return self.output(h)


class ParallelIterator(chainer.dataset.Iterator):
    """Reads a text at several places at once: each batch has the next word of each place."""

    def __init__(self, text, batch_size, repeat=True):
        self.text = text
        self.batch_size = batch_size
        self.repeat = repeat
        self.reset()

    def reset(self):
        self.iteration = 0
        self.epoch = 0
        self.is_new_epoch = False
        self._previous_epoch_detail = -1.0

    def __next__(self):
        length = len(self.text)
        if not self.repeat and self.iteration * self.batch_size >= length:
            raise StopIteration
        starts = [i * length // self.batch_size for i in range(self.batch_size)]
        words = [self.text[(start + self.iteration) % length] for start in starts]
        following = [self.text[(start + self.iteration + 1) % length] for start in starts]
        self._previous_epoch_detail = self.epoch_detail
        self.iteration += 1
        epoch = self.iteration * self.batch_size // length
        self.is_new_epoch = self.epoch < epoch
        self.epoch = epoch
        return list(zip(words, following))

    next = __next__

    @property
    def epoch_detail(self):
        return self.iteration * self.batch_size / len(self.text)

    @property
    def previous_epoch_detail(self):
        return None if self._previous_epoch_detail < 0 else self._previous_epoch_detail

    def serialize(self, serializer):
        self.iteration = serializer("iteration", self.iteration)
        self.epoch = serializer("epoch", self.epoch)


class TruncatedUpdater(training.updaters.StandardUpdater):
    """One update for some words; the state of the LSTM stays, its history is cut off."""

    def __init__(self, iterator, optimizer, length, device):
        super().__init__(iterator, optimizer, device=device)
        self.length = length

    def update_core(self):
        iterator = self.get_iterator("main")
        optimizer = self.get_optimizer("main")
        loss = 0
        for _ in range(self.length):
            x, t = self.converter(iterator.next(), self.device)
            loss += optimizer.target(chainer.Variable(x), chainer.Variable(t))
        optimizer.target.cleargrads()
        loss.backward()
        loss.unchain_backward()
        optimizer.update()


def add_perplexity(result):
    """Adds the perplexity of each loss to an entry of the log."""
    for prefix in ("", "validation/"):
        if prefix + "main/loss" in result:
            result[prefix + "perplexity"] = float(np.exp(result[prefix + "main/loss"]))


def small_text(words=12, length=400, seed=0):
    """Returns words of which each mostly follows the one with the number before."""
    random = np.random.RandomState(seed)
    steps = np.where(random.uniform(size=length) < 0.8, 1, random.randint(words, size=length))
    return (np.cumsum(steps) % words).astype(np.int32)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser, epochs=39)
    parser.add_argument("--batch-size", "-b", type=int, default=20)
    parser.add_argument("--length", "-l", type=int, default=35, help="words of an update")
    parser.add_argument("--units", "-u", type=int, default=650)
    parser.add_argument("--gradient-clip", "-c", type=float, default=5)
    arguments = parser.parse_args()
    device = chainer.get_device(arguments.device)
    device.use()

    dropout = 0.5
    if arguments.small:
        text = small_text()
        train, valid, words = text[:300], text[300:], 12
        arguments.batch_size, arguments.length, arguments.units, dropout = 5, 4, 8, 0
    else:
        train, valid, _ = chainer.datasets.get_ptb_words()
        words = int(max(train)) + 1
    model = L.Classifier(LanguageModel(words, arguments.units, dropout))
    model.compute_accuracy = False
    if arguments.small:
        set_weights(model)
    model.to_device(device)
    optimizer = chainer.optimizers.SGD(lr=1.0).setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(arguments.gradient_clip))

    updater = TruncatedUpdater(
        ParallelIterator(train, arguments.batch_size), optimizer, arguments.length, device
    )
    trainer = training.Trainer(updater, duration(arguments), out=arguments.out)
    # The evaluation has a state of its own, so that it does not disturb the training.
    judge = model.copy()
    judge.predictor.reset_state()
    trainer.extend(
        extensions.Evaluator(
            ParallelIterator(valid, 1, repeat=False),
            judge,
            device=device,
            eval_hook=lambda _: judge.predictor.reset_state(),
        ),
        trigger=interval(arguments),
    )
    extend(trainer, arguments, "perplexity", "validation/perplexity", postprocess=add_perplexity)
    trainer.run()


if __name__ == "__main__":
    main()
