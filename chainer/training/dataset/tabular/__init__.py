"""Datasets made of columns, and views of them (``chainer.dataset.tabular``)."""

from typing import TYPE_CHECKING

from chainer.core.lazy import lazy_module

if TYPE_CHECKING:
    from chainer.training.dataset.tabular.data_sources import from_data
    from chainer.training.dataset.tabular.delegate_dataset import DelegateDataset
    from chainer.training.dataset.tabular.tabular_dataset import TabularDataset

__all__ = ["DelegateDataset", "TabularDataset", "from_data"]

# Imported at first use. A package that imports its modules can be stopped by a thread that imports
# one of them at the same time, see chainer.core.imports.
_NAMES: dict[str, str] = {
    "from_data": ".data_sources",
    "DelegateDataset": ".delegate_dataset",
    "TabularDataset": ".tabular_dataset",
}

__getattr__, __dir__ = lazy_module(globals(), _NAMES)
