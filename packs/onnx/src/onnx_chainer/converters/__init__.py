"""Converters of Chainer's functions, by category.

Each function here has the name of the class of function nodes that it converts. ``pack.py`` lists
the names; a module is imported when a model has one of its functions.
"""
