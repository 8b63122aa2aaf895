import runpy
import tomllib
from pathlib import Path

import numpy as np
import pytest

import chainer
from chainer.core.arrays.backend import (
    Backend,
    backend_of,
    copyto,
    find_backend,
    get_array_module,
    get_backend,
    get_device,
    get_device_from_array,
    is_array,
    using_device,
)
from chainer.core.registry import registries
from chainer.core.registry.registry import Registry
from chainer.plugins.known_distributions import KNOWN
from tests.core.nodes import f32, var


class OtherArray:
    """An array type that is not known until a test registers it."""

    def __init__(self, host):
        self.host = host


class OtherBackend(Backend):
    name = "other"
    array_types = (f"{__name__}:OtherArray",)
    reason = None

    @property
    def xp(self):
        return np.linalg  # any module will do

    def unavailable_reason(self):
        return self.reason

    def from_host(self, array, device):
        return OtherArray(array)

    def to_host(self, array):
        return array.host


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"array_types": (OtherArray,)}, "with the attribute 'name', a str such as 'metered'"),
        ({"name": "b"}, "whose attribute 'array_types' is a tuple of classes"),
        ({"name": "b", "array_types": OtherArray}, "whose attribute 'array_types' is a tuple"),
        ({"name": "b", "array_types": ("Array",)}, "whose .*, or of names such as 'package.mod"),
    ],
)
def test_incomplete_backends_are_refused(attributes, expected):
    backend = type("Incomplete", (Backend,), attributes)()
    with pytest.raises(TypeError, match=f"backend 'b' must be a backend {expected}"):
        registries.backends.register("b", backend)


@pytest.fixture
def other():
    backend = OtherBackend()
    registries.backends.register("other", backend)
    yield backend
    registries.backends.unregister("other")


class TestRecognition:
    def test_numpy(self):
        assert backend_of(f32(1)) is get_backend("numpy")
        assert is_array(f32(1))

    @pytest.mark.parametrize("value", [1, 1.0, None, "a", [1], np.float32(1), object()])
    def test_others(self, value):
        assert find_backend(type(value)) is None
        assert not is_array(value)
        with pytest.raises(TypeError, match=r"expected\.\nActual: <class"):
            backend_of(value)

    def test_subclass_of_an_array_class(self):
        class Mine(np.ndarray):
            pass

        assert backend_of(np.zeros(2).view(Mine)) is get_backend("numpy")

    def test_lazy_name(self, other):
        assert backend_of(OtherArray(f32(1))) is other

    def test_subclass_of_a_lazy_name(self, other):
        class Derived(OtherArray):
            pass

        assert backend_of(Derived(f32(1))) is other

    @pytest.mark.parametrize("name", ["a_before_numpy", "z_after_numpy"])
    def test_nearest_base_decides(self, name):
        class Mine(np.ndarray):
            pass

        class Derived(Mine):
            pass

        backend = type("MineBackend", (OtherBackend,), {"name": name, "array_types": (Mine,)})()
        registries.backends.register(name, backend)
        try:
            assert backend_of(np.zeros(2).view(Mine)) is backend
            assert backend_of(np.zeros(2).view(Derived)) is backend
            assert backend_of(np.zeros(2)) is get_backend("numpy")
        finally:
            registries.backends.unregister(name)
        assert backend_of(np.zeros(2).view(Mine)) is get_backend("numpy")

    def test_registration_is_seen_at_once_and_forgotten(self):
        assert not is_array(OtherArray(f32(1)))
        registries.backends.register("other", OtherBackend())
        assert is_array(OtherArray(f32(1)))
        registries.backends.unregister("other")
        assert not is_array(OtherArray(f32(1)))

    def test_unknown_backend(self):
        with pytest.raises(LookupError, match="nonsense"):
            get_backend("nonsense")

    def test_family_defaults_to_the_name(self, other):
        assert other.family == "other"
        assert get_backend("numpy").family == "host"

    def test_incomplete_backend(self):
        class Incomplete(Backend):
            name = "incomplete"

        backend = Incomplete()
        for call in (
            lambda: backend.xp,
            lambda: backend.from_host(f32(1), None),
            lambda: backend.to_host(None),
        ):
            with pytest.raises(NotImplementedError, match="backend Incomplete must define"):
                call()


