# Written by scripts/make_stubs.py. Do not edit.

from chainer.links.initializers import *
from chainer.links.initializers import (
    constant as constant,
    normal as normal,
    orthogonal as orthogonal,
    sampling as sampling,
    uniform as uniform,
)
