"""A dataset for Chainer: two spirals, points of two classes that no line divides."""
