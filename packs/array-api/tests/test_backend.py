"""Arrays of libraries in Chainer: wrapping, devices, refusals, fallbacks."""

from __future__ import annotations

import asyncio
import copy
import pickle
import sys
import types

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest

from chainer_array_api import (
    ArrayAPIBackend,
    FallbackError,
    FallbackWarning,
    count_fallbacks,
    wrap,
)


def native_ones(backend, shape=(2, 3)):
    return backend.nx.ones(shape, dtype=backend.nx.float32)


# -- the library's arrays ---


def test_native_arrays_make_variables(device, backend):
    native = native_ones(backend)
    x = chainer.Variable(native)
    assert isinstance(x.array, backend.array_class)
    assert x.array.native is native
    assert (x.device, x.xp, x.shape, x.dtype) == (device, backend.xp, (2, 3), np.dtype("f"))
    y = F.sum(x * x * 3)
    y.backward()
    np.testing.assert_array_equal(backend.to_host(x.grad), np.full((2, 3), 6))


def test_native_arrays_are_taken_everywhere(device, backend):
    native = native_ones(backend)
    for y in (F.relu(native), chainer.Variable(native) + native, chainer.Parameter(native)):
        assert isinstance(y.array, backend.array_class)
    assert isinstance(device.send(native), backend.array_class)
    assert chainer.get_device("@numpy").send(native).tolist() == [[1] * 3] * 2
    assert chainer.backend.get_array_module(native) is backend.xp
    assert chainer.backend.get_device_from_array(native) == device
    x = chainer.Variable(native)
    x.grad = native
    assert isinstance(x.grad, backend.array_class)
    batch, number = chainer.dataset.concat_examples([(native, 1), (native, 2)])
    assert batch.shape == (2, 2, 3)
    assert number.tolist() == [1, 2]


def test_functions_may_return_native_arrays(backend):
    class Double(chainer.FunctionNode):
        def forward(self, inputs):
            (x,) = inputs
            return (x.native + x.native,)

        def backward(self, indexes, grad_outputs):
            return Double().apply(grad_outputs)

    x = chainer.Variable(native_ones(backend))
    (y,) = Double().apply((x,))
    assert isinstance(y.array, backend.array_class)
    y.grad = native_ones(backend)
    y.backward()
    assert backend.to_host(x.grad).tolist() == [[2] * 3] * 2


def test_wrapping_shares_memory(backend):
    native = native_ones(backend)
    x = wrap(native)
    assert wrap(x) is x
    x[0] = 5
    assert float(native[0, 2]) == 5
    assert np.from_dlpack(x)[0, 0] == 5


@pytest.mark.parametrize("value", [np.ones(3), 1.0, "text"])
def test_others_are_not_wrapped(value):
    with pytest.raises(TypeError, match="expected"):
        wrap(value)


def test_tensors_never_require_gradients(need):
    need("torch")
    import torch

    t = torch.ones(3, requires_grad=True)
    x = chainer.Variable(t)
    assert not x.array.native.requires_grad
    assert x.array.native.data_ptr() == t.data_ptr()
    y = F.sum(F.exp(x))
    y.backward()
    assert not x.grad.native.requires_grad
    assert x.grad.native.grad_fn is None
    assert t.grad is None


def test_dtypes_that_numpy_lacks_are_refused(need):
    need("torch")
    import torch

    with pytest.raises(TypeError, match="bfloat16"):
        chainer.Variable(torch.ones(3, dtype=torch.bfloat16))


def test_dtypes_that_the_library_lacks_are_refused(need):
    need("array_api_strict")
    device = chainer.get_device("@array_api_strict")
    with pytest.raises(TypeError, match="no dtype float16; it has bool, int8"):
        device.send(np.ones(3, np.float16))
    with pytest.raises(TypeError, match="object"):
        device.send(np.array([None]))


# -- arrays ---


