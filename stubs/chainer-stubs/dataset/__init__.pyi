# Written by scripts/make_stubs.py. Do not edit.

from chainer.training.dataset import *
from chainer.training.dataset import (
    async_transfer as async_transfer,
    batch as batch,
    convert as convert,
    dataset_mixin as dataset_mixin,
    download as download,
    file_lock as file_lock,
    iterator as iterator,
    tabular as tabular,
)
