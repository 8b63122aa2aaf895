#!/usr/bin/env python3
"""Write a sentence with a language model trained by train_rnnlm.py."""

import argparse
import os

import corpus
import numpy as np
from train_rnnlm import RNNForLM

import chainer
import chainer.functions as F


def generate(model, start, end, length, sample):
    """Returns the IDs of a sentence that begins with those given."""
    ids = list(start)
    model.reset_state()
    with chainer.no_backprop_mode(), chainer.using_config("train", False):
        for i in ids:
            y = model(np.array([i], np.int32))
        while len(ids) < length and ids[-1] != end:
            p = F.softmax(y).array[0].astype(np.float64)
            p[0] = 0  # anything but the unknown word
            p /= p.sum()
            ids.append(int(np.random.choice(len(p), p=p)) if sample else int(p.argmax()))
            y = model(np.array(ids[-1:], np.int32))
    return ids


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--primetext", "-p", default="the", help="first words of the sentence")
    parser.add_argument("--out", "-o", default="result", help="directory of model and vocabulary")
    parser.add_argument("--length", "-l", type=int, default=30, help="largest number of words")
    parser.add_argument("--likeliest", action="store_true", help="always take the likeliest word")
    parser.add_argument("--seed", type=int, default=0, help="seed of all random numbers")
    args = parser.parse_args()
    np.random.seed(args.seed)

    path, listed = (os.path.join(args.out, name) for name in ("model.npz", "vocab.txt"))
    for needed in (path, listed):
        if not os.path.isfile(needed):
            parser.error(f"there is no file {needed}: train_rnnlm.py writes it")
    vocabulary = corpus.load_vocabulary(listed)
    with np.load(path) as file:
        n_vocab, n_units = file["embed/W"].shape
    model = RNNForLM(n_vocab, n_units)
    chainer.serializers.load_npz(path, model)

    prime = args.primetext.lower().split()
    unknown = [word for word in prime if word not in vocabulary]
    if unknown or not prime:
        parser.error(f"--primetext must be words of the vocabulary, not {unknown}")
    ids = generate(
        model,
        [vocabulary[word] for word in prime],
        vocabulary[corpus.END_OF_SENTENCE],
        args.length,
        not args.likeliest,
    )
    words = {i: word for word, i in vocabulary.items()}
    print(" ".join(words[i] for i in ids))


if __name__ == "__main__":
    main()
