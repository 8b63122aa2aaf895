"""The local web page of runs: ``chainer board result/``."""
