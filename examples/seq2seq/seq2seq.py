#!/usr/bin/env python3
"""Train a translator: one stacked LSTM reads a sentence, another writes its translation.

Each file has a sentence a line, words between spaces; vocabularies have a word a line.
make_corpus.py writes a small corpus of the right form. Leaves log, snapshot.npz and model.npz in
the output directory.
"""

import argparse
import os

import numpy
from bleu import corpus_bleu

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.backends import cuda
from chainer.training import extensions

UNK = 0
EOS = 1


def sequence_embed(embed, xs):
    """Embeds the words of all sentences at once."""
    x_len = [len(x) for x in xs]
    x_section = numpy.cumsum(x_len[:-1])
    ex = embed(F.concat(xs, axis=0))
    exs = F.split_axis(ex, x_section, 0)
    return exs


class Seq2seq(chainer.Chain):
    """Encoder and decoder."""

    def __init__(self, n_layers, n_source_vocab, n_target_vocab, n_units):
        super().__init__()
        with self.init_scope():
            self.embed_x = L.EmbedID(n_source_vocab, n_units)
            self.embed_y = L.EmbedID(n_target_vocab, n_units)
            self.encoder = L.NStepLSTM(n_layers, n_units, n_units, 0.1)
            self.decoder = L.NStepLSTM(n_layers, n_units, n_units, 0.1)
            self.W = L.Linear(n_units, n_target_vocab)

        self.n_layers = n_layers
        self.n_units = n_units

    def __call__(self, xs, ys):
        # LSTMs learn better from reversed sentences.
        xs = [x[::-1] for x in xs]

        eos = self.xp.array([EOS], numpy.int32)
        ys_in = [F.concat([eos, y], axis=0) for y in ys]
        ys_out = [F.concat([y, eos], axis=0) for y in ys]

        # Both xs and ys_in are lists of arrays.
        exs = sequence_embed(self.embed_x, xs)
        eys = sequence_embed(self.embed_y, ys_in)

        batch = len(xs)
        # None represents a zero vector in an encoder.
        hx, cx, _ = self.encoder(None, None, exs)
        _, _, os = self.decoder(hx, cx, eys)

        # It is faster to concatenate data before calculating loss
        # because only one matrix multiplication is called.
        concat_os = F.concat(os, axis=0)
        concat_ys_out = F.concat(ys_out, axis=0)
        loss = F.sum(F.softmax_cross_entropy(self.W(concat_os), concat_ys_out, reduce="no")) / batch

        chainer.report({"loss": loss}, self)
        n_words = concat_ys_out.shape[0]
        perp = self.xp.exp(loss.array * batch / n_words)
        chainer.report({"perp": perp}, self)
        return loss

    def translate(self, xs, max_length=100):
        batch = len(xs)
        with chainer.no_backprop_mode(), chainer.using_config("train", False):
            xs = [x[::-1] for x in xs]
            exs = sequence_embed(self.embed_x, xs)
            h, c, _ = self.encoder(None, None, exs)
            ys = self.xp.full(batch, EOS, numpy.int32)
            result = []
            for _ in range(max_length):
                eys = self.embed_y(ys)
                eys = F.split_axis(eys, batch, 0)
                h, c, ys = self.decoder(h, c, eys)
                cys = F.concat(ys, axis=0)
                wy = self.W(cys)
                ys = self.xp.argmax(wy.array, axis=1).astype(numpy.int32)
                result.append(ys)

        result = cuda.to_cpu(self.xp.stack(result).T)

        # Remove EOS tags
        outs = []
        for y in result:
            inds = numpy.argwhere(y == EOS)
            if len(inds) > 0:
                y = y[: inds[0, 0]]
            outs.append(y)
        return outs


def convert(batch, device):
    """Sends the sentences of a batch, which have different lengths, to the device."""
    return {
        "xs": [chainer.dataset.to_device(device, x) for x, _ in batch],
        "ys": [chainer.dataset.to_device(device, y) for _, y in batch],
    }


class CalculateBleu(chainer.training.Extension):
    """Reports the BLEU score of the translations of the validation data."""

    trigger = 1, "epoch"
    priority = chainer.training.PRIORITY_WRITER

    def __init__(self, model, test_data, key, batch=100, device=-1, max_length=100):
        self.model = model
        self.test_data = test_data
        self.key = key
        self.batch = batch
        self.device = device
        self.max_length = max_length

    def __call__(self, trainer):
        references = []
        hypotheses = []
        for i in range(0, len(self.test_data), self.batch):
            sources, targets = zip(*self.test_data[i : i + self.batch])
            references.extend([[t.tolist()] for t in targets])

            sources = [chainer.dataset.to_device(self.device, x) for x in sources]
            ys = [y.tolist() for y in self.model.translate(sources, self.max_length)]
            hypotheses.extend(ys)

        chainer.report({self.key: corpus_bleu(references, hypotheses)})


def load_vocabulary(path):
    """Returns the IDs of the words of a file."""
    with open(path, encoding="utf-8") as f:
        # +2 for UNK and EOS
        word_ids = {line.strip(): i + 2 for i, line in enumerate(f)}
    word_ids["<UNK>"] = UNK
    word_ids["<EOS>"] = EOS
    return word_ids


def load_data(vocabulary, path):
    """Returns the sentences of a file as arrays of word IDs."""
    with open(path, encoding="utf-8") as f:
        return [
            numpy.array([vocabulary.get(w, UNK) for w in line.split()], numpy.int32) for line in f
        ]


