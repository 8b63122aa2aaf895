"""A differentiable function for Chainer: softcap, a smooth clip."""
