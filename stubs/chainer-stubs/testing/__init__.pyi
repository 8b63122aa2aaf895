# Written by scripts/make_stubs.py. Do not edit.

from chainer.testing import (
    attr as attr,
    condition as condition,
    doctest_helper as doctest_helper,
    function_link as function_link,
    gradient_check as gradient_check,
    op_spec as op_spec,
    specs as specs,
)
from chainer.testing.array import assert_allclose as assert_allclose
from chainer.testing.backend import (
    BackendConfig as BackendConfig,
    inject_backend_tests as inject_backend_tests,
)
from chainer.testing.distribution_test import distribution_unittest as distribution_unittest
from chainer.testing.errors import (
    FunctionTestError as FunctionTestError,
    LinkTestError as LinkTestError,
    OptimizerTestError as OptimizerTestError,
)
from chainer.testing.function_case import FunctionTestCase as FunctionTestCase
from chainer.testing.helper import (
    assert_warns as assert_warns,
    patch as patch,
    with_requires as with_requires,
    without_requires as without_requires,
)
from chainer.testing.initializer_argument import InitializerArgument as InitializerArgument
from chainer.testing.link_case import LinkTestCase as LinkTestCase
from chainer.testing.link_initializers_case import (
    LinkInitializersTestCase as LinkInitializersTestCase,
)
from chainer.testing.matrix import generate_matrix as generate_matrix
from chainer.testing.op_spec import (
    ErrorInput as ErrorInput,
    OpSpec as OpSpec,
    Sample as Sample,
    Tolerance as Tolerance,
)
from chainer.testing.optimizer_case import OptimizerTestCase as OptimizerTestCase
from chainer.testing.parameterized import (
    from_pytest_parameterize as from_pytest_parameterize,
    parameterize as parameterize,
    parameterize_pytest as parameterize_pytest,
    product as product,
    product_dict as product_dict,
)
from chainer.testing.random import fix_random as fix_random, generate_seed as generate_seed
from chainer.testing.runner import run_module as run_module
from chainer.testing.serializer import (
    save_and_load as save_and_load,
    save_and_load_hdf5 as save_and_load_hdf5,
    save_and_load_npz as save_and_load_npz,
)
from chainer.testing.training import get_trainer_with_mock_updater as get_trainer_with_mock_updater
from chainer.testing.unary_math_function_test import (
    unary_math_function_unittest as unary_math_function_unittest,
)
