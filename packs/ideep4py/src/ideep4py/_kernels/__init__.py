"""Elementwise arithmetic, matrix products and sums on pairs (layout, pointer), for ``mdarray``.

The functions here trust their arguments; :mod:`ideep4py.ops` checks and converts them.
"""
