"""Tools for testing functions, links and backends (public module ``chainer.testing``).

What our own tests use is here for authors of plugins as well:

- :mod:`~chainer.testing.gradient_check` (also ``chainer.gradient_check``): gradients against finite
  differences;
- test cases of functions, links and optimizers from a few small methods
  (:class:`FunctionTestCase`, :class:`LinkTestCase`, :class:`LinkInitializersTestCase`,
  :class:`OptimizerTestCase`), and tests that run once for each backend
  (:func:`inject_backend_tests`);
- assertions, parameterised test cases, markers, retries, seeds;
- :mod:`~chainer.testing.op_spec` and the conformance suite, which tests any backend or kernel
  provider with ``pytest --pyargs chainer.testing.conformance --chainer-backend=NAME``.

Everything is imported at first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chainer.testing.array import assert_allclose
    from chainer.testing.backend import BackendConfig, inject_backend_tests
    from chainer.testing.distribution_test import distribution_unittest
    from chainer.testing.errors import FunctionTestError, LinkTestError, OptimizerTestError
    from chainer.testing.function_case import FunctionTestCase
    from chainer.testing.helper import (
        assert_warns,
        patch,
        with_requires,
        without_requires,
    )
    from chainer.testing.initializer_argument import InitializerArgument
    from chainer.testing.link_case import LinkTestCase
    from chainer.testing.link_initializers_case import LinkInitializersTestCase
    from chainer.testing.matrix import generate_matrix
    from chainer.testing.op_spec import ErrorInput, OpSpec, Sample, Tolerance
    from chainer.testing.optimizer_case import OptimizerTestCase
    from chainer.testing.parameterized import (
        from_pytest_parameterize,
        parameterize,
        parameterize_pytest,
        product,
        product_dict,
    )
    from chainer.testing.random import fix_random, generate_seed
    from chainer.testing.runner import run_module
    from chainer.testing.serializer import (
        save_and_load,
        save_and_load_hdf5,
        save_and_load_npz,
    )
    from chainer.testing.training import get_trainer_with_mock_updater
    from chainer.testing.unary_math_function_test import unary_math_function_unittest

__all__ = [
    "BackendConfig",
    "ErrorInput",
    "FunctionTestCase",
    "FunctionTestError",
    "InitializerArgument",
    "LinkInitializersTestCase",
    "LinkTestCase",
    "LinkTestError",
    "OpSpec",
    "OptimizerTestCase",
    "OptimizerTestError",
    "Sample",
    "Tolerance",
    "assert_allclose",
    "assert_warns",
    "distribution_unittest",
    "fix_random",
    "from_pytest_parameterize",
    "generate_matrix",
    "generate_seed",
    "get_trainer_with_mock_updater",
    "inject_backend_tests",
    "parameterize",
    "parameterize_pytest",
    "patch",
    "product",
    "product_dict",
    "run_module",
    "save_and_load",
    "save_and_load_hdf5",
    "save_and_load_npz",
    "unary_math_function_unittest",
    "with_requires",
    "without_requires",
]

# Public name -> module of this package it lives in.
_HOMES = {
    "BackendConfig": "backend",
    "ErrorInput": "op_spec",
    "FunctionTestCase": "function_case",
    "FunctionTestError": "errors",
    "InitializerArgument": "initializer_argument",
    "LinkInitializersTestCase": "link_initializers_case",
    "LinkTestCase": "link_case",
    "LinkTestError": "errors",
    "OpSpec": "op_spec",
    "OptimizerTestCase": "optimizer_case",
    "OptimizerTestError": "errors",
    "Sample": "op_spec",
    "Tolerance": "op_spec",
    "assert_allclose": "array",
    "assert_warns": "helper",
    "distribution_unittest": "distribution_test",
    "fix_random": "random",
    "from_pytest_parameterize": "parameterized",
    "generate_matrix": "matrix",
    "generate_seed": "random",
    "get_trainer_with_mock_updater": "training",
    "inject_backend_tests": "backend",
    "parameterize": "parameterized",
    "parameterize_pytest": "parameterized",
    "patch": "helper",
    "product": "parameterized",
    "product_dict": "parameterized",
    "run_module": "runner",
    "save_and_load": "serializer",
    "save_and_load_hdf5": "serializer",
    "save_and_load_npz": "serializer",
    "unary_math_function_unittest": "unary_math_function_test",
    "with_requires": "helper",
    "without_requires": "helper",
}

_MODULES = frozenset(_HOMES.values()) | {
    "attr",
    "condition",
    "doctest_helper",
    "function_link",
    "gradient_check",
    "op_spec",
    "specs",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is not None:
        value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_MODULES})