def load_pairs(source_ids, source, target_ids, target):
    """Returns the sentences of two files side by side."""
    sources, targets = load_data(source_ids, source), load_data(target_ids, target)
    if len(sources) != len(targets):
        raise SystemExit(f"{source} has {len(sources)} lines, {target} has {len(targets)}")
    return list(zip(sources, targets))


def calculate_unknown_ratio(data):
    """Returns the part of the words that are not in the vocabulary."""
    unknown = sum((s == UNK).sum() for s in data)
    total = sum(s.size for s in data)
    return unknown / total


def describe(name, data):
    """Prints the size of a data set."""
    print(f"{name} data size: {len(data)}")
    for i, side in enumerate(("source", "target")):
        ratio = calculate_unknown_ratio([pair[i] for pair in data])
        print(f"{name} {side} unknown ratio: {ratio:.2%}")


def existing_file(path):
    """Returns the path of a file; argparse tells the user if there is none."""
    if not os.path.isfile(path):
        raise argparse.ArgumentTypeError(f"there is no file {path!r}")
    return path


def parse_args():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    add = parser.add_argument
    add("SOURCE", type=existing_file, help="source sentence list")
    add("TARGET", type=existing_file, help="target sentence list")
    add("SOURCE_VOCAB", type=existing_file, help="source vocabulary file")
    add("TARGET_VOCAB", type=existing_file, help="target vocabulary file")
    add("--validation-source", type=existing_file, help="source sentence list for validation")
    add("--validation-target", type=existing_file, help="target sentence list for validation")
    add("--batchsize", "-b", type=int, default=64, help="sentence pairs in a minibatch")
    add("--epoch", "-e", type=int, default=20, help="sweeps over the sentences")
    add("--unit", "-u", type=int, default=128, help="units of a layer")
    add("--layer", "-l", type=int, default=1, help="layers of LSTM")
    add("--min-source-sentence", type=int, default=1, help="fewest words of a source sentence")
    add("--max-source-sentence", type=int, default=50, help="most words of a source sentence")
    add("--min-target-sentence", type=int, default=1, help="fewest words of a target sentence")
    add("--max-target-sentence", type=int, default=50, help="most words of a target sentence")
    add("--log-interval", type=int, default=100, help="iterations between logs")
    add("--validation-interval", type=int, default=200, help="iterations between validations")
    add("--seed", type=int, default=0, help="seed of all random numbers")
    add("--device", "-d", default="@numpy", help="device, such as @numpy or @cupy:0")
    add("--out", "-o", default="result", help="directory of the results")
    add("--resume", "-r", type=existing_file, metavar="SNAPSHOT", help="go on from a snapshot")
    args = parser.parse_args()
    if (args.validation_source is None) != (args.validation_target is None):
        parser.error("--validation-source and --validation-target must be given together")
    return args


def main():
    args = parse_args()
    device = chainer.get_device(args.device)
    chainer.utils.seed(args.seed)  # of this device, too

    source_ids = load_vocabulary(args.SOURCE_VOCAB)
    target_ids = load_vocabulary(args.TARGET_VOCAB)
    train_data = [
        (s, t)
        for s, t in load_pairs(source_ids, args.SOURCE, target_ids, args.TARGET)
        if args.min_source_sentence <= len(s) <= args.max_source_sentence
        and args.min_target_sentence <= len(t) <= args.max_target_sentence
    ]
    if not train_data:
        raise SystemExit(f"{args.SOURCE} and {args.TARGET} have no sentences of these lengths")
    print(f"Source vocabulary size: {len(source_ids)}")
    print(f"Target vocabulary size: {len(target_ids)}")
    describe("Train", train_data)
    target_words = {i: w for w, i in target_ids.items()}
    source_words = {i: w for w, i in source_ids.items()}

    model = Seq2seq(args.layer, len(source_ids), len(target_ids), args.unit)
    model.to_device(device)
    optimizer = chainer.optimizers.Adam()
    optimizer.setup(model)

    train_iter = chainer.iterators.SerialIterator(train_data, args.batchsize)
    updater = training.updaters.StandardUpdater(
        train_iter, optimizer, converter=convert, device=device
    )
    trainer = training.Trainer(updater, (args.epoch, "epoch"), out=args.out)
    log_trigger = (args.log_interval, "iteration")
    trainer.extend(extensions.LogReport(trigger=log_trigger))
    trainer.extend(
        extensions.PrintReport(
            [
                "epoch",
                "iteration",
                "main/loss",
                "main/perp",
                "validation/main/bleu",
                "elapsed_time",
            ]
        ),
        trigger=log_trigger,
    )
    trainer.extend(extensions.snapshot(filename="snapshot.npz"))

    if args.validation_source:
        pairs = load_pairs(source_ids, args.validation_source, target_ids, args.validation_target)
        test_data = [(s, t) for s, t in pairs if len(s) and len(t)]
        describe("Validation", test_data)

        @chainer.training.make_extension()
        def translate(trainer):
            source, target = test_data[numpy.random.choice(len(test_data))]
            result = model.translate([model.xp.array(source)])[0]

            print("# source : " + " ".join(source_words[x] for x in source.tolist()))
            print("# result : " + " ".join(target_words[y] for y in result.tolist()))
            print("# expect : " + " ".join(target_words[y] for y in target.tolist()))

        validation_trigger = (args.validation_interval, "iteration")
        trainer.extend(translate, trigger=validation_trigger)
        trainer.extend(
            CalculateBleu(model, test_data, "validation/main/bleu", device=device),
            trigger=validation_trigger,
        )

    if args.resume:
        chainer.serializers.load_npz(args.resume, trainer)
    trainer.run()

    model.to_device("@numpy")
    chainer.serializers.save_npz(os.path.join(args.out, "model.npz"), model)


if __name__ == "__main__":
    main()
