"""A probability distribution for Chainer: HalfNormal, the absolute values of normal numbers."""
