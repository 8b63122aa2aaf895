"""The conformance suite: is a backend, a kernel provider or a function pack right?

::

    pytest --pyargs chainer.plugins.testing.conformance --chainer-backend=NAME

runs it on the backend ``NAME`` (or on one device of it, ``NAME:INDEX``). Options:

``--chainer-provider=NAME``
    Prefers the kernels of this provider, and fails if it has none for the array type.
``--chainer-specs=MODULE:ATTRIBUTE``
    Runs these rows instead of the table of Chainer's own functions.
``--chainer-xfail=FILE`` Expected failures, one a line: a test id as pytest prints it after the file
    name, ``*`` for any text, then ``#`` and the reason. A listed test that passes is an error, and
    so is a line that fits no test.

The suite compares with formulas in float64 NumPy (:mod:`chainer.plugins.testing.op_spec`), never
with another accelerated backend.
"""