def test_attributes(xp):
    x = xp.zeros((2, 3), "f")
    assert (x.ndim, x.size, x.nbytes, x.itemsize, len(x)) == (2, 6, 24, 4, 2)
    assert x.strides == (12, 4)
    assert x.flags.c_contiguous
    assert not x.T.flags.c_contiguous
    assert x.T.flags["F_CONTIGUOUS"] is False or x.T.flags.f_contiguous
    assert x.flags.writeable
    assert not xp.broadcast_to(xp.zeros(()), (3,)).flags.writeable
    x.shape = (3, 2)
    assert x.shape == (3, 2)
    with pytest.raises(TypeError, match="len"):
        len(xp.zeros(()))


def test_numbers(xp):
    x = xp.asarray(2.5)
    assert (float(x), int(x), complex(x), bool(x), x.item()) == (2.5, 2, 2.5 + 0j, True, 2.5)
    assert f"{x:.2f}" == "2.50"
    assert [1, 2, 3][xp.asarray(1)] == 2
    assert xp.arange(3).tolist() == [0, 1, 2]
    assert "array([0, 1, 2])" in repr(xp.arange(3))
    assert [float(row.sum()) for row in xp.ones((2, 3))] == [3, 3]
    with pytest.raises(ValueError, match="ambiguous"):
        bool(xp.arange(3))


def test_copies(device, backend):
    x = device.send(np.arange(3.0))
    for clone in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.copy()):
        assert type(clone) is type(x)
        clone[0] = 9
    assert x.tolist() == [0, 1, 2]


def test_gradients_of_two_variables_do_not_share_memory(device):
    x, y = (chainer.Variable(device.send(np.ones((2, 3), "f"))) for _ in range(2))
    z = F.reshape(x, (6,)) + F.reshape(y, (6,))
    F.sum(z).backward()
    x.grad *= 2
    assert float(y.grad.sum()) == 6
    assert float(x.grad.sum()) == 12


# -- devices ---


def test_several_devices(need):
    need("array_api_strict")
    devices = chainer.backend.get_backend("array_api_strict").devices()
    assert [d.name for d in devices] == [f"@array_api_strict:{i}" for i in range(3)]
    model = L.Classifier(chainer.Sequential(L.Linear(3, 4), F.dropout, L.Linear(4, 2)))
    model.to_device(devices[1])
    x = devices[1].send(np.ones((2, 3), "f"))
    optimizer = chainer.optimizers.Adam().setup(model)
    optimizer.update(model, x, devices[1].send(np.zeros(2, "i")))
    assert {p.device for p in model.params()} == {devices[1]}
    assert {p.device for p in map(lambda p: chainer.Variable(p.grad), model.params())} == {
        devices[1]
    }
    with pytest.raises(ValueError, match="devices"):
        x + devices[2].send(np.ones((2, 3), "f"))


def test_devices_belong_to_tasks(need):
    need("array_api_strict")

    async def make(index, pauses):
        found = []
        with chainer.using_device(f"@array_api_strict:{index}") as device:
            for _ in range(pauses):
                await asyncio.sleep(0)
                array = device.xp.zeros((2,), "f")
                found.append(chainer.backend.get_device_from_array(array).index)
        return found

    async def main():
        return await asyncio.gather(make(1, 3), make(2, 5), make(0, 2))

    assert asyncio.run(main()) == [[1] * 3, [2] * 5, [0] * 2]
    assert chainer.get_device("@array_api_strict").index == 0


def test_specifiers_without_such_a_device(backend):
    with pytest.raises(ValueError, match="no device"):
        backend.device(99)


# -- random numbers ---


def test_a_seed_means_what_it_means_to_numpy(xp, backend):
    xp.random.seed(7)
    host = np.random.RandomState(7)
    for actual, expected in (
        (xp.random.uniform(-1, 1, (3,)), host.uniform(-1, 1, (3,))),
        (xp.random.normal(xp.zeros(3), 1), host.normal(np.zeros(3), 1)),
        (xp.random.randint(5, size=4), host.randint(5, size=4)),
    ):
        np.testing.assert_array_equal(backend.to_host(actual), expected)
    assert xp.random.standard_normal(3, dtype="f").dtype == np.float32
    x = xp.arange(20)
    xp.random.shuffle(x)
    assert sorted(x.tolist()) == list(range(20)) != x.tolist()


