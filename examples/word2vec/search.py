#!/usr/bin/env python3
"""Find the words whose vectors point the same way, in what train_word2vec.py left.

Words are read from the command line, or else from the standard input.
"""

import argparse
import os
import sys

import numpy as np


def load_embeddings(path):
    """Returns the words, and their vectors scaled to length 1."""
    with open(path, encoding="utf-8") as file:
        n_vocab, n_units = map(int, file.readline().split())
        words = []
        w = np.empty((n_vocab, n_units), np.float32)
        for i, line in enumerate(file):
            word, *vector = line.split()
            words.append(word)
            w[i] = [float(v) for v in vector]
    norms = np.sqrt((w * w).sum(1))
    norms[norms == 0] = 1
    return words, w / norms[:, None]


def search(words, w, query, n_result):
    """Returns pairs of the most similar words and their cosine similarity."""
    i = words.index(query)
    similarity = w @ w[i]
    best = [j for j in np.argsort(-similarity) if j != i]
    return [(words[j], float(similarity[j])) for j in best[:n_result]]


def queries(args):
    """Yields the words to look for."""
    if args.word:
        yield from args.word
        return
    while True:
        if sys.stdin.isatty():
            print(">> ", end="", flush=True)
        line = sys.stdin.readline()
        if not line:
            return
        yield from line.split()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("word", nargs="*", help="words to look for")
    parser.add_argument("--out", "-o", default="result", help="directory of word2vec.model")
    parser.add_argument("--n-result", "-n", type=int, default=5, help="similar words to show")
    args = parser.parse_args()

    path = os.path.join(args.out, "word2vec.model")
    if not os.path.isfile(path):
        parser.error(f"there is no file {path}: train_word2vec.py writes it")
    words, w = load_embeddings(path)
    for query in queries(args):
        query = query.lower()
        if query not in words:
            print(f'"{query}" is not in the vocabulary')
            continue
        print(f"query: {query}")
        for word, similarity in search(words, w, query, args.n_result):
            print(f"{word}: {similarity:.3f}")


if __name__ == "__main__":
    main()
