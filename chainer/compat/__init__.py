"""Help for packages that were released before NumPy 2 and Python 3.11.

Nothing here is active unless a program asks for it; see ``chainer.compat.clients``.
"""
