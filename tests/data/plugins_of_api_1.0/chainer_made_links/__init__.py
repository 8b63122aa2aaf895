"""A link for Chainer: LowRankLinear, a fully connected layer of few parameters."""
