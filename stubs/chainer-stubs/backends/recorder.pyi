# Written by scripts/make_stubs.py. Do not edit.

from chainer.core.arrays.recorder import *
