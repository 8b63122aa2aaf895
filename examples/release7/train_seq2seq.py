"""Translation: an LSTM reads a sentence, another one writes the translation with attention to it.

Two files have a sentence a line, words separated by spaces; line k of one translates line k of the
other.

    python train_seq2seq.py --source train.en --target train.fr
    python train_seq2seq.py --small
"""

import argparse
import collections

import numpy as np
from small_data import add_options, duration, extend, set_weights

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training

UNKNOWN, END = 0, 1


def read(path, largest=40000):
    """Returns the sentences as arrays of word numbers, and the words."""
    with open(path) as file:
        lines = [line.split() for line in file]
    counts = collections.Counter(word for line in lines for word in line)
    words = ["<unknown>", "<end>", *[word for word, _ in counts.most_common(largest)]]
    numbers = {word: i for i, word in enumerate(words)}
    return [np.array([numbers.get(w, UNKNOWN) for w in line], np.int32) for line in lines], words


def small_pairs(count=60, words=10, seed=0):
    """Returns pairs of a sentence, and the same words in reverse order."""
    random = np.random.RandomState(seed)
    lengths = random.randint(2, 6, count)
    sources = [random.randint(2, words, length).astype(np.int32) for length in lengths]
    return [(x, x[::-1].copy()) for x in sources]


def embed_sequences(embed, xs):
    """Looks up all words in one call."""
    ends = np.cumsum([len(x) for x in xs[:-1]])
    return F.split_axis(embed(F.concat(xs, axis=0)), ends, axis=0)


class Seq2seq(chainer.Chain):
    def __init__(self, layers, source_words, target_words, units):
        super().__init__()
        with self.init_scope():
            self.embed_x = L.EmbedID(source_words, units)
            self.embed_y = L.EmbedID(target_words, units)
            self.encoder = L.NStepLSTM(layers, units, units, 0)
            self.decoder = L.NStepLSTM(layers, units, units, 0)
            self.combine = L.Linear(2 * units, units)
            self.output = L.Linear(units, target_words)

    def forward(self, xs, ys):
        """Returns the mean loss of a word."""
        xp = self.xp
        end = xp.array([END], np.int32)
        begun = [F.concat([end, y], axis=0) for y in ys]
        ended = [F.concat([y, end], axis=0) for y in ys]
        # Sentences are read from their end: what is written first was read last.
        h, c, memories = self.encoder(
            None, None, embed_sequences(self.embed_x, [x[::-1] for x in xs])
        )
        _, _, states = self.decoder(h, c, embed_sequences(self.embed_y, begun))
        scores = self.scores(states, memories)
        words = F.concat(ended, axis=0)
        loss = F.sum(F.softmax_cross_entropy(scores, words, reduce="no")) / len(words)
        chainer.report({"loss": loss, "perplexity": self.xp.exp(loss.array)}, self)
        return loss

    def scores(self, states, memories):
        """Returns the scores of all words, from states of the decoder and what was read."""
        memory, state = F.pad_sequence(memories), F.pad_sequence(states)
        # The memories of shorter sentences end with zeros, which get no attention.
        lengths = self.xp.array([len(m) for m in memories])
        valid = self.xp.arange(memory.shape[1])[None, :] < lengths[:, None]
        weights = F.matmul(state, memory, transb=True)
        valid = self.xp.broadcast_to(valid[:, None, :], weights.shape)
        weights = F.where(valid, weights, self.xp.full(weights.shape, -1e9, np.float32))
        read_again = F.matmul(F.softmax(weights, axis=2), memory)
        together = F.concat([read_again, state], axis=2)
        rows = F.concat([y[: len(s)] for y, s in zip(together, states)], axis=0)
        return self.output(F.tanh(self.combine(rows)))

    def translate(self, xs, longest=50):
        """Returns a list of word numbers for each sentence."""
        with chainer.no_backprop_mode(), chainer.using_config("train", False):
            h, c, memories = self.encoder(
                None, None, embed_sequences(self.embed_x, [x[::-1] for x in xs])
            )
            word = self.xp.full(len(xs), END, np.int32)
            written = []
            for _ in range(longest):
                embedded = F.split_axis(self.embed_y(word), len(xs), axis=0)
                h, c, states = self.decoder(h, c, embedded)
                word = self.scores(states, memories).array.argmax(axis=1).astype(np.int32)
                written.append(chainer.get_device("@numpy").send(word))
        results = []
        for row in np.stack(written, axis=1):
            ends = np.flatnonzero(row == END)
            results.append(row[: ends[0]] if len(ends) else row)
        return results


@chainer.dataset.converter()
def convert(batch, device):
    """Sentences have various lengths: they stay lists of arrays."""
    return {"xs": [device.send(x) for x, _ in batch], "ys": [device.send(y) for _, y in batch]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser, epochs=20)
    parser.add_argument("--source", help="file with a sentence a line")
    parser.add_argument("--target", help="file with its translation")
    parser.add_argument("--batch-size", "-b", type=int, default=64)
    parser.add_argument("--units", "-u", type=int, default=512)
    parser.add_argument("--layers", type=int, default=2)
    arguments = parser.parse_args()
    if not arguments.small and not (arguments.source and arguments.target):
        parser.error("--source and --target are needed, or --small")
    device = chainer.get_device(arguments.device)
    device.use()

    if arguments.small:
        pairs = small_pairs()
        source_words = target_words = [str(i) for i in range(10)]
        arguments.batch_size, arguments.units, arguments.layers = 6, 8, 1
    else:
        sources, source_words = read(arguments.source)
        targets, target_words = read(arguments.target)
        pairs = [(x, y) for x, y in zip(sources, targets) if 0 < len(x) < 50 and 0 < len(y) < 50]
    model = Seq2seq(arguments.layers, len(source_words), len(target_words), arguments.units)
    if arguments.small:
        set_weights(model)
    model.to_device(device)
    optimizer = chainer.optimizers.Adam().setup(model)
    iterator = chainer.iterators.SerialIterator(
        pairs, arguments.batch_size, shuffle=not arguments.small
    )
    updater = training.updaters.StandardUpdater(
        iterator, optimizer, converter=convert, device=device
    )
    trainer = training.Trainer(updater, duration(arguments), out=arguments.out)

    @training.make_extension(trigger=duration(arguments) if arguments.small else (1, "epoch"))
    def show_translation(_):
        source = pairs[0][0]
        (translated,) = model.translate([device.send(source)], longest=10)
        print("#  " + " ".join(source_words[i] for i in source))
        print("-> " + " ".join(target_words[i] for i in translated))

    trainer.extend(show_translation)
    extend(trainer, arguments, "main/perplexity")
    trainer.run()


if __name__ == "__main__":
    main()