class TestGetArrayModule:
    def test_numpy(self):
        assert get_array_module() is np
        assert get_array_module(1, None, "a") is np
        assert get_array_module(f32(1), var(1)) is np

    def test_accelerator_wins(self):
        array = get_device("@strict").send(f32(1))
        xp = get_device("@strict").xp
        assert get_array_module(f32(1), array) is xp
        assert get_array_module(None, chainer.Variable(array), 1) is xp

    def test_uninitialized(self):
        assert get_array_module(chainer.Variable()) is np

    def test_public_name(self):
        assert chainer.backend.get_array_module is get_array_module


class TestGetDevice:
    @pytest.mark.parametrize(
        "spec", [None, "native", "@native", "cpu", "@numpy", "numpy", -1, "-1"]
    )
    def test_cpu(self, spec):
        device = get_device(spec)
        assert device.name == "@numpy"
        assert device.xp is np

    def test_index(self):
        assert get_device("@strict:1").index == 1
        assert get_device("strict:1").name == "@strict:1"
        assert get_device(("@strict", 1)).index == 1

    def test_device(self):
        device = get_device("@strict:1")
        assert get_device(device) is device

    @pytest.mark.parametrize("spec", ["@", "@:0", "@numpy:x", "@numpy:-1", "@numpy:"])
    def test_nonsense(self, spec):
        with pytest.raises(ValueError, match="device"):
            get_device(spec)

    @pytest.mark.parametrize("spec", ["@numpy:0", "@intel64:0"])
    def test_the_host_has_no_numbers(self, spec):
        with pytest.raises(ValueError, match="must have no number"):
            chainer.get_device(spec)

    def test_tuples_that_have_no_meaning(self):
        with pytest.raises(TypeError, match="specifier such as"):
            chainer.get_device(("numpy", 0))
        with pytest.raises(TypeError, match=r"got \(1, 2\)"):
            chainer.get_device((1, 2))

    @pytest.mark.parametrize("spec", ["", "native:0:1", "nonsense", "nonsense:0", "3.5", ":0"])
    def test_text_that_would_name_a_device_of_chainerx(self, spec):
        with pytest.raises(RuntimeError, match="ChainerX is not available"):
            get_device(spec)

    @pytest.mark.parametrize("spec", [1.5, [], object(), b"@numpy", np.float32, np.zeros(1)])
    def test_wrong_types(self, spec):
        with pytest.raises(TypeError, match="device must be"):
            get_device(spec)

    def test_bool_is_an_integer(self, monkeypatch):
        found = []
        name = "chainer.core.arrays.backend.available_device"
        monkeypatch.setattr(name, lambda *args: found.append(args))
        get_device(True)
        get_device(" 3 ")
        assert found == [("cupy", 1), ("cupy", 3)]

    def test_unknown_backend(self):
        with pytest.raises(ValueError, match="unknown backend in device specifier '@nonsense'"):
            get_device("@nonsense:0")

    def test_backend_of_a_distribution_that_is_not_installed(self, monkeypatch):
        monkeypatch.setitem(KNOWN, "backends", {"elsewhere": "no-such-distribution"})
        with pytest.raises(ValueError, match="'@elsewhere': .*pip install no-such-distribution"):
            get_device("@elsewhere:0")
        with pytest.raises(LookupError, match="part of the distribution no-such-distribution,"):
            get_backend("elsewhere")

    def test_installed_distributions_are_not_to_be_installed(self, monkeypatch):
        monkeypatch.setitem(KNOWN, "backends", {"elsewhere": "numpy"})
        with pytest.raises(LookupError, match="no backend named 'elsewhere'(?!.*pip install)"):
            get_backend("elsewhere")

    def test_suppliers_are_the_packs_of_this_repository(self):
        expected = {}
        for project in (Path(__file__).parents[2] / "packs").glob("*/pyproject.toml"):
            distribution = tomllib.loads(project.read_text("utf-8"))["project"]["name"]
            for pack in project.parent.glob("src/*/pack.py"):
                names = runpy.run_path(str(pack))
                registry = Registry("backends")
                names.get("chainer_backends", lambda registry: None)(registry)
                expected |= dict.fromkeys(registry.names(), distribution)
        assert expected == KNOWN["backends"]

    @pytest.mark.parametrize("spec", ["@numpy:1", "@strict:2"])
    def test_missing_device(self, spec):
        with pytest.raises(ValueError, match=spec[-1]):
            get_device(spec)

    def test_unavailable(self, other):
        other.reason = "there is none of it; pip install other"
        with pytest.raises(
            RuntimeError, match="device '@other' is not available: .*pip install other"
        ):
            get_device("@other")

    def test_using_device(self):
        from chainer_strict_backend import current

        with using_device("@strict:1"):
            assert current.get() == 1
        assert current.get() == 0

    def test_device_becomes_current_in_the_block(self):
        from chainer_strict_backend import current

        context = using_device("@strict:1")
        assert current.get() == 0
        with context:
            assert current.get() == 1
        assert current.get() == 0

    def test_of_arrays(self):
        array = get_device("@strict:1").send(f32(1))
        assert get_device_from_array().name == "@numpy"
        assert get_device_from_array(1, f32(1)).name == "@numpy"
        assert get_device_from_array(f32(1), array).name == "@strict:1"
        assert get_device_from_array(chainer.Variable(array)).name == "@strict:1"


