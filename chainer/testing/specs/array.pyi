# Written by scripts/make_stubs.py. Do not edit.

from chainer.plugins.testing.specs.array import *
