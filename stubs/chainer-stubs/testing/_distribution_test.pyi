# Written by scripts/make_stubs.py. Do not edit.

from chainer.testing.distribution_test import *
