"""The conformance suite: is a backend, a kernel provider or a function pack right?

::

    pytest --pyargs chainer.testing.conformance --chainer-backend=NAME

runs it on the backend ``NAME`` (or on one device of it, ``NAME:INDEX``). Options:

``--chainer-provider=NAME``
    Prefers the kernels of this provider, and fails if it has none for the array type.
``--chainer-specs=MODULE:ATTRIBUTE``
    Runs these rows instead of the table of Chainer's own functions.
``--chainer-quick``
    Tests the operations in float32 only, outputs and gradients of contiguous arrays on every
    sample, and all else on up to three samples of a function: a fifth of the time.
``--chainer-report=FILE``
    Writes the summary that is printed at the end to a file: a Markdown table to paste, or JSON if
    the name ends with ``.json``.

Two parts: ``test_contract_*.py`` test what Chainer expects of a backend
(:class:`chainer.core.arrays.backend.Backend`), ``test_operations.py`` every function of the table.
``-k contract`` selects the first. Both run from any directory, and in several processes
(pytest-xdist). The summary at the end counts what passes by group, and names the kernels under test
that no call reached: they need rows of your own, whose samples they support.

A backend declares what its arrays cannot do in ``Backend.limitations``, a kernel in
``KernelDeclaration.limitations`` (:data:`chainer.backend.CAPABILITIES`). Tests that need it must
end in an error. There are no lists of tests to skip: an undeclared failure is a failure, and so is
a declared one that passes.

The suite compares with formulas in float64 NumPy (:mod:`chainer.testing.op_spec`), never
with another accelerated backend.
"""
