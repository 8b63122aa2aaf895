"""Which calls cuDNN is asked to serve, and what is said where it cannot."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest

from chainer.backends.cupy.cudnn import kernels as declared
from chainer.backends.cupy.cudnn import library
from chainer.backends.cupy.cudnn.kernels import _checks as checks
from chainer.backends.operations.convolutions import ConvolutionGeometry
from chainer.core.arrays.kernel import ArraySpec, CallSpec
from chainer.core.lazy import resolve
from chainer.core.registry import registries
from tests.backends.cupy.cudnn_samples import SAMPLES
from tests.backends.cupy.fake_cudnn import FakeCudnn


def array(shape, dtype="float32", contiguous=True):
    return ArraySpec(tuple(shape), np.dtype(dtype), contiguous)


def convolution(x, W, b=None, *, out_size, transposed=False, dtypes=None, **windows):
    dtypes = dtypes or ["float32"] * 3
    arrays = [None if s is None else array(s, t) for s, t in zip((x, W, b), dtypes, strict=True)]
    windows = {"stride": (1, 1), "pad": (0, 0), "dilate": (1, 1), **windows}
    attributes = {"out_size": out_size, "transposed": transposed}
    attributes["geometry"] = ConvolutionGeometry(**windows)
    return checks.convolution(CallSpec(tuple(arrays), attributes))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_convolutions(sample, dtype):
    windows = {
        "stride": sample.stride,
        "pad": sample.pad,
        "dilate": sample.dilate,
        "groups": sample.groups,
        "dtypes": [dtype] * 3,
    }
    forward = convolution(sample.x, sample.W, sample.W[:1], out_size=sample.y[2:], **windows)
    assert forward is True
    backward = convolution(
        sample.y, sample.W, sample.x[1:2], out_size=sample.x[2:], transposed=True, **windows
    )
    assert backward is True


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"x": (2, 3, 6), "W": (4, 3)}, "W has 2 dimensions and x has 3"),
        ({"x": (2, 3, 1, 1, 1, 6), "W": (4, 3, 1, 1, 1, 1)}, "4 spatial dimensions"),
        ({"x": (0, 3, 6, 6)}, "array 0 of shape (0, 3, 6, 6) is empty"),
        ({"x": (2, 4, 6, 6)}, "x has 4 channels where W of shape (4, 3, 3, 3) needs 3"),
        ({"groups": 3}, "the number of groups, 3, does not divide 4"),
        ({"dtypes": ["int32"] * 3}, "array 0 is of dtype int32"),
        ({"dtypes": ["float16", "float32", "float16"]}, "array 1 is of dtype float32, others of"),
        ({"out_size": (4, 3)}, "output size (4, 3) is not that of windows over size (6, 6)"),
        ({"out_size": (4, 0)}, "output size (4, 0) is not"),
        ({"x": (1 << 16, 3, 1 << 8, 1 << 8)}, "cuDNN takes at most 2147483647"),
    ],
)
def test_refused(arguments, reason):
    call = {"x": (2, 3, 6, 6), "W": (4, 3, 3, 3), "out_size": (4, 4), **arguments}
    if "out_size" not in arguments and call["x"][-1] == 256:
        call["out_size"] = (254, 254)
    answer = convolution(**call)
    assert isinstance(answer, str)
    assert reason in answer


def normalization(shape, dtype="float32", gamma="float32", contiguous=False, axis=None):
    parameter = array(shape[1:2], gamma)
    axis = (0, *range(2, len(shape))) if axis is None else axis
    return checks.normalization(
        CallSpec((array(shape, dtype, contiguous), parameter, parameter), {"axis": axis, "eps": 1})
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {"shape": (2, 4, 3, 3)},
        {"shape": (2, 8, 3, 3), "dtype": "float16"},
        {"shape": (2, 8, 3, 3, 3), "dtype": "float16", "gamma": "float16"},
    ],
)
def test_normalizations(arguments):
    assert normalization(**arguments) is True


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"contiguous": True}, "channels are not last"),
        ({"dtype": "float64"}, "cuDNN normalizes float16, bfloat16 and float32"),
        ({"gamma": "float64"}, "parameters are of dtype float64"),
        ({"shape": (2, 8)}, "2 dimensions; cuDNN takes 4 or 5"),
        ({"shape": (2, 8, 0, 3)}, "is empty"),
        ({"axis": (0, 1, 2)}, "all axes but the second"),
        ({"shape": (2, 6, 3, 3)}, "6 channels of float32 are not a multiple of 16 bytes"),
        ({"dtype": "float16", "shape": (2, 4, 3, 3)}, "4 channels of float16"),
    ],
)
def test_refused_normalizations(arguments, reason):
    answer = normalization(**{"shape": (2, 8, 3, 3), **arguments})
    assert isinstance(answer, str)
    assert reason in answer


def test_declarations_can_be_loaded():
    kernels = list(declared.declarations())
    for kernel in kernels:
        assert kernel.provider == "cudnn"
        assert registries.kernels.get(kernel.key) == kernel
        operation = registries.operations.get(kernel.operation)
        implementation = resolve(kernel.load)
        assert all(hasattr(implementation, method) for method in operation.methods)
        assert callable(resolve(kernel.supports))
        assert resolve(kernel.unavailable) is library.missing


@pytest.fixture
def module(monkeypatch):
    """Puts an object in the place of the module ``cudnn``."""

    def put(value):
        spec = ModuleType("cudnn")
        spec.__spec__ = sys.__spec__
        for name in dir(value):
            if not name.startswith("__"):
                setattr(spec, name, getattr(value, name))
        monkeypatch.setitem(sys.modules, "cudnn", spec)
        library.find.cache_clear()
        return spec

    monkeypatch.delenv("CHAINER_CUDNN", raising=False)
    library.find.cache_clear()
    yield put
    library.find.cache_clear()


class Compiled(FakeCudnn):
    def __init__(self):
        super().__init__()
        self._compiled_module.backend_graph = self.pygraph


def test_found(module):
    cudnn = module(Compiled())
    assert library.find() == (cudnn, None)
    assert library.require() is cudnn
    assert library.missing() is None


def test_disabled(module, monkeypatch):
    module(Compiled())
    monkeypatch.setenv("CHAINER_CUDNN", "0")
    assert library.missing() == "the environment variable CHAINER_CUDNN is 0"


def test_not_installed(module, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "No module named 'cudnn'; install it with" in library.missing()
    with pytest.raises(RuntimeError, match=r"cuDNN is not available.\nReason: No module named"):
        library.require()


def test_another_module_of_this_name(module):
    fake = Compiled()
    module(fake)
    del sys.modules["cudnn"].pygraph
    assert "the module cudnn has no pygraph; upgrade it" in library.missing()


def test_without_the_library(module, monkeypatch):
    def fails():
        raise OSError("libcudnn.so.9: cannot open shared object file")

    module(Compiled()).backend_version = fails
    assert library.missing() == (
        "cudnn is installed but does not work: "
        "OSError: libcudnn.so.9: cannot open shared object file"
    )


def test_old_library(module):
    module(Compiled()).backend_version = lambda: 8907
    assert library.missing() == "cuDNN 8907 is too old; version 90000 or later is needed"
