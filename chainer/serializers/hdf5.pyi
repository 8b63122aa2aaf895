# Written by scripts/make_stubs.py. Do not edit.

from chainer.links.serializers.hdf5 import *
