# Written by scripts/make_stubs.py. Do not edit.

from chainer.training.iterators.multithread_iterator import *
