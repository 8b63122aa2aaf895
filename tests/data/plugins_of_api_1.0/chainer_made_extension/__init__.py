"""A trainer extension for Chainer: LinearWarmup, which lets a learning rate grow at the start."""
