# Written by scripts/make_stubs.py. Do not edit.

from chainer.functions.hooks.profiler import *
