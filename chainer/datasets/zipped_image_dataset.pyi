# Written by scripts/make_stubs.py. Do not edit.

from chainer.training.datasets.zipped_image_dataset import *
