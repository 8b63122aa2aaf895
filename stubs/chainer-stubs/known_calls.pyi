# Written by scripts/make_stubs.py. Do not edit.

from chainer.core.autograd.known_calls import *
