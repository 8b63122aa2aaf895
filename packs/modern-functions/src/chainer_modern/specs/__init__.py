"""What the functions compute, and on which inputs, for Chainer's conformance suite.

On any backend, or with any provider of kernels::

    pytest --pyargs chainer.testing.conformance --chainer-specs chainer_modern.specs:SPECS
"""

from __future__ import annotations

from chainer_modern.specs import activation, attention, loss, normalization, others

SPECS = (
    *activation.SPECS,
    *attention.SPECS,
    *loss.SPECS,
    *normalization.SPECS,
    *others.SPECS,
)
