"""CUDA without a GPU: the real CuPy on devices that are emulated in the memory of the host.

``python -m tests.gpu.emulation COMMAND`` runs a command in it. ``README.md`` tells what it proves
and how it works. Processes in it know this package as ``chainer_emulation``
(``startup/sitecustomize.py``): modules import each other relatively.
"""
