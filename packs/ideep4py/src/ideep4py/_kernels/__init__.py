"""Elementwise arithmetic, matrix products and sums on pairs (layout, pointer): what ``mdarray``
itself needs.

The functions here trust their arguments; :mod:`ideep4py.ops` checks and converts them.
"""
