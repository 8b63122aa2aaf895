"""The device classes of release 7: what ``isinstance`` and programs ask of them."""

from __future__ import annotations

import copy
import pickle
import pickletools

import numpy as np
import pytest

import chainer
import chainer.links as L
import chainerx
from chainer.backend import (
    ChainerxDevice,
    CpuDevice,
    Device,
    GpuDevice,
    Intel64Device,
    from_chx,
    get_device,
    get_device_from_array,
    to_chx,
    using_device,
)
from chainer.backends import _chainerx, _cpu, cuda, intel64
from chainer.backends.cupy import library as cupy_library
from chainer.backends.ideep import library as ideep_library
from chainer.core.registry import registries
from tests.core.nodes import f32, var


@pytest.fixture
def ideep4py():
    """The module, where it can be used."""
    module, reason = ideep_library.find()
    if module is None:
        pytest.skip(str(reason))
    return module


@pytest.fixture
def no_ideep(monkeypatch):
    monkeypatch.setattr(ideep_library, "find", lambda: (None, "it is not installed"))


@pytest.fixture
def no_cupy(monkeypatch):
    monkeypatch.setattr(cupy_library, "find", lambda: (None, "it is not installed"))


@pytest.fixture
def fake_cupy(monkeypatch):
    """A machine with a CUDA device, on which CuPy is a stand-in."""
    from tests.backends.cupy.fake_cupy import FakeCupy

    module = FakeCupy("cupy")
    monkeypatch.setattr(cupy_library, "find", lambda: (module, None))
    backend = registries.backends.get("cupy")
    for name in ("xp", "multi_device"):
        monkeypatch.delitem(vars(backend), name, raising=False)
    monkeypatch.setattr(backend, "_devices", {})
    yield module
    for name in ("xp", "multi_device"):
        vars(backend).pop(name, None)


class TestCpuDevice:
    def test_text(self):
        device = CpuDevice()
        assert (device.name, str(device), repr(device)) == (
            "@numpy",
            "@numpy",
            "<CpuDevice (numpy)>",
        )
        assert device.xp is np
        assert device.supported_array_types == (np.ndarray,)

    @pytest.mark.parametrize(
        "device",
        [
            get_device("@numpy"),
            get_device(-1),
            var(1).device,
            L.Linear(1, 1).device,
            L.Linear(1, 1).W.device,
            get_device_from_array(f32(1)),
            get_device_from_array(),
            chainer.Variable().device,
        ],
    )
    def test_is_what_calls_return(self, device):
        assert isinstance(device, CpuDevice)
        assert device == CpuDevice()
        assert {device: 1}[CpuDevice()] == 1

    def test_other_objects_are_not_equal(self):
        assert CpuDevice() != "@numpy"
        assert CpuDevice() != Device()
        assert CpuDevice() != get_device("@strict:0")

    @pytest.mark.parametrize("scalar", [3, 2.5, True, 1j, "text", np.float32(3), np.bool_(True)])
    def test_scalars_become_arrays(self, scalar):
        array = CpuDevice().send(scalar)
        assert type(array) is np.ndarray
        assert array.shape == ()
        assert array == scalar
        assert array.dtype == np.asarray(scalar).dtype

    @pytest.mark.parametrize("other", [object(), var(1), [[object()]], {"a": object()}])
    def test_other_objects_are_refused(self, other):
        with pytest.raises(TypeError, match="expected"):
            CpuDevice().send(other)

    def test_is_array_supported(self):
        assert CpuDevice().is_array_supported(f32(1))
        assert not CpuDevice().is_array_supported(get_device("@strict:0").send(f32(1)))
        for other in (1.0, None, np.float32(1), var(1)):
            assert not CpuDevice().is_array_supported(other)

    def test_from_array(self):
        assert CpuDevice.from_array(f32(1)) == CpuDevice()
        for other in (None, 1, np.float32(1), get_device("@strict:0").send(f32(1))):
            assert CpuDevice.from_array(other) is None

    def test_copies_and_pickles(self):
        assert copy.deepcopy(CpuDevice()) == CpuDevice()
        assert pickle.loads(pickle.dumps(CpuDevice())) == CpuDevice()

    def test_pickle_of_release_7(self):
        text = b"\x80\x02cchainer.backends._cpu\nCpuDevice\nq\x00)\x81q\x01."
        assert pickletools.genops(text)
        device = pickle.loads(text)
        assert isinstance(device, CpuDevice)
        assert device == CpuDevice()
        assert device.send(f32(1)).tolist() == [1]

    def test_contexts(self):
        with CpuDevice().create_context(), using_device("@numpy"), CpuDevice():
            pass
        CpuDevice().use()

    def test_functions_of_the_module(self):
        array = f32(1)
        assert _cpu._to_cpu([array, None, 3.0])[:2] == [array, None]
        assert _cpu._array_to_cpu(array) is array
        assert _cpu._array_to_cpu(None) is None


