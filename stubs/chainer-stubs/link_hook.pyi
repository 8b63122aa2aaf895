# Written by scripts/make_stubs.py. Do not edit.

from chainer.links.link_hook import *
