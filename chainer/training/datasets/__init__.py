"""Datasets: general ones, and loaders of popular ones (``chainer.datasets``).

``MODULES`` is the table of public names: module -> names in it.
"""

from __future__ import annotations

from chainer.core.lazy import lazy_module
from chainer.core.registry import registries

#: Nothing is imported before it is used: image files and downloads need further packages.
MODULES = {
    "cifar": ("get_cifar10", "get_cifar100"),
    "concatenated_dataset": ("ConcatenatedDataset",),
    "dict_dataset": ("DictDataset",),
    "fashion_mnist": ("get_fashion_mnist", "get_fashion_mnist_labels"),
    "image_dataset": ("ImageDataset", "LabeledImageDataset"),
    "kuzushiji_mnist": ("get_kuzushiji_mnist", "get_kuzushiji_mnist_labels"),
    "mnist": ("get_mnist",),
    "pickle_dataset": (
        "PickleDataset",
        "PickleDatasetWriter",
        "open_pickle_dataset",
        "open_pickle_dataset_writer",
    ),
    "ptb": ("get_ptb_words", "get_ptb_words_vocabulary"),
    "sub_dataset": (
        "SubDataset",
        "get_cross_validation_datasets",
        "get_cross_validation_datasets_random",
        "split_dataset",
        "split_dataset_n",
        "split_dataset_n_random",
        "split_dataset_random",
    ),
    "svhn": ("get_svhn",),
    "text_dataset": ("TextDataset",),
    "transform_dataset": ("TransformDataset",),
    "tuple_dataset": ("TupleDataset",),
    "zipped_image_dataset": (
        "LabeledZippedImageDataset",
        "MultiZippedImageDataset",
        "ZippedImageDataset",
    ),
}

__getattr__, __dir__ = lazy_module(globals(), registry=registries.datasets)
