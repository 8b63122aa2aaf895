"""The contract of kernels: which one serves a call, and how that is explained."""

# pyright: basic
# ruff: noqa: D103
from __future__ import annotations

import numpy as np

from chainer.core.arrays.backend import backend_of, is_array_type
from chainer.core.arrays.kernel import explain, get_operation
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import using_config
from chainer.core.lazy import resolve
from chainer.core.registry import registries
from chainer.testing.conformance.contract import assert_equal, assert_on_device, values


def _softmax():
    y = np.exp(values())
    return y / y.sum(axis=1, keepdims=True)


def test_every_operation_has_a_reference_kernel(backend):
    registries.operations.load_all()
    for name in registries.operations.names():
        operation = get_operation(name)
        kernel = operation.reference_for(backend)
        assert all(callable(getattr(kernel, method)) for method in operation.methods)


def test_declared_kernels_can_be_loaded(backend, array, pytestconfig):
    registries.kernels.load_all()
    wanted = pytestconfig.getoption("--chainer-provider") or backend.name
    for name in registries.kernels.names():
        kernel = registries.kernels.get(name)
        if kernel.provider != wanted or not is_array_type(kernel.array_type, type(array)):
            continue
        assert resolve(kernel.unavailable)() is None
        loaded = resolve(kernel.load)(backend)
        methods = get_operation(kernel.operation).methods
        missing = [method for method in methods if not callable(getattr(loaded, method, None))]
        assert not missing, f"{kernel.key} lacks {', '.join(missing)}"


def test_declared_kernels_are_of_known_operations(backend):
    registries.kernels.load_all()
    registries.operations.load_all()
    for name in registries.kernels.names():
        kernel = registries.kernels.get(name)
        if kernel.provider == backend.name:
            assert kernel.operation in registries.operations
            assert name == kernel.key


def test_a_kernel_serves_the_arrays(backend, device, array):
    operation = get_operation("softmax")
    y = operation.select(array, axis=1).forward(array, 1)
    assert backend_of(y).family == backend.family
    assert_equal(y, _softmax(), rtol=1e-5)
    if backend.makes_xp_arrays:
        y = operation.reference_for(backend).forward(array, 1)
        assert_on_device(y, device)
        assert_equal(y, _softmax(), rtol=1e-5)


def test_one_signature_gets_one_kernel(device, array):
    operation = get_operation("softmax")
    chosen = operation.select(array, axis=1)
    assert operation.select(device.send(values() + 1), axis=1) is chosen
    with using_config("kernels", ()):
        operation.select(array, axis=1)
    assert operation.select(array, axis=1) is chosen


def test_explains_the_choice(array):
    explanation = explain("softmax", array, axis=1)
    assert explanation.array_type is type(array)
    assert explanation.chosen.reason is None
    assert [candidate.chosen for candidate in explanation].count(True) == 1
    assert all(candidate.reason for candidate in explanation if not candidate.chosen)
    text = str(explanation)
    assert f"is served by {explanation.chosen.provider!r}" in text
    assert type(array).__qualname__ in text


def test_explains_the_choice_for_variables(array):
    chosen = explain("softmax", Variable(array), axis=1).chosen
    assert chosen == explain("softmax", array, axis=1).chosen


def test_what_is_explained_is_what_serves(backend, array):
    operation = get_operation("softmax")
    chosen = operation.explain(array, axis=1).chosen
    serving = operation.select(array, axis=1)
    if chosen.kernel is None:
        reference = operation.reference_for(backend)
        assert serving is reference or getattr(serving, "reference", None) is reference
    else:
        assert serving is not operation.reference_for(backend)
