# Written by scripts/make_stubs.py. Do not edit.

from chainer.training.optimizer_hooks.weight_decay import *
