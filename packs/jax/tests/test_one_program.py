"""Reference kernels, each call of which is one program."""

from __future__ import annotations

import chainer
import chainer.functions as F
import numpy as np
import pytest
from chainer.kernel import get_operation

from chainer_jax.kernels import one_program
from chainer_jax.kernels.one_program import CompiledMethod, OneProgramKernel


def arrays(backend, *shapes, dtype=np.float32):
    device = backend.device()
    return [device.send(np.random.randn(*shape).astype(dtype)) for shape in shapes]


def host(backend, array):
    return backend.to_host(array)


def test_a_program_is_compiled_once_for_shapes_and_settings(backend):
    calls = []

    def method(x, factor, *, shift=0):
        calls.append(x.shape)
        return x * factor + shift, factor

    compiled = CompiledMethod(backend, method)
    x, y = arrays(backend, (2, 3), (2, 3))
    (z,) = arrays(backend, (4,))
    for array in (x, y, z, x):
        result, factor = compiled(array, 2.0, shift=1)
        np.testing.assert_allclose(
            host(backend, result), host(backend, array) * 2 + 1, rtol=1e-6, atol=1e-6
        )
        assert factor == 2.0
    assert calls == [(2, 3), (4,)]


def test_equal_settings_of_other_types_are_other_programs(backend):
    compiled = CompiledMethod(backend, lambda x, axis: (x.sum(axis=0), axis))
    (x,) = arrays(backend, (2, 3))
    assert [type(compiled(x, axis)[1]) for axis in (1, 1.0, True)] == [int, float, bool]


def test_results_that_are_arguments_stay_the_same_objects(backend):
    compiled = CompiledMethod(backend, lambda x, y: (y, x + y, None, "saved"))
    x, y = arrays(backend, (2,), (2,))
    first, total, nothing, text = compiled(x, y)
    assert first is y
    assert (nothing, text) == (None, "saved")
    np.testing.assert_allclose(host(backend, total), host(backend, x) + host(backend, y))


def test_a_kernel_that_reads_values_runs_as_it_is(backend):
    compiled = CompiledMethod(backend, lambda x: x * 2 if float(x.sum()) > 0 else x * 3)
    for sign, factor in ((1, 2), (-1, 3), (1, 2)):
        x = backend.device().send(np.full(3, sign, np.float32))
        np.testing.assert_array_equal(host(backend, compiled(x)), np.full(3, sign * factor))
    assert [*compiled._programs.values()] == [None]


def test_a_written_argument_has_its_new_values(backend):
    def method(x):
        x += 1
        return x * 2

    compiled = CompiledMethod(backend, method)
    x = backend.device().send(np.zeros(3, np.float32))
    for step in (1, 2):
        np.testing.assert_array_equal(host(backend, compiled(x)), np.full(3, 2 * step))
        np.testing.assert_array_equal(host(backend, x), np.full(3, step))


def test_arguments_without_hash(backend):
    compiled = CompiledMethod(backend, lambda x, table: x + table[1])
    (x,) = arrays(backend, (2,))
    found = compiled(x, np.array([1.0, 2.0]).tolist())
    np.testing.assert_allclose(host(backend, found), host(backend, x) + 2, rtol=1e-6)
    found = compiled(x, np.array([1.0, 2.0]))
    np.testing.assert_allclose(host(backend, found), host(backend, x) + 2, rtol=1e-6)


def test_settings_that_always_differ_are_not_compiled_for_ever(backend, monkeypatch):
    monkeypatch.setattr(one_program, "MOST_SETTINGS", 3)
    compiled = CompiledMethod(backend, lambda x, factor: x * factor)
    (x,) = arrays(backend, (2,))
    for i in range(6):
        found = host(backend, compiled(x, float(i)))
        np.testing.assert_allclose(found, host(backend, x) * i, rtol=1e-6)
    assert len(compiled._programs) == 3
    compiled(*arrays(backend, (5,)), 0.0)  # another shape of settings that are known
    assert len(compiled._programs) == 4


def test_errors_of_the_kernel_are_raised(backend):
    def method(x):
        raise ValueError("no such shape")

    with pytest.raises(ValueError, match="no such shape"):
        CompiledMethod(backend, method)(*arrays(backend, (2,)))


def test_the_kernel_of_an_operation_is_compiled(backend):
    kernel = get_operation("softmax").select(*arrays(backend, (2, 3)))
    assert isinstance(kernel, OneProgramKernel)
    assert kernel.xp is backend.xp  # attributes of the reference kernel


@pytest.mark.parametrize("shape", [(5, 4), (5, 4, 3), (5, 4, 3, 2)])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_entropy(shape, dtype, weighted):
    state = np.random.RandomState(0)
    x = state.randn(*shape).astype(dtype)
    t = state.randint(-1, 4, (shape[0], *shape[2:])).astype(np.int32)
    weights = np.array([0.5, 2, 1, 3], dtype) if weighted else None
    found = []
    for name in ("@numpy", "@jax:0"):
        device = chainer.get_device(name)
        given = chainer.Variable(device.send(x))
        given_weights = None if weights is None else device.send(weights)
        loss = F.softmax_cross_entropy(given, device.send(t), class_weight=given_weights)
        loss.backward()
        found.append([device.backend.to_host(a) for a in (loss.array, given.grad)])
    rtol = 1e-2 if dtype == np.float16 else 1e-5
    for expected, actual in zip(*found, strict=True):
        assert actual.dtype == expected.dtype
        np.testing.assert_allclose(actual, expected, rtol=rtol, atol=rtol / 10)
