"""Datasets made of columns, and views of them (``chainer.dataset.tabular``)."""

from chainer.training.dataset.tabular.data_sources import from_data
from chainer.training.dataset.tabular.delegate_dataset import DelegateDataset
from chainer.training.dataset.tabular.tabular_dataset import TabularDataset

__all__ = ["DelegateDataset", "TabularDataset", "from_data"]
