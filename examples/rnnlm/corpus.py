"""Texts as long sequences of word IDs."""

import argparse
import collections
import os
import re

import numpy as np

UNKNOWN = "<unk>"
END_OF_SENTENCE = "<eos>"


def existing_file(path):
    """Returns the path of a file; argparse tells the user if there is none."""
    if not os.path.isfile(path):
        raise argparse.ArgumentTypeError(f"there is no file {path!r}")
    return path


def python_manual():
    """Returns the chapters of the language reference that are installed with Python: real English
    prose of some 80,000 words.
    """
    from pydoc_data.topics import topics

    return "\n\n".join(topics[name] for name in sorted(topics))


def read_words(path=None):
    """Returns the words of a text in lower case, with a mark at the end of each sentence."""
    if path is None:
        text = python_manual()
    else:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    words = re.findall(r"\w+(?:['’-]\w+)*|[.!?,;:]|\n\s*\n", text.lower())
    marked = []
    for word in words:
        if not word.isspace():
            marked.append(word)
        if (word in (".", "!", "?") or word.isspace()) and marked[-1:] != [END_OF_SENTENCE]:
            marked.append(END_OF_SENTENCE)
    return marked


def make_vocabulary(words, size):
    """Returns the IDs of the most frequent words; 0 is an unknown word, 1 the end of a sentence."""
    counts = collections.Counter(words)
    for special in (UNKNOWN, END_OF_SENTENCE):
        counts.pop(special, None)
    frequent = [word for word, _ in counts.most_common(size - 2)]
    return {word: i for i, word in enumerate([UNKNOWN, END_OF_SENTENCE, *frequent])}


def to_ids(words, vocabulary):
    """Returns the word IDs as an array of int32."""
    return np.array([vocabulary.get(word, 0) for word in words], np.int32)


def split(ids):
    """Returns the first 80 % for training, 10 % for validation and 10 % for the test."""
    return np.split(ids, [len(ids) * 8 // 10, len(ids) * 9 // 10])


def save_vocabulary(path, vocabulary):
    """Writes one word a line, in the order of the IDs."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{word}\n" for word in sorted(vocabulary, key=vocabulary.get))


def load_vocabulary(path):
    """Reads what save_vocabulary wrote."""
    with open(path, encoding="utf-8") as file:
        return {line.rstrip("\n"): i for i, line in enumerate(file)}
