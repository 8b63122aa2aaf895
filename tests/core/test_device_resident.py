"""Objects that own arrays: visitors, moves, methods of older releases that subclasses override."""

from __future__ import annotations

import abc
import warnings

import numpy as np
import pytest

import chainer
import chainer.links as L
from chainer.device_resident import DeviceResident, DeviceResidentsVisitor


@pytest.fixture
def strict():
    pytest.importorskip("chainer_strict_backend")
    return chainer.get_device("@strict:0")


class Table(DeviceResident):
    def __init__(self):
        self.before = "may be set before the constructor of the base class"
        super().__init__()
        self.values = np.zeros(3, np.float32)
        self.variable = chainer.Variable(np.ones(2, np.float32))
        self.inner = L.Linear(2, 2)

    def device_resident_accept(self, visitor):
        super().device_resident_accept(visitor)
        self.values = visitor.visit_array(self.values)
        visitor.visit_variable(self.variable)
        self.inner.device_resident_accept(visitor)


class Recorder(DeviceResidentsVisitor):
    def __init__(self):
        self.seen = []

    def visit_device_resident(self, device_resident):
        self.seen.append(type(device_resident).__name__)

    def visit_array(self, arr):
        self.seen.append(arr.shape)
        return arr

    def visit_variable(self, param):
        self.seen.append(param.name)


def test_at_first():
    table = Table()
    assert table.device == chainer.get_device("@numpy")
    assert table.xp is np
    assert chainer.DeviceResident is DeviceResident
    assert issubclass(chainer.Link, DeviceResident)


def test_everything_moves(strict):
    table = Table()
    assert table.to_device(strict) is table
    arrays = (table.values, table.variable.array, table.inner.W.array)
    assert all(chainer.backend.get_device_from_array(array) == strict for array in arrays)
    assert table.device == table.inner.device == strict
    assert table.xp is strict.xp


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("visit_device_resident", 1), ("visit_array", 1), ("visit_variable", 1)],
)
def test_visitors_define_all_methods(name, arguments):
    with pytest.raises(NotImplementedError, match=name):
        getattr(DeviceResidentsVisitor(), name)(*[None] * arguments)


