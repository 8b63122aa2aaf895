"""Without CUDA: nothing imports CuPy, and what needs it says what is missing."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import textwrap
from types import SimpleNamespace

import numpy as np
import pytest

import chainer
import chainer.links as L
from chainer.backends import cuda
from chainer.backends.cupy import library
from chainer.backends.cupy.cudnn import library as cudnn_library
from tests.backends.cupy.conftest import forget_cupy

STAND_INS = {
    "package": (None, "No module named 'cupy'; install CuPy"),
    "broken package": ("raise OSError('libcudart.so.13 is missing')", "libcudart.so.13 is missing"),
    "old package": ("__version__ = '13.6.0'", "CuPy 13.6.0 is too old; version 14 or later"),
    "driver": (
        """
        __version__ = "14.0.0"
        class CUDARuntimeError(RuntimeError): pass
        class runtime:
            def getDeviceCount():
                raise CUDARuntimeError("cudaErrorInsufficientDriver: too old")
        class cuda: runtime = runtime
        """,
        "there is no NVIDIA driver, or one too old",
    ),
    "no device": (
        """
        __version__ = "14.0.0"
        class runtime:
            def getDeviceCount():
                raise RuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
        class cuda: runtime = runtime
        """,
        "there is no CUDA device",
    ),
    "hidden device": (
        """
        __version__ = "14.0.0"
        class runtime:
            def getDeviceCount():
                return 0
        class cuda: runtime = runtime
        """,
        "CuPy finds no CUDA device",
    ),
}


def run(code, path=None):
    """Runs a program in a process that finds the modules in a directory first."""
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    if path is not None:
        found = os.pathsep.join(filter(None, [str(path), environment.get("PYTHONPATH")]))
        environment["PYTHONPATH"] = found
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def without_cupy(monkeypatch):
    """Makes this process one of a machine without CuPy."""
    reason = "No module named 'cupy'; install it"
    monkeypatch.setattr(library, "find", lambda: (None, reason))
    for name in cuda._LAZY:
        monkeypatch.delitem(vars(cuda), name, raising=False)
    forget_cupy()
    yield
    forget_cupy()
    for name in cuda._LAZY:
        vars(cuda).pop(name, None)


def test_imports_leave_cupy_alone(tmp_path):
    (tmp_path / "cupy.py").write_text("raise AssertionError('cupy was imported')")
    program = """
        import sys
        import numpy as np
        import chainer, chainer.functions as F, chainer.links as L
        from chainer.backends import cuda
        from chainer import training
        from chainer.training import extensions, updaters
        model = L.Classifier(L.Linear(2, 3))
        optimizer = chainer.optimizers.Adam().setup(model)
        optimizer.update(model, np.ones((4, 2), "f"), np.zeros(4, "i"))
        F.max_pooling_2d(np.ones((1, 1, 4, 4), "f"), 2)
        assert cuda.get_device_from_array(np.ones(3)) is cuda.DummyDevice
        assert cuda.get_array_module(np.ones(3)) is np
        assert cuda.to_cpu(np.ones(3)) is not None
        assert cuda.get_device_from_id(-1) is cuda.DummyDevice
        cuda.memoize()(len)
        assert "cupy" not in sys.modules
    """
    run(program, tmp_path)


@pytest.mark.parametrize("missing", STAND_INS)
def test_the_error_says_what_is_missing(tmp_path, missing):
    source, expected = STAND_INS[missing]
    if source is None:
        try:
            import cupy  # noqa: F401  # type: ignore[import-not-found]
        except ImportError:
            pass
        else:
            pytest.skip("CuPy is installed")
    else:
        (tmp_path / "cupy").mkdir()
        (tmp_path / "cupy" / "__init__.py").write_text(textwrap.dedent(source))
    program = """
        import numpy as np
        import chainer
        from chainer.backends import cuda
        assert cuda.available is False and cuda.cudnn_enabled is False
        for call in (cuda.check_cuda_available, lambda: cuda.to_gpu(np.ones(3)),
                     lambda: cuda.cupy.zeros(3), lambda: chainer.get_device("@cupy:0")):
            try:
                call()
            except RuntimeError as error:
                print(error)
            else:
                raise AssertionError("no error")
    """
    lines = run(program, tmp_path).splitlines()
    assert len(lines) == 4
    assert all(expected in line for line in lines), lines


def entry_points():
    x, link = np.ones((2, 2), "f"), L.Linear(2, 2)
    yield "check_cuda_available", cuda.check_cuda_available
    yield "to_gpu", lambda: cuda.to_gpu(x)
    yield "to_gpu of a list", lambda: cuda.to_gpu([x, None])
    yield "copy", lambda: cuda.copy(x)
    yield "elementwise", lambda: cuda.elementwise("T x", "T y", "y = x", "name")
    yield "reduce", lambda: cuda.reduce("T x", "T y", "x", "a + b", "y = a", "0", "name")
    yield "get_device_from_id", lambda: cuda.get_device_from_id(0)
    yield "raw", lambda: cuda.raw("code", "name")
    yield "Device", lambda: cuda.Device(0).use()
    yield "Stream", lambda: cuda.Stream().synchronize()
    yield "Event", lambda: cuda.Event().record()
    yield "GpuDevice", lambda: chainer.backend.GpuDevice(0)
    yield "GpuDevice.from_device_id", lambda: chainer.backend.GpuDevice.from_device_id(-1)
    yield "cupy.array", lambda: cuda.cupy.array([1])
    yield "cudnn", lambda: cuda.cudnn.getVersion()
    yield "get_device of chainer", lambda: chainer.get_device(0)
    yield "Variable.to_gpu", lambda: chainer.Variable(x).to_gpu()
    yield "Variable.to_device", lambda: chainer.Variable(x).to_device("@cupy:0")
    yield "Link.to_gpu", link.to_gpu
    yield "Link.to_device", lambda: link.to_device("@cupy:0")
    yield "concat_examples", lambda: chainer.dataset.concat_examples([x], 0)
    yield (
        "ConcatWithAsyncTransfer",
        lambda: chainer.dataset.convert.ConcatWithAsyncTransfer()([x], 0),
    )
    yield "CUDAProfileHook", chainer.function_hooks.CUDAProfileHook
    yield "CupyMemoryProfileHook", chainer.function_hooks.CupyMemoryProfileHook

    def parallel():
        iterator = chainer.iterators.SerialIterator([x], 1)
        optimizer = chainer.optimizers.SGD().setup(L.Linear(2, 2))
        chainer.training.updaters.ParallelUpdater(
            iterator, optimizer, devices={"main": 0, "second": 1}
        )

    def multiprocess():
        iterators = [chainer.iterators.SerialIterator([x], 1) for _ in range(2)]
        optimizer = chainer.optimizers.SGD().setup(L.Linear(2, 2))
        chainer.training.updaters.MultiprocessParallelUpdater(iterators, optimizer, devices=[0, 1])

    def standard():
        iterator = chainer.iterators.SerialIterator([x], 1)
        optimizer = chainer.optimizers.SGD().setup(L.Linear(2, 2))
        chainer.training.updaters.StandardUpdater(iterator, optimizer, device=0)

    yield "StandardUpdater", standard
    yield "ParallelUpdater", parallel
    yield "MultiprocessParallelUpdater", multiprocess


NAMES = [name for name, _ in entry_points()]


@pytest.mark.parametrize("name", NAMES)
def test_entry_points(without_cupy, name):
    call = dict(entry_points())[name]
    with pytest.raises(RuntimeError, match="No module named 'cupy'; install it"):
        call()


def test_what_works_without(without_cupy):
    assert cuda.available is False
    assert cuda.cudnn_enabled is False
    assert not isinstance(np.ones(3), cuda.ndarray)
    assert not hasattr(cuda.cupy, "ndarray")
    with cuda.Device(0):
        assert isinstance(cuda.ndarray(), cuda.ndarray)
    assert cuda.to_cpu([np.ones(1), None])[1] is None
    cuda.clear_memo()
    calls = []
    function = cuda.memoize()(lambda x: calls.append(x) or x)
    assert [function(1), function(1)] == [1, 1]
    assert len(calls) == 2

    @cuda.fuse()
    def double(x):
        return x * 2

    assert double(np.ones(1))[0] == 2
    with cuda.get_device_from_id(None) as device:
        assert int(device) == -1
    assert not cuda.should_use_cudnn(">=auto")
    assert not cuda.should_use_cudnn_tensor_core(np.float16)


@pytest.mark.parametrize("seed", ["abc", "-1", "1.5", str(1 << 64)])
def test_bad_seeds(monkeypatch, seed):
    monkeypatch.setenv("CHAINER_SEED", seed)
    monkeypatch.delenv("CUPY_SEED", raising=False)
    with pytest.raises(ValueError, match="CHAINER_SEED must be an integer"):
        library._hand_over_seed()


def test_seeds(monkeypatch):
    monkeypatch.setenv("CHAINER_SEED", "17")
    monkeypatch.setenv("CUPY_SEED", "3")
    library._hand_over_seed()
    assert os.environ["CUPY_SEED"] == "3"
    monkeypatch.delenv("CUPY_SEED")
    library._hand_over_seed()
    assert os.environ["CUPY_SEED"] == "17"
    monkeypatch.setenv("CUPY_SEED", "17")  # for monkeypatch to take back


def test_seeds_of_the_module_random(monkeypatch):
    for name in ("CHAINER_SEED", "CUPY_SEED", "CHAINER_SEED_DRAWN_BY"):
        monkeypatch.setenv(name, "")  # to be taken back
        del os.environ[name]
    seeds = []
    for seed in (5, 5, 6):
        random.seed(seed)
        library._hand_over_seed()
        seeds.append(os.environ.pop("CUPY_SEED"))
    assert seeds[0] == seeds[1] != seeds[2]
    # What a process finds that the one above has started.
    monkeypatch.setenv("CUPY_SEED", seeds[2])
    library._hand_over_seed()
    assert os.environ["CUPY_SEED"] == seeds[2]
    monkeypatch.setattr(os, "getpid", lambda: -1)
    library._hand_over_seed()
    assert os.environ["CUPY_SEED"] != seeds[2]


@pytest.mark.parametrize(("version", "expected"), [(0, True), (90100, True), (90200, False)])
def test_versions_of_cudnn(monkeypatch, version, expected):
    module = SimpleNamespace(backend_version=lambda: 90100)
    monkeypatch.setattr(cudnn_library, "find", lambda: (module, None))
    monkeypatch.setattr(cuda, "cudnn_enabled", True, raising=False)
    monkeypatch.setattr(cuda, "_lazy", lambda name: True)
    assert cuda.should_use_cudnn(">=auto", version) is expected
    with chainer.using_config("use_cudnn", "never"):
        assert not cuda.should_use_cudnn(">=auto", version)
