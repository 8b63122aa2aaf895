"""Runs released packages that use names which NumPy 2 or Python 3.11 removed.

ChainerCV, ChainerRL and other packages were released when ``numpy.bool`` was Python's ``bool`` and
``inspect.getargspec`` existed. Call :func:`enable` with the import names of such packages before
they are imported::

    from chainer.compat import clients

    clients.enable("chainercv")
    import chainercv

The modules of these packages, and no others, then see the old names. NumPy, the standard library
and all other packages stay as they are: the code of the named packages is changed while it is
loaded, so that it looks up the old names in the tables of this package. Nothing is written to disk.

Without a change to a program::

    CHAINER_COMPAT_CLIENTS=chainercv,chainerrl python program.py
    python -m chainer.compat.clients --packages chainercv program.py --its-own-option

The tables: ``numpy_names`` (names and methods of NumPy), ``python_names`` (the standard library),
``modules`` (compiled modules that cannot be built any longer).

Not restored: how NumPy 2 computes dtypes (NEP 50), how it prints numbers, and names that a package
looks up with ``getattr(module, "name")``.
"""

from __future__ import annotations

from chainer.compat.clients.importing import disable, enable, enabled

__all__ = ["disable", "enable", "enabled"]
