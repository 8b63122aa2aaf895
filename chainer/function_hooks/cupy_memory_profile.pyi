# Written by scripts/make_stubs.py. Do not edit.

from chainer.functions.hooks.cupy_memory_profile import *
