"""The versions of ONNX's operator set that models are exported to."""

MINIMUM_OPSET_VERSION = 9
"""Oldest operator set that every converter supports."""

MAXIMUM_OPSET_VERSION = 26
"""Newest operator set that the converters are tested with."""

DEFAULT_OPSET_VERSION = 21
"""Operator set of exports that name none.

Runtimes of the last two years run it. It is the first one with GroupNormalization as Chainer
defines it, and it has ``axes`` as inputs everywhere.
"""
