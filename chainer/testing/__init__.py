"""Tools for testing functions, links and backends (public module ``chainer.testing``).

Our own tests and the tests of plugin authors use the same modules:

- :mod:`~chainer.testing.gradient_check` (also ``chainer.gradient_check``): gradients against finite
  differences;
- test cases of functions, links and optimizers from a few small methods
  (:class:`FunctionTestCase`, :class:`LinkTestCase`, :class:`LinkInitializersTestCase`,
  :class:`OptimizerTestCase`), and tests that run once for each backend
  (:func:`inject_backend_tests`);
- assertions, parameterized test cases, markers, retries, seeds;
- :mod:`~chainer.testing.op_spec` and the conformance suite, which tests any backend or kernel
  provider with ``pytest --pyargs chainer.testing.conformance --chainer-backend=NAME``.

Everything is imported at first use.
"""

from __future__ import annotations

from chainer.core.lazy import lazy_module

# Public name -> module that defines it.
_NAMES: dict[str, str] = {
    "BackendConfig": ".backend",
    "ErrorInput": ".op_spec",
    "FunctionTestCase": ".function_case",
    "FunctionTestError": ".errors",
    "InitializerArgument": ".initializer_argument",
    "LinkInitializersTestCase": ".link_initializers_case",
    "LinkTestCase": ".link_case",
    "LinkTestError": ".errors",
    "OpSpec": ".op_spec",
    "OptimizerTestCase": ".optimizer_case",
    "OptimizerTestError": ".errors",
    "Sample": ".op_spec",
    "Tolerance": ".op_spec",
    "assert_allclose": ".array",
    "assert_warns": ".helper",
    "distribution_unittest": ".distribution_test",
    "fix_random": ".random",
    "from_pytest_parameterize": ".parameterized",
    "generate_matrix": ".matrix",
    "generate_seed": ".random",
    "get_trainer_with_mock_updater": ".training",
    "inject_backend_tests": ".backend",
    "parameterize": ".parameterized",
    "parameterize_pytest": ".parameterized",
    "patch": ".helper",
    "product": ".parameterized",
    "product_dict": ".parameterized",
    "run_module": ".runner",
    "save_and_load": ".serializer",
    "save_and_load_hdf5": ".serializer",
    "save_and_load_npz": ".serializer",
    "unary_math_function_unittest": ".unary_math_function_test",
    "with_requires": ".helper",
    "without_requires": ".helper",
}

_SUBMODULES = (
    "attr",
    "condition",
    "doctest_helper",
    "function_link",
    "gradient_check",
    "op_spec",
    "specs",
)

# Type checkers read __init__.pyi, which is made from the table.
__all__ = list(_NAMES)  # pyright: ignore[reportUnsupportedDunderAll]

__getattr__, __dir__ = lazy_module(globals(), _NAMES, submodules=_SUBMODULES)