class TestCopyto:
    @pytest.mark.parametrize("target", ["@numpy", "@strict:0"])
    @pytest.mark.parametrize("source", ["@numpy", "@strict:0", "@strict:1"])
    def test_between_devices(self, source, target):
        array = get_device(target).send(f32(0, 0))
        copyto(array, get_device(source).send(f32(1, 2)))
        assert get_device("@numpy").send(array).tolist() == [1, 2]
        assert get_device_from_array(array).name == target

    def test_broadcasts(self):
        array = np.zeros((2, 2), np.float32)
        copyto(array, f32(1, 2))
        assert array.tolist() == [[1, 2], [1, 2]]

    @pytest.mark.parametrize("source", [2, 2.0, np.float64(2), [2, 2], (np.int8(2), 2.0)])
    def test_numbers(self, source):
        array = np.zeros(2, np.float32)
        copyto(array, source)
        assert array.tolist() == [2, 2]

    @pytest.mark.parametrize(("dst", "src"), [([0], f32(1)), (f32(1), None), (f32(1), object())])
    def test_refuses_others(self, dst, src):
        with pytest.raises(TypeError, match="expected"):
            copyto(dst, src)

    def test_refuses_numbers_for_an_accelerator(self):
        with pytest.raises(TypeError, match="expected"):
            copyto(get_device("@strict:0").send(f32(1)), 2.0)

    def test_casts_of_the_same_kind_only(self):
        with pytest.raises(TypeError, match="same_kind"):
            copyto(np.zeros(1, np.int32), 2.5)
        with pytest.raises(ValueError, match="broadcast"):
            copyto(f32(1, 2), f32(1, 2, 3))


class TestRepeatedAxes:
    @pytest.mark.parametrize("device", ["@numpy", "@strict:1"])
    @pytest.mark.parametrize(
        ("shape", "to", "expected"),
        [
            ((), (2, 3), (0, 1)),
            ((3,), (2, 3), (0,)),
            ((2, 1), (2, 3), (1,)),
            ((1, 3), (1, 3), ()),
            ((), (1, 1), ()),
            ((), (), ()),
            ((1,), (0,), ()),
        ],
    )
    def test_of_broadcast_views(self, device, shape, to, expected):
        device = get_device(device)
        with device:
            array = device.xp.broadcast_to(device.xp.ones(shape), to)
        assert device.backend.broadcast_axes(array) == expected

    def test_writable_views(self):
        array = np.ones((4, 6))
        assert get_device("@numpy").backend.broadcast_axes(array[::2, ::-1]) == ()
