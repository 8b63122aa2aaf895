"""Base classes of datasets and iterators, converters, and the download cache."""

from typing import TYPE_CHECKING

from chainer.core.lazy import lazy_module

if TYPE_CHECKING:
    from chainer.training.dataset import convert, dataset_mixin, download, iterator, tabular
    from chainer.training.dataset.async_transfer import ConcatWithAsyncTransfer
    from chainer.training.dataset.convert import Converter, concat_examples, converter, to_device
    from chainer.training.dataset.dataset_mixin import DatasetMixin
    from chainer.training.dataset.download import (
        cache_or_load_file,
        cached_download,
        get_dataset_directory,
        get_dataset_root,
        set_dataset_root,
    )
    from chainer.training.dataset.iterator import Iterator
    from chainer.training.dataset.tabular.tabular_dataset import TabularDataset

__all__ = [
    "ConcatWithAsyncTransfer",
    "Converter",
    "DatasetMixin",
    "Iterator",
    "TabularDataset",
    "cache_or_load_file",
    "cached_download",
    "concat_examples",
    "convert",
    "converter",
    "dataset_mixin",
    "download",
    "get_dataset_directory",
    "get_dataset_root",
    "iterator",
    "set_dataset_root",
    "tabular",
    "to_device",
]

# Imported at first use. A package that imports its modules can be stopped by a thread that imports
# one of them at the same time, see chainer.core.imports.
_NAMES: dict[str, str] = {
    "ConcatWithAsyncTransfer": ".async_transfer",
    "Converter": ".convert",
    "concat_examples": ".convert",
    "converter": ".convert",
    "to_device": ".convert",
    "DatasetMixin": ".dataset_mixin",
    "cache_or_load_file": ".download",
    "cached_download": ".download",
    "get_dataset_directory": ".download",
    "get_dataset_root": ".download",
    "set_dataset_root": ".download",
    "Iterator": ".iterator",
    "TabularDataset": ".tabular.tabular_dataset",
}

__getattr__, __dir__ = lazy_module(
    globals(), _NAMES, submodules=("convert", "dataset_mixin", "download", "iterator", "tabular")
)
