"""Sentiment of sentences with a tree LSTM over binary parse trees.

A file has one tree a line, as in the Stanford Sentiment Treebank:
``(3 (2 It) (4 (2 's) (4 good)))``.

    python train_sentiment.py --train train.txt --epochs 10
    python train_sentiment.py --small
"""

import argparse
import re

import numpy as np
from small_data import add_options, duration, extend, set_weights

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import reporter, training


def parse(line, vocabulary):
    """Returns a tree: (label, word number) for a leaf, else (label, left tree, right tree)."""
    stack = [[]]
    for token in re.findall(r"[()]|[^\s()]+", line):
        if token == "(":
            stack.append([])
        elif token == ")":
            label, rest = int(stack[-1][0]), stack[-1][1:]
            if isinstance(rest[0], str):
                rest = [vocabulary.setdefault(rest[0], len(vocabulary))]
            stack.pop()
            stack[-1].append((label, *tuple(rest)))
        else:
            stack[-1].append(token)
    return stack[0][0]


def small_trees(count=24, seed=0):
    """Returns lines of trees: words a to e are bad, f to j are good, and the sum decides."""
    random = np.random.RandomState(seed)

    def make(depth):
        if depth == 0 or random.rand() < 0.2:
            number = random.randint(10)
            return int(number >= 5), "({} {})".format(int(number >= 5), "abcdefghij"[number])
        left, right = make(depth - 1), make(depth - 1)
        label = left[0] if random.rand() < 0.5 else right[0]
        return label, f"({label} {left[1]} {right[1]})"

    return [make(3)[1] for _ in range(count)]


class TreeClassifier(chainer.Chain):
    def __init__(self, words, units, labels):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(words, units)
            self.leaf = L.Linear(units, units)
            self.cell = L.NaryTreeLSTM(units, units, n_ary=2)
            self.output = L.Linear(units, labels)

    def forward(self, trees):
        loss = correct = count = 0
        for tree in trees:
            outputs, labels = [], []
            self._traverse(tree, outputs, labels)
            y, t = self.output(F.concat(outputs, axis=0)), self.xp.asarray(labels, np.int32)
            loss += F.softmax_cross_entropy(y, t)
            correct += int((y.array.argmax(axis=1) == t).sum())
            count += len(labels)
        loss /= len(trees)
        reporter.report({"loss": loss, "accuracy": correct / count}, self)
        return loss

    def _traverse(self, tree, outputs, labels):
        """Returns the memory and the output of a tree; appends those of all its nodes."""
        zeros = self.xp.zeros((1, self.embed.W.shape[1]), np.float32)
        if len(tree) == 2:
            x = self.leaf(self.embed(self.xp.asarray([tree[1]], np.int32)))
            cells = states = (zeros, zeros)
        else:
            x = zeros
            cells, states = zip(*[self._traverse(child, outputs, labels) for child in tree[1:]])
        c, h = self.cell(*(cells + states + (x,)))
        outputs.append(h)
        labels.append(tree[0])
        return c, h


@chainer.dataset.converter()
def convert(batch, device):
    """Trees are not arrays: they are handed to the model as they are."""
    return (batch,)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser, epochs=10)
    parser.add_argument("--train", help="file with a tree a line")
    parser.add_argument("--batch-size", "-b", type=int, default=25)
    parser.add_argument("--units", "-u", type=int, default=30)
    arguments = parser.parse_args()
    if not arguments.small and not arguments.train:
        parser.error("--train is needed, or --small")
    device = chainer.get_device(arguments.device)
    device.use()

    vocabulary = {}
    if arguments.small:
        lines, arguments.batch_size, arguments.units = small_trees(), 6, 8
    else:
        with open(arguments.train) as file:
            lines = [line for line in file if line.strip()]
    trees = [parse(line, vocabulary) for line in lines]
    model = TreeClassifier(len(vocabulary), arguments.units, labels=5)
    if arguments.small:
        set_weights(model)
    model.to_device(device)
    optimizer = chainer.optimizers.AdaGrad(lr=0.1).setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(1e-4))
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(5))

    iterator = chainer.iterators.SerialIterator(
        trees, arguments.batch_size, shuffle=not arguments.small
    )
    updater = training.StandardUpdater(iterator, optimizer, converter=convert, device=device)
    trainer = training.Trainer(updater, duration(arguments), out=arguments.out)
    extend(trainer, arguments, "main/accuracy")
    trainer.run()


if __name__ == "__main__":
    main()
