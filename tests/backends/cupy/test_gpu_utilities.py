"""``chainer.backends.cuda`` on a GPU: what guides and reference say of it."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.backends import cuda
from chainer.core.arrays.backend import backend_of
from chainer.testing import attr

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(attr.gpu_limit() < 1, reason="needs a GPU"),
]


def test_names():
    assert cuda.available
    assert cuda.ndarray is cuda.cupy.ndarray
    assert isinstance(cuda.Device(0), cuda.cupy.cuda.Device)
    assert isinstance(cuda.Stream(), cuda.cupy.cuda.Stream)
    assert isinstance(cuda.Event(), cuda.cupy.cuda.Event)
    cuda.check_cuda_available()


def test_moves():
    x = np.arange(6, dtype="f").reshape(2, 3)
    y = cuda.to_gpu(x)
    assert isinstance(y, cuda.ndarray)
    assert cuda.to_gpu(y) is y
    assert cuda.to_gpu(y, device=0) is y
    np.testing.assert_array_equal(cuda.to_cpu(y), x)
    assert cuda.to_cpu(x) is x
    pair = cuda.to_gpu((x, None, x))
    assert pair[1] is None
    assert pair[0] is pair[2]
    assert [type(a) for a in cuda.to_cpu([y, y])] == [np.ndarray] * 2
    assert cuda.to_gpu(np.float32(3)).shape == ()
    with pytest.raises(TypeError, match="must be numpy.ndarray or cupy.ndarray"):
        cuda.to_gpu("text")
    assert cuda.get_array_module(y) is cuda.cupy
    assert cuda.get_array_module(chainer.Variable(y)) is cuda.cupy


@pytest.mark.filterwarnings("ignore:The stream option is deprecated:DeprecationWarning")
def test_streams():
    stream = cuda.Stream(non_blocking=True)
    x = np.random.standard_normal(100000).astype("f")
    y = cuda.to_gpu(x, stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(cuda.to_cpu(y), x)
    host = cuda.to_cpu(y, stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(host, x)
    z = cuda.copy(y, stream=stream)
    z += 1
    np.testing.assert_array_equal(z.get(), x + 1)


def test_copy():
    x = cuda.cupy.arange(12, dtype="f").reshape(3, 4)
    y = cuda.copy(x)
    assert y.data.ptr != x.data.ptr
    for source in (x, x.T, x[:, ::2]):
        np.testing.assert_array_equal(cuda.copy(source).get(), source.get())
    out = cuda.cupy.zeros((4, 3), "d")
    assert cuda.copy(x.T, out=out) is out
    np.testing.assert_array_equal(out.get(), x.T.get())
    with pytest.raises(ValueError, match="out must have the shape"):
        cuda.copy(x, out=out)


@attr.multi_gpu(2)
def test_two_devices():
    with cuda.get_device_from_id(1):
        x = cuda.cupy.arange(10, dtype="f") * 2
    assert int(cuda.get_device_from_array(x)) == 1
    y = cuda.copy(x, out_device=0)
    assert int(y.device) == 0
    np.testing.assert_array_equal(y.get(), x.get())
    z = cuda.to_gpu(x, device=0)
    assert int(z.device) == 0
    out = cuda.cupy.zeros((5, 4), "d")[:, ::2].T[:1, :]
    cuda.copy(x[:5].reshape(1, 5), out=out)
    np.testing.assert_array_equal(out.get()[0], [0, 2, 4, 6, 8])
    variable = chainer.Variable(x)
    variable.to_gpu(0)
    assert int(variable.array.device) == 0
    a, b = chainer.Variable(x), F.copy(chainer.Variable(x), 0)
    assert int(b.array.device) == 0
    (F.sum(F.copy(a, 0))).backward()
    assert int(a.grad.device) == 1


def test_devices():
    x = cuda.cupy.zeros(3)
    assert cuda.get_device_from_id(0) == cuda.Device(0)
    assert cuda.get_device_from_array(x) == x.device
    assert cuda.get_device_from_array(np.zeros(3)) is cuda.DummyDevice
    with pytest.warns(DeprecationWarning, match="get_device is deprecated"):
        assert cuda.get_device(x) == x.device
    with pytest.warns(DeprecationWarning, match="get_device is deprecated"):
        assert cuda.get_device(0) == cuda.Device(0)
    with cuda.get_device_from_id(0):
        assert cuda.cupy.zeros(3).device.id == 0
    assert str(chainer.get_device(0)) == "@cupy:0"
    with pytest.raises(ValueError, match="does not exist"):
        chainer.get_device("@cupy:1000")


def test_device_of_an_empty_array():
    """Trap 5 of release 7: release 4 gave the dummy device."""
    x = cuda.cupy.zeros(0)
    assert cuda.get_device_from_array(x) == x.device


def test_kernels_of_users():
    xp = cuda.cupy
    kernel = cuda.elementwise("T x, T y", "T z", "z = x * y + 1", "fused")
    assert kernel is cuda.elementwise("T x, T y", "T z", "z = x * y + 1", "fused")
    np.testing.assert_array_equal(kernel(xp.arange(3.0), xp.arange(3.0)).get(), [1, 2, 5])
    total = cuda.reduce("T x", "T y", "x * x", "a + b", "y = a", "0", "sum_of_squares")
    assert float(total(xp.arange(4.0))) == 14
    calls = []

    @cuda.memoize(for_each_device=True)
    def slow(x):
        calls.append(x)
        return x + 1

    assert [slow(1), slow(1), slow(2)] == [2, 2, 3]
    assert calls == [1, 2]
    cuda.clear_memo()
    slow(1)
    assert calls == [1, 2, 1]

    @cuda.fuse()
    def doubled(x):  # also the name of the kernel: it must be one in C
        return x * 2

    assert doubled(xp.ones(2)).get().tolist() == [2, 2]
    assert doubled(np.ones(2)).tolist() == [2, 2]


def test_function_of_both_kinds():
    """Guide 006: a function with ``forward_cpu`` and ``forward_gpu``."""

    class MulAdd(chainer.FunctionNode):
        def forward_cpu(self, inputs):
            x, y, z = inputs
            self.retain_inputs((0, 1))
            return (x * y + z,)

        def forward_gpu(self, inputs):
            self.retain_inputs((0, 1))
            muladd = cuda.elementwise("float32 x, float32 y, float32 z", "float32 w",
                                      "w = x * y + z", "muladd_fwd")  # fmt: skip
            return (muladd(*inputs),)

        def backward(self, indexes, grad_outputs):
            x, y = self.get_retained_inputs()
            (gw,) = grad_outputs
            return y * gw, x * gw, gw

    arrays = [np.random.standard_normal((3, 2)).astype("f") for _ in range(3)]
    grads = []
    for send in (lambda a: a, cuda.to_gpu):
        variables = [chainer.Variable(send(a)) for a in arrays]
        F.sum(MulAdd().apply(variables)[0]).backward()
        grads.append([cuda.to_cpu(v.grad) for v in variables])
    for one, other in zip(*grads, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_mixed_inputs_are_refused():
    with pytest.raises(TypeError, match="incompatible array types are mixed"):
        F.concat([cuda.cupy.zeros((2, 3), "f"), np.zeros((2, 3), "f")])


@pytest.mark.filterwarnings("ignore:to_.pu is deprecated:DeprecationWarning")
def test_links_optimizers_and_serializers(tmp_path):
    model = L.Linear(3, 2)
    optimizer = chainer.optimizers.Adam().setup(model)
    model.to_gpu()
    assert isinstance(model.W.array, cuda.ndarray)
    optimizer.update(lambda x: F.sum(model(x)), cuda.cupy.ones((4, 3), "f"))
    assert isinstance(model.W.update_rule.state["m"], cuda.ndarray)
    for save, load in (
        (chainer.serializers.save_npz, chainer.serializers.load_npz),
        (chainer.serializers.save_hdf5, chainer.serializers.load_hdf5),
    ):
        if save is chainer.serializers.save_hdf5:
            pytest.importorskip("h5py")
        save(tmp_path / "model", model)
        for place in ("cpu", "gpu"):
            other = L.Linear(3, 2)
            if place == "gpu":
                other.to_gpu()
            load(tmp_path / "model", other)
            np.testing.assert_array_equal(cuda.to_cpu(other.W.array), model.W.array.get())
            assert isinstance(other.W.array, cuda.ndarray) == (place == "gpu")
    model.to_cpu()
    assert type(model.W.array) is np.ndarray
    optimizer.update(lambda x: F.sum(model(x)), np.ones((4, 3), "f"))
    assert type(model.W.update_rule.state["m"]) is np.ndarray


def test_hooks(capsys):
    x = chainer.Variable(cuda.cupy.ones((100, 100), "f"))
    with chainer.function_hooks.CupyMemoryProfileHook() as hook:
        F.exp(x)
    assert hook.total_used_bytes() >= 40000
    hook.print_report()
    assert "Exp" in capsys.readouterr().out
    with chainer.function_hooks.CUDAProfileHook():
        F.sum(F.exp(x)).backward()
    with chainer.function_hooks.TimerHook() as timer:
        F.exp(x)
    assert timer.total_time() > 0


def test_seeds():
    cuda.cupy.random.seed(5)
    first = F.dropout(cuda.cupy.ones(100, "f")).array
    cuda.cupy.random.seed(5)
    assert (first == F.dropout(cuda.cupy.ones(100, "f")).array).all()


def test_draws_are_noticed():
    """Else vmap could not tell whether a function draws random numbers."""
    cupy = cuda.cupy
    device = chainer.get_device("@cupy:0")
    backend = backend_of(cupy.zeros(1))
    draws = [
        lambda: cupy.random.rand(2),
        lambda: cupy.random.randn(3),
        lambda: cupy.random.randint(0, 5, size=2),
        lambda: cupy.random.permutation(3),
        lambda: cupy.random.gamma(1.0, size=2),
        lambda: cupy.random.choice(3, size=2),
        lambda: F.dropout(cupy.ones(4, "f")),
        lambda: cupy.random.seed(0),
    ]
    for draw in draws:
        first = backend.random_mark(device)
        assert backend.random_mark(device) == first
        F.sum(F.relu(cupy.ones(4, "f")))
        assert backend.random_mark(device) == first
        draw()
        assert backend.random_mark(device) != first
    cupy.random.seed(3)
    expected = cupy.random.rand(4)
    cupy.random.seed(3)
    backend.random_mark(device)
    np.testing.assert_array_equal(cupy.random.rand(4).get(), expected.get())


def test_random_numbers_in_vmap():
    cupy = cuda.cupy
    x = cupy.ones((3, 4), "f")
    np.testing.assert_array_equal(chainer.vmap(lambda x: x * 2)(x).array.get(), 2)
    with pytest.raises(RuntimeError, match="vmap: func draws random numbers"):
        chainer.vmap(F.dropout)(x)
    found = {
        kind: chainer.vmap(lambda x: F.dropout(x, 0.5), randomness=kind)(cupy.ones((3, 64), "f"))
        for kind in ("same", "different")
    }
    rows = {kind: y.array.get() for kind, y in found.items()}
    assert (rows["same"][0] == rows["same"][1:]).all()
    assert (rows["different"][0] != rows["different"][1:]).any(axis=1).all()


def test_async_transfer():
    convert = chainer.dataset.convert.ConcatWithAsyncTransfer()
    for step in range(5):
        batch = [(np.full((50, 20), 10 * step + i, "f"), np.int32(i)) for i in range(8)]
        x, t = convert(batch, 0)
        total = (x * 1).sum()
        assert isinstance(x, cuda.ndarray)
        expected = sum(10 * step + i for i in range(8)) * 1000
        assert float(total) == expected
        assert t.get().tolist() == list(range(8))
