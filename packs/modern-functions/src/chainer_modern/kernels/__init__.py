"""Reference kernels of the operations in :mod:`chainer_modern.operations`."""
