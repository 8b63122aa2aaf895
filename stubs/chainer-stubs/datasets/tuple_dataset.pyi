# Written by scripts/make_stubs.py. Do not edit.

from chainer.training.datasets.tuple_dataset import *
