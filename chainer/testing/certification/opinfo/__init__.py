"""The samples of PyTorch's OpInfo, for the functions that PyTorch and Chainer both have.

:mod:`.export` runs in a Python that has PyTorch, and writes samples with PyTorch's results.
``test_opinfo.py`` compares outputs and gradients on the device under test. :mod:`.rows` says how a
function is called with PyTorch's arguments, and where the two differ on purpose.
"""
