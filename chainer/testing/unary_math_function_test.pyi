# Written by scripts/make_stubs.py. Do not edit.

from chainer.plugins.testing.unary_math_function_test import *