# -- functions that NumPy computes ---


def test_fallbacks_are_counted(xp):
    with count_fallbacks() as counts:
        assert float(xp.median(xp.arange(5))) == 2
        xp.exp(xp.arange(5))
    assert counts == {"median": 1}


def test_fallbacks_warn(xp):
    with (
        chainer.using_config("array_api_fallback", "warn"),
        pytest.warns(FallbackWarning, match="no 'median': NumPy computes it"),
    ):
        xp.median(xp.arange(5))


def test_fallbacks_are_forbidden(xp):
    with (
        chainer.using_config("array_api_fallback", "error"),
        pytest.raises(FallbackError, match="array_api_fallback = 'allow'"),
    ):
        xp.median(xp.arange(5))


def test_wrong_policy(xp):
    with (
        chainer.using_config("array_api_fallback", "often"),
        pytest.raises(ValueError, match="must be one of auto, allow, warn, error, got 'often'"),
    ):
        xp.median(xp.arange(5))


def test_nothing_leaves_the_device_unasked(backend, xp, monkeypatch):
    x = xp.arange(5)
    monkeypatch.setattr(type(backend), "in_host_memory", lambda self, native: False)
    with pytest.raises(FallbackError, match=r"copies from .* to the host and back"):
        xp.median(x)


# -- libraries ---


def test_a_library_of_a_stranger():
    """Three lines make a backend; here of NumPy itself, by its standard namespace."""

    class PlainBackend(ArrayAPIBackend):
        name = "plain_numpy"
        namespace = "array_api_compat.numpy"

    backend = PlainBackend()

    class Pack:
        chainer_api = 1

        @staticmethod
        def chainer_backends(registry):
            registry.register("plain_numpy", backend)

    pack = Pack()
    chainer.plugins.register(pack, name="plain")
    try:
        device = chainer.get_device("@plain_numpy")
        x = chainer.Variable(device.send(np.arange(6, dtype="f").reshape(2, 3)))
        F.sum(F.softmax(x) ** 2).backward()
        assert x.grad.device == "cpu"
        model = L.Linear(3, 2).to_device(device)
        assert model(x).device == device
    finally:
        chainer.plugins.unregister(pack)


def test_a_missing_library_is_named():
    class MissingBackend(ArrayAPIBackend):
        name = "missing_library"
        namespace = "no_such_library"
        install = "pip install no-such-library"

    reason = MissingBackend().unavailable_reason()
    assert reason is not None
    assert "no_such_library" in reason
    assert reason.endswith("pip install no-such-library")


@pytest.mark.parametrize("kind", ["immutable", "copying"])
def test_libraries_whose_arrays_cannot_be_written_are_refused(kind, monkeypatch):
    class Frozen(np.ndarray):
        def __setitem__(self, index, value):
            raise TypeError("arrays are immutable")

    library = types.ModuleType("frozen_library")
    library.__dict__.update(
        float32=np.float32,
        sum=np.sum,
        zeros=lambda shape, dtype: np.zeros(shape, dtype).view(
            Frozen if kind == "immutable" else np.ndarray
        ),
        reshape=lambda x, shape: x.reshape(shape).copy(),
        permute_dims=np.transpose,
    )
    monkeypatch.setitem(sys.modules, "frozen_library", library)

    class FrozenBackend(ArrayAPIBackend):
        name = "frozen_library"
        namespace = "frozen_library"

    reason = FrozenBackend().unavailable_reason()
    assert reason is not None
    assert ("immutable" if kind == "immutable" else "view") in reason


def test_a_backend_needs_a_namespace():
    class Nameless(ArrayAPIBackend):
        name = "nameless"

    with pytest.raises(TypeError, match="namespace"):
        Nameless()