class TestBaseClass:
    def test_what_subclasses_define(self):
        device = Device()
        for call in (
            lambda: device.xp,
            lambda: device.name,
            lambda: device.supported_array_types,
            lambda: device == device,
            lambda: device.is_array_supported(f32(1)),
            lambda: hash(device),
            lambda: str(device),
            lambda: device.send(f32(1)),
        ):
            with pytest.raises(NotImplementedError, match="Device must define"):
                call()

    def test_contexts_do_nothing(self):
        device = Device()
        device.use()
        with device.create_context():
            pass
        with pytest.raises(RuntimeError, match="using_device"), device:
            pass

    def test_subclass_of_a_program(self):
        class Mine(Device):
            xp = np
            name = "@mine"
            sent = 0

            def __init__(self):
                super().__init__()

            def send_array(self, array):
                self.sent += 1
                return array + 1

            def __eq__(self, other):
                return isinstance(other, Mine)

            def __hash__(self):
                return 1

        device, array = Mine(), f32(1)
        assert get_device(device) is device
        first, nothing, second = device.send((array, None, array))
        assert (first.tolist(), nothing, device.sent) == ([2], None, 1)
        assert first is second
        with using_device(device):
            pass
        assert pickle.loads(pickle.dumps(get_device("@numpy"))) != device


class TestOtherBackends:
    """The class Device itself serves the backends that plugins supply."""

    def test_is_array_supported(self):
        first, second = get_device("@strict:0"), get_device("@strict:1")
        array = first.send(f32(1))
        assert first.is_array_supported(array)
        assert not second.is_array_supported(array)
        assert not first.is_array_supported(f32(1))

    def test_numpy_scalars_are_sent(self):
        assert get_device("@strict:0").send(np.float32(3)).shape == ()
        with pytest.raises(TypeError, match="expected"):
            get_device("@strict:0").send(3.0)

    def test_identities_are_kept(self):
        array = f32(1)
        sent = get_device("@strict:0").send([array, (array,), {"a": array}])
        assert sent[0] is sent[1][0] is sent[2]["a"]

    def test_supported_array_types(self):
        device = get_device("@strict:0")
        (cls,) = device.supported_array_types
        assert isinstance(device.send(f32(1)), cls)

    def test_context(self):
        from chainer_strict_backend import current

        context = get_device("@strict:1").create_context()
        assert current.get() == 0
        with context:
            assert current.get() == 1
        assert current.get() == 0


class TestIntel64Device:
    def test_text(self, ideep4py):
        device = Intel64Device()
        assert (device.name, str(device), repr(device)) == (
            "@intel64",
            "@intel64",
            "<Intel64Device>",
        )
        assert device.xp is np
        assert device.supported_array_types == (np.ndarray, ideep4py.mdarray)
        assert intel64.Intel64Device is Intel64Device

    @pytest.mark.parametrize("spec", ["@intel64", "@ideep", "intel64"])
    def test_specifiers(self, ideep4py, spec):
        device = get_device(spec)
        assert isinstance(device, Intel64Device)
        assert device == Intel64Device()
        assert hash(device) == hash(Intel64Device())
        assert device != CpuDevice()
        assert get_device(device.name) == device
        assert pickle.loads(pickle.dumps(device)) == device
        assert copy.deepcopy(device) == device

    def test_arrays(self, ideep4py):
        device = Intel64Device()
        array = device.send(f32(1, 2))
        assert isinstance(array, ideep4py.mdarray)
        assert device.send(array) is array
        assert device.is_array_supported(array)
        assert device.is_array_supported(f32(1))
        assert not CpuDevice().is_array_supported(array)
        assert Intel64Device.from_array(array) == device
        assert CpuDevice.from_array(array) is None
        assert Intel64Device.from_array(f32(1)) is None
        assert Intel64Device.from_array(None) is None
        assert get_device_from_array(f32(1), array) == device
        assert type(CpuDevice().send(array)) is np.ndarray
        assert type(device.send(3.0)) is np.ndarray
        empty = np.zeros((2, 0), np.float32)
        assert device.send(empty) is empty

    def test_pickle_of_release_7(self, ideep4py):
        text = b"\x80\x02cchainer.backends.intel64\nIntel64Device\nq\x00)\x81q\x01."
        assert pickle.loads(text) == Intel64Device()

    def test_is_what_links_have(self, ideep4py):
        link = L.Linear(2, 3).to_device("@intel64")
        assert isinstance(link.device, Intel64Device)
        assert isinstance(link.W.device, Intel64Device)

    def test_without_ideep(self, no_ideep):
        with pytest.raises(RuntimeError, match="it is not installed"):
            Intel64Device()
        assert Intel64Device.from_array(f32(1)) is None


