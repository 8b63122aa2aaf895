"""Comparison of the functions with those of release 7.8.1 by random calls.

``python -m tests.comparison --peer PYTHON`` makes the calls in both releases and prints how they
differ.
"""
