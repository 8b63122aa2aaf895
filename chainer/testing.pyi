# Written by scripts/make_stubs.py. Do not edit.

from chainer.plugins.testing import *
from chainer.plugins.testing import (
    array as array,
    attr as attr,
    condition as condition,
    conformance as conformance,
    gradient_check as gradient_check,
    helper as helper,
    matrix as matrix,
    numerical_gradient as numerical_gradient,
    op_spec as op_spec,
    parameterized as parameterized,
    pytest_plugin as pytest_plugin,
    random as random,
    runner as runner,
    serializer as serializer,
    specs as specs,
    training as training,
    unary_math_function_test as unary_math_function_test,
)