class TestGpuDevice:
    def test_without_cuda(self, no_cupy):
        for call in (
            lambda: GpuDevice(0),
            lambda: GpuDevice.from_device_id(-1),
            lambda: GpuDevice.from_device_id(0),
        ):
            with pytest.raises(RuntimeError, match="it is not installed"):
                call()
        for other in (None, 1, f32(1)):
            assert GpuDevice.from_array(other) is None
        assert cuda.GpuDevice is GpuDevice

    def test_devices_of_cupy(self, fake_cupy):
        device = get_device("@cupy:0")
        assert isinstance(device, GpuDevice)
        assert repr(device) == "<GpuDevice (cupy):0>"
        assert str(device) == device.name == "@cupy:0"
        assert device.device.id == 0
        assert device.xp is fake_cupy
        assert device.supported_array_types == (fake_cupy.ndarray,)
        assert GpuDevice(fake_cupy.cuda.Device(0)) == device
        assert GpuDevice.from_device_id(np.int32(0)) == device
        assert isinstance(device.create_context(), fake_cupy.cuda.Device)

    @pytest.mark.parametrize("bad", [-1, 0.0, None, "0"])
    def test_bad_ids(self, fake_cupy, bad):
        with pytest.raises(ValueError, match="device_id must be a non-negative integer"):
            GpuDevice.from_device_id(bad)
        with pytest.raises(TypeError, match=r"cupy\.cuda\.Device"):
            GpuDevice(bad)

    def test_arrays(self, fake_cupy):
        device = get_device(0)
        array = device.send(f32(1, 2))
        assert device.send(array) is array
        assert device.is_array_supported(array)
        assert not device.is_array_supported(f32(1))
        assert GpuDevice.from_array(array) == device
        assert GpuDevice.from_array(f32(1)) is None
        assert get_device_from_array(f32(1), array) == device
        assert device.send(np.float32(2)).shape == ()
        assert device.send(np.bool_(True)).shape == ()
        with pytest.raises(TypeError, match="expected"):
            device.send(2.0)
        assert type(CpuDevice().send(array)) is np.ndarray


class TestChainerx:
    def test_class(self):
        with pytest.raises(RuntimeError, match="ChainerX is not available"):
            ChainerxDevice(1)
        with pytest.raises(RuntimeError, match="ChainerX is not available"):
            ChainerxDevice.from_fallback_device(CpuDevice())
        assert ChainerxDevice.from_array(f32(1)) is None
        assert isinstance(ChainerxDevice.fallback_device, property)
        assert not isinstance(get_device("@numpy"), ChainerxDevice)
        assert _chainerx.ChainerxDevice is ChainerxDevice

    def test_to_chx(self):
        assert to_chx(None) is None
        assert to_chx((None,)) == (None,)
        for arrays in (f32(1), [f32(1), None], 1.0):
            with pytest.raises(RuntimeError, match="ChainerX is not available"):
                to_chx(arrays)

    def test_from_chx(self):
        array, other = f32(1), get_device("@strict:0").send(f32(1))
        assert from_chx(array) is array
        assert from_chx(other) is other
        assert from_chx(None) is None
        arrays = from_chx([array, None, array])
        assert arrays == [array, None, array]
        assert from_chx((array,)) == (array,)
        for bad in (1.0, [1], "a"):
            with pytest.raises(TypeError, match="expected"):
                from_chx(bad)

    def test_module(self):
        assert not chainerx.is_available()
        assert not isinstance(f32(1), chainerx.ndarray)
        with pytest.raises(RuntimeError, match="not available"):
            chainerx.ndarray()
