"""What came after Chainer v4: attention, newer normalizations, activations and losses.

With this distribution installed its names are attributes of ``chainer.functions`` and
``chainer.links``: ``F.gelu``, ``L.MultiHeadAttention``. They can also be imported from
:mod:`chainer_modern.functions` and :mod:`chainer_modern.links`, where editors and type checkers see
them.
"""

__version__ = "1.0.0"
