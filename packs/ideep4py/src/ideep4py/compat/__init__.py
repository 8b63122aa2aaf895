"""The names of the original module, each a thin wrapper of :mod:`ideep4py.ops`.

As in the original, these take mdarrays only: :func:`ideep4py.array` makes them. Where the original
ended the process (C++ exceptions) they raise TypeError or ValueError.
"""