def test_order_of_a_visit():
    class Model(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.list = chainer.ChainList(L.Linear(2, 2, nobias=True), chainer.Link())
                self.bn = L.BatchNormalization(4)
                self.w = chainer.Parameter(0, 1)
            self.add_persistent("state", np.zeros(7))
            self.add_persistent("number", 3)
            self.add_persistent("scalar", np.float32(3))

    model = Model()
    visitor = Recorder()
    model.device_resident_accept(visitor)
    assert visitor.seen == [
        *("Model", "w", (7,)),
        *("BatchNormalization", "beta", "gamma", (4,), (4,)),
        *("ChainList", "Linear", "W", "Link"),
    ]


def test_links_without_parameters_and_uninitialized_ones(strict):
    model = chainer.Chain(a=chainer.Link(), b=L.Linear(3))
    model.to_device(strict)
    assert model.a.device == strict
    model.b(strict.send(np.zeros((1, 2), np.float32)))
    assert chainer.backend.get_device_from_array(model.b.W.array) == strict


class TestDeprecatedMethods:
    def test_to_cpu(self):
        link = L.Linear(2, 2)
        with pytest.warns(DeprecationWarning, match=r"Please use to_device\('@numpy'\)") as record:
            assert link.to_cpu() is link
        assert [warning.filename for warning in record] == [__file__]

    def test_without_gpu_and_ideep_nothing_but_the_error(self):
        link = L.Linear(2, 2)
        if not chainer.backends.cuda.available:
            for device in (None, 0, -1):
                with pytest.raises(RuntimeError, match=r"(?i)cupy|cuda"):
                    link.to_gpu(device)
        if not chainer.backends.intel64.is_ideep_available():
            with pytest.raises(RuntimeError, match=r"(?i)ideep"):
                link.to_intel64()

    def test_a_link_on_an_accelerator_stays_there(self, strict):
        other = chainer.get_device("@strict:1")
        model = chainer.ChainList(L.Linear(2, 2).to_device(other), L.Linear(2, 2))
        with (
            pytest.warns(RuntimeWarning, match="is on @strict:1 and stays there"),
            pytest.warns(DeprecationWarning, match="to_gpu is deprecated"),
        ):
            model.to_gpu(strict)
        first, second = (
            chainer.backend.get_device_from_array(link.W.array) for link in model.children()
        )
        assert (first, second) == (other, strict)
        assert model[0].device == model[1].device == strict

    def test_chainerx(self):
        link = L.Linear(2, 2)
        assert link.from_chx() is link
        with pytest.raises(RuntimeError, match="ChainerX is not available"):
            link.to_chx()


class TestOverriding:
    def test_final_methods(self):
        for name in ("to_device", "to_chx", "from_chx"):
            with pytest.raises(TypeError, match=f"method '{name}' is final"):
                type("Own", (chainer.Link,), {name: lambda self: self})

    @pytest.mark.parametrize("name", ["to_cpu", "to_gpu", "to_intel64"])
    def test_methods_of_release_4(self, name):
        with pytest.warns(DeprecationWarning, match=f"Overriding method '{name}'"):
            type("Own", (chainer.Link,), {name: lambda self: self})

    def test_abstract_classes(self):
        class Abstract(chainer.Link, abc.ABC):
            @abc.abstractmethod
            def forward(self):
                raise NotImplementedError

        with pytest.raises(TypeError, match="abstract"):
            Abstract()

    @pytest.fixture
    def model(self):
        calls = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)

            class Own(chainer.Chain):
                def __init__(self, **links):
                    super().__init__(**links)
                    self.array = np.zeros(1)
                    with self.init_scope():
                        self.w = chainer.Parameter(0, 1)

                def to_cpu(self):
                    calls.append(self.name)
                    self.array = chainer.backends.cuda.to_cpu(self.array)
                    return super().to_cpu()

                def to_gpu(self, device=None):
                    calls.append((self.name, device))
                    return super().to_gpu(device)

        model = chainer.Chain(outer=Own(inner=Own()))
        model.calls = calls
        return model

    @pytest.mark.filterwarnings("ignore:to_cpu is deprecated:DeprecationWarning")
    def test_each_override_is_called_once(self, model):
        for move in (
            lambda: model.to_cpu(),
            lambda: model.to_device("@numpy"),
            lambda: model.outer.to_cpu(),
            lambda: model.outer.to_device("@numpy"),
        ):
            model.calls.clear()
            move()
            assert model.calls == ["outer", "inner"]

    @pytest.mark.filterwarnings("ignore:to_cpu is deprecated:DeprecationWarning")
    def test_it_is_reached_from_elsewhere(self, model, strict):
        model.to_device(strict)  # no override is meant for this backend
        assert model.calls == []
        model.outer.array = strict.send(model.outer.array)
        model.to_device("@numpy")
        assert model.calls == ["outer", "inner"]
        assert isinstance(model.outer.array, np.ndarray)
        assert isinstance(model.outer.inner.w.array, np.ndarray)

    def test_an_override_that_forgets_its_own_parameters(self, strict):
        with pytest.warns(DeprecationWarning, match="Overriding"):

            class Forgetful(chainer.Link):
                def to_cpu(self):
                    return self

        link = Forgetful(w=2).to_device(strict)
        chainer.Chain(a=link).to_device("@numpy")
        assert isinstance(link.w.array, np.ndarray)


def test_walker_alias(strict):
    sampler = chainer.utils.WalkerAlias([1, 2, 3])
    assert isinstance(sampler, DeviceResident)
    assert not sampler.use_gpu
    assert sampler.to_device(strict) is sampler
    assert sampler.use_gpu
    sample = sampler.sample((4, 5))
    assert sample.shape == (4, 5) and sample.dtype == np.int32
    assert chainer.backend.get_device_from_array(sample) == strict
    assert sampler.sample_xp(strict.xp, 3).shape == (3,)
    with pytest.warns(DeprecationWarning, match="to_cpu is deprecated"):
        assert sampler.to_cpu() is sampler
    assert isinstance(sampler.values, np.ndarray)
