# Written by scripts/make_stubs.py. Do not edit.

from chainer.plugins.testing import *
from chainer.plugins.testing import (
    array as array,
    attr as attr,
    backend as backend,
    case as case,
    case_gradients as case_gradients,
    condition as condition,
    conformance as conformance,
    function_case as function_case,
    gradient_check as gradient_check,
    helper as helper,
    link_case as link_case,
    link_initializers_case as link_initializers_case,
    matrix as matrix,
    numerical_gradient as numerical_gradient,
    op_spec as op_spec,
    optimizer_case as optimizer_case,
    parameterized as parameterized,
    pytest_plugin as pytest_plugin,
    random as random,
    runner as runner,
    serializer as serializer,
    specs as specs,
    training as training,
    unary_math_function_test as unary_math_function_test,
)
