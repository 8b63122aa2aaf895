"""An optimizer for Chainer: Signum, which steps by the signs of a moving average of gradients."""
