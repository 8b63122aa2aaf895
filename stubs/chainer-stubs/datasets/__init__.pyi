# Written by scripts/make_stubs.py. Do not edit.

from typing import Any

from chainer.training.datasets import *
from chainer.training.datasets import (
    cifar as cifar,
    concatenated_dataset as concatenated_dataset,
    dict_dataset as dict_dataset,
    fashion_mnist as fashion_mnist,
    image_dataset as image_dataset,
    kuzushiji_mnist as kuzushiji_mnist,
    mnist as mnist,
    mnist_format as mnist_format,
    pickle_dataset as pickle_dataset,
    ptb as ptb,
    raw_files as raw_files,
    shared_file as shared_file,
    sub_dataset as sub_dataset,
    svhn as svhn,
    text_dataset as text_dataset,
    transform_dataset as transform_dataset,
    transforms as transforms,
    tuple_dataset as tuple_dataset,
    zipped_image_dataset as zipped_image_dataset,
)

# Installed packs register more names.
def __getattr__(name: str) -> Any: ...
