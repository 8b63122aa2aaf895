"""The autograd engine: Variables, function nodes, backward and chainer.grad."""
