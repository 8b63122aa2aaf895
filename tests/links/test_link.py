"""The base class of links."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import initializers
from chainer.backends import cuda


class Layer(chainer.Link):
    """A link with two parameters, one of them without shape, and a persistent value."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.v = chainer.Parameter(initializers.Normal(1.0), (2, 3))
            self.u = chainer.Parameter(initializers.Normal(1.0))
        self.add_persistent("p", np.arange(3.0))
        self.other = np.zeros(2)

    def forward(self, x, factor=1):
        return F.sum(self.v) * x * factor


def test_documented_example():
    class LinearLayer(chainer.Link):
        def __init__(self, n_in, n_out):
            super().__init__()
            with self.init_scope():
                self.W = chainer.Parameter(initializers.Normal(), (n_out, n_in))
                self.b = chainer.Parameter(initializers.Zero(), (n_out,))

        def __call__(self, x):
            return F.linear(x, self.W, self.b)

    link = LinearLayer(3, 2)
    x = np.ones((4, 3), np.float32)
    np.testing.assert_allclose(link(x).array, x @ link.W.array.T, rtol=1e-5)
    assert [name for name, _ in link.namedparams()] == ["/W", "/b"]


def test_call_is_forward():
    link = Layer()
    expected = float(link.v.array.sum()) * 6
    assert float(link(2.0, factor=3).array) == pytest.approx(expected, rel=1e-5)
    with pytest.raises(TypeError, match="neither 'Link.__call__' method overridden nor 'forward'"):
        chainer.Link()(1)


class TestRegistration:
    def test_in_init_scope(self):
        link = chainer.Link()
        assert not link.within_init_scope
        with link.init_scope():
            assert link.within_init_scope
            link.a = chainer.Parameter(0, 2)
            link.b = 3
            link.c = chainer.Variable(np.zeros(2))
        assert not link.within_init_scope
        link.d = chainer.Parameter(0, 2)
        assert [name for name, _ in link.namedparams()] == ["/a"]
        assert link.a.name == "a"
        assert link.d.name is None

    def test_scopes_nest(self):
        link = chainer.Link()
        with link.init_scope():
            with link.init_scope():
                pass
            assert link.within_init_scope
        with pytest.raises(KeyError), link.init_scope():
            raise KeyError
        assert not link.within_init_scope

    def test_without_super_init(self):
        class Forgetful(chainer.Link):
            def __init__(self):
                with self.init_scope():
                    self.W = chainer.Parameter(0, 2)

        with pytest.raises(RuntimeError, match=r"Link.__init__\(\) has not been called"):
            Forgetful()

    def test_replacement(self):
        link = Layer()
        with link.init_scope():
            link.v = chainer.Parameter(5, 1)
        assert [(name, param.shape) for name, param in link.namedparams(False)] == [("/v", (1,))]
        assert [name for name, _ in link.namedparams()] == ["/u", "/v"]

    def test_deletion(self):
        link = Layer()
        del link.v, link.p
        assert [name for name, _ in link.namedparams()] == ["/u"]
        assert not hasattr(link, "v")
        assert target_of(link).keys() == {"u"}
        with pytest.raises(AttributeError):
            del link.v

    def test_params_of_the_constructor(self):
        link = chainer.Link(a=(2, 3), b=((2,), np.float64), c=4, d=(2, 2))
        kinds = [(name, p.shape, p.dtype) for name, p in link.namedparams()]
        f4, f8 = np.float32, np.float64
        assert kinds == [
            ("/a", (2, 3), f4),
            ("/b", (2,), f8),
            ("/c", (4,), f4),
            ("/d", (2, 2), f4),
        ]
        assert all(np.isnan(param.array).all() for param in link.params())

    def test_add_param(self):
        link = chainer.Link()
        link.add_param("a", (2, 3), dtype=np.float16)
        link.add_param("b", 2, initializer=initializers.One())
        link.add_param("c", initializer=np.arange(3))
        link.add_param("d")
        assert link.a.shape == (2, 3)
        assert link.a.dtype == np.float16
        assert np.isnan(link.a.array).all()
        assert link.b.array.tolist() == [1, 1]
        assert link.c.array.tolist() == [0, 1, 2]
        assert link.d.array is None
        with pytest.raises(AttributeError, match="cannot register a new parameter a"):
            link.add_param("a", 2)

    def test_add_persistent(self):
        link = Layer()
        assert target_of(link).keys() == {"v", "u", "p"}
        with pytest.raises(AttributeError, match="cannot register a new persistent value p"):
            link.add_persistent("p", 2)

    def test_register_persistent(self):
        link = Layer()
        link.register_persistent("other")
        link.register_persistent("v")
        assert [name for name, _ in link.namedparams()] == ["/u"]
        target = target_of(link)
        assert target.keys() == {"u", "p", "other", "v"}
        other = Layer()
        other.register_persistent("v")
        chainer.serializers.NpzDeserializer(target, strict=False).load(other)
        np.testing.assert_array_equal(other.v.array, link.v.array)
        with pytest.raises(AttributeError, match="cannot register non-existent attribute nothing"):
            link.register_persistent("nothing")

    def test_parameter_in_the_place_of_a_persistent_value(self):
        link = Layer()
        with link.init_scope():
            link.p = chainer.Parameter(0, 2)
        assert [name for name, _ in link.namedparams()] == ["/p", "/u", "/v"]


def target_of(link):
    serializer = chainer.serializers.DictionarySerializer()
    serializer.save(link)
    return serializer.target


def test_hierarchy_of_one():
    link = Layer()
    assert [id(param) for param in link.params()] == [id(link.u), id(link.v)]
    assert [id(param) for param in link.params(include_uninit=False)] == [id(link.v)]
    assert list(link.links()) == [link]
    assert list(link.links(skipself=True)) == []
    assert list(link.namedlinks()) == [("/", link)]
    assert list(link.namedlinks(skipself=True)) == []
    assert list(link.children()) == []


class TestCopy:
    def test_share(self):
        link = Layer()
        link.name = "layer"
        replica = link.copy()
        assert type(replica) is Layer
        assert replica.name is None
        assert link.name == "layer"
        assert replica.v is not link.v
        assert replica.v.array is link.v.array
        assert replica.other is link.other
        assert replica.p is link.p
        replica.v.grad = np.ones((2, 3), np.float32)
        assert link.v.grad is None or np.isnan(link.v.grad).all()
        with replica.init_scope():
            replica.w = chainer.Parameter(0, 1)
        assert not hasattr(link, "w")
        assert [name for name, _ in link.namedparams()] == ["/u", "/v"]

    def test_copy(self):
        link = Layer()
        replica = link.copy("copy")
        np.testing.assert_array_equal(replica.v.array, link.v.array)
        for name in ("p", "other"):
            assert getattr(replica, name) is not getattr(link, name)
        replica.v.array[...] = 7
        assert not (link.v.array == 7).any()

    def test_init(self):
        link = Layer()
        replica = link.copy("init")
        assert (replica.v.array != link.v.array).all()
        assert replica.u.array is None

    def test_unknown_mode(self):
        with pytest.raises(
            ValueError, match="either 'init','copy', or 'share'. But deep was given"
        ):
            Layer().copy("deep")

    def test_module_copy(self):
        link = Layer()
        assert copy.deepcopy(link).v.array is not link.v.array
        np.testing.assert_array_equal(copy.deepcopy(link).v.array, link.v.array)

    def test_update_rule_goes_along(self):
        link = L.Linear(2, 2)
        chainer.optimizers.SGD().setup(link)
        assert link.copy("share").W.update_rule is link.W.update_rule
        assert link.copy("copy").W.update_rule is not None


def test_pickling():
    link = L.Linear(3, 2)
    restored = pickle.loads(pickle.dumps(link))
    np.testing.assert_array_equal(restored.W.array, link.W.array)
    assert [name for name, _ in restored.namedparams()] == ["/W", "/b"]
    lazy = pickle.loads(pickle.dumps(L.Linear(2)))
    assert lazy(np.zeros((1, 3), np.float32)).shape == (1, 2)


class TestRepeat:
    def test_init(self):
        layers = L.Linear(3, 3).repeat(3)
        assert isinstance(layers, chainer.Sequential)
        assert len(layers) == 3
        assert not np.array_equal(layers[0].W.array, layers[1].W.array)

    def test_copy(self):
        link = L.Linear(3, 3)
        layers = link.repeat(2, "copy")
        np.testing.assert_array_equal(layers[0].W.array, layers[1].W.array)
        layers[0].W.array[...] = 0
        assert layers[1].W.array.any()

    def test_share(self):
        link = L.Linear(3, 3)
        layers = link.repeat(2, "share")
        assert layers[0].W.array is layers[1].W.array is link.W.array

    @pytest.mark.filterwarnings("ignore:n_repeat of repeat should be at least 0")
    @pytest.mark.parametrize("n", [0, -1])
    def test_not_at_all(self, n):
        assert len(L.Linear(3, 3).repeat(n)) == 0

    def test_unknown_mode(self):
        with pytest.raises(ValueError, match="either 'init','copy', or 'share'"):
            L.Linear(3, 3).repeat(1, "x")
        assert len(L.Linear(3, 3).repeat(0, "x")) == 0

    def test_documented_example(self):
        class ConvBNReLU(chainer.Chain):
            def __init__(self):
                super().__init__()
                with self.init_scope():
                    self.conv = L.Convolution2D(None, 4, 3, 1, 1, nobias=True)
                    self.bn = L.BatchNormalization(4)

            def __call__(self, x):
                return F.relu(self.bn(self.conv(x)))

        net = ConvBNReLU().repeat(3, mode="init")
        assert net(np.zeros((2, 3, 4, 4), np.float32)).shape == (2, 4, 4, 4)


class TestParametersOfTwoLinks:
    def test_copyparams(self):
        source, target = L.Linear(3, 2), L.Linear(3, 2)
        source.W.grad = np.ones((2, 3), np.float32)
        target.copyparams(source)
        np.testing.assert_array_equal(target.W.array, source.W.array)
        assert target.W.array is not source.W.array
        assert np.isnan(target.W.grad).all()

    def test_copyparams_to_uninitialized_ones(self):
        source, target = L.Linear(3, 2), L.Linear(2)
        target.copyparams(source)
        np.testing.assert_array_equal(target.W.array, source.W.array)

    def test_addgrads(self):
        source, target = L.Linear(3, 2), L.Linear(3, 2)
        for link in (source, target):
            link.cleargrads()
        source.W.grad = np.full((2, 3), 2, np.float32)
        target.addgrads(source)
        target.addgrads(source)
        assert (target.W.grad == 4).all()
        assert target.b.grad is None

    @pytest.mark.parametrize("method", ["copyparams", "addgrads"])
    def test_missing_parameter(self, method):
        with pytest.raises(KeyError, match="the source Linear has no parameter 'b'"):
            getattr(L.Linear(3, 2), method)(L.Linear(3, 2, nobias=True))

    @pytest.mark.parametrize("method", ["copyparams", "addgrads"])
    def test_across_devices(self, method):
        pytest.importorskip("chainer_strict_backend")
        source, target = L.Linear(3, 2), L.Linear(3, 2)
        source.W.grad = np.ones((2, 3), np.float32)
        target.cleargrads()
        array = source.W.array.copy()
        source.to_device("@strict:0")
        getattr(target, method)(source)
        if method == "addgrads":
            assert (target.W.grad == 1).all()
        else:
            np.testing.assert_array_equal(target.W.array, array)


class TestGradients:
    def test_cleargrads(self):
        link = Layer()
        link.v.grad = np.ones((2, 3), np.float32)
        link.cleargrads()
        link.u.initialize((2,))
        assert link.v.grad is None
        assert link.u.grad is None

    def test_zerograds(self):
        link = Layer()
        with pytest.warns(DeprecationWarning, match=r"zerograds? is deprecated"):
            link.zerograds()
        link.u.initialize((2,))
        assert not link.v.grad.any()
        assert link.u.grad.tolist() == [0, 0]

    def test_forgotten_cleargrads_are_visible(self):
        assert np.isnan(Layer().v.grad).all()


def test_count_params():
    link = Layer()
    with pytest.warns(UserWarning, match="Parameter '/u' has not been initialized"):
        assert link.count_params() == 6
    link.u.initialize((4,))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert link.count_params() == 10


def test_update_rules_are_switched_on_and_off():
    link = L.Linear(3, 2)
    assert not link.update_enabled
    link.enable_update()
    assert not link.update_enabled
    chainer.optimizers.SGD().setup(link)
    assert link.update_enabled
    link.disable_update()
    assert not link.update_enabled
    link.W.update_rule.enabled = True
    assert link.update_enabled
    link.enable_update()
    assert link.b.update_rule.enabled


class TestDevice:
    def test_at_first(self):
        link = L.Linear(3, 2)
        assert link.xp is np
        assert link.device == chainer.get_device("@numpy")
        assert link.to_device("@numpy") is link

    def test_persistent_values_move_and_others_do_not(self):
        pytest.importorskip("chainer_strict_backend")
        strict = chainer.get_device("@strict:1")
        link = Layer()
        link.add_persistent("n", 3)
        assert link.to_device(strict) is link
        assert link.device == strict
        assert link.xp is strict.xp
        assert chainer.backend.get_device_from_array(link.p) == strict
        assert link.n == 3
        assert isinstance(link.other, np.ndarray)
        link.u.initialize((2,))
        assert chainer.backend.get_device_from_array(link.u.array) == strict
        link.to_device("@numpy")
        assert isinstance(link.p, np.ndarray)

    def test_no_gpu(self):
        if cuda.available:
            pytest.skip("there is one")
        with pytest.raises(Exception, match="(?i)cupy|cuda"):
            L.Linear(3, 2).to_gpu()


def test_in_place_arithmetic_keeps_the_registration():
    bn = L.BatchNormalization(3)
    bn.beta += 2.0
    bn.gamma *= 5.0
    assert not isinstance(bn.beta, chainer.Parameter)
    named = dict(bn.namedparams())
    assert named.keys() == {"/gamma", "/beta"}
    assert named["/beta"] is bn.beta
    assert named["/gamma"].array.tolist() == [5, 5, 5]
    x = np.random.RandomState(0).randn(10, 3, 4, 4).astype(np.float32)
    np.testing.assert_allclose(bn(x).array.mean(axis=(0, 2, 3)), 2, atol=1e-5)

    bn.cleargrads()
    assert bn.count_params() == 6
    assert not bn.update_enabled
    bn.disable_update()
    for mode in ("share", "copy", "init"):
        assert bn.copy(mode).beta.array.tolist() == [2, 2, 2]
    assert target_of(bn)["beta"].tolist() == [2, 2, 2]
    bn.copyparams(L.BatchNormalization(3))
    assert bn.beta.array.tolist() == [0, 0, 0]
    assert bn.to_device("@numpy") is bn


def test_printed_form():
    assert str(L.Linear(3, 2)) == repr(L.Linear(3, 2))
    text = repr(L.ConvolutionND(2, 3, 4, 3))
    assert text.startswith("ConvolutionND(ndim=2, in_channels=3") and text.endswith("groups=1)")
    assert str(L.Linear(3, 2)) == "Linear(in_size=3, out_size=2, nobias=False)"
    assert str(chainer.Link()) == "Link()"


def test_serialize_uninitialized():
    saved = chainer.Link(a=(2,))
    saved.a.array = np.array([1.0, 2.0], np.float32)
    link = chainer.Link()
    with link.init_scope():
        link.a = chainer.Parameter(0)
    chainer.serializers.NpzDeserializer(target_of(saved)).load(link)
    assert link.a.array.tolist() == [1, 2]


class TestTraps:
    """What releases 4 and 7 do and release 8 has to do as well."""

    def test_a_link_without_forward(self):
        with pytest.raises(TypeError, match="has no attribute 'forward'"):
            chainer.Link()(1)
        with pytest.raises(AttributeError, match="has no attribute 'forward'"):
            chainer.Link()(1)

    def test_an_error_inside_of_forward_is_not_replaced(self):
        class Broken(chainer.Link):
            @property
            def forward(self):
                raise AttributeError("inner")

        with pytest.raises(AttributeError, match="^inner$"):
            Broken()(1)

    def test_a_call_without_super_init(self):
        class Forgetful(chainer.Link):
            def __init__(self):
                pass

            def forward(self, x):
                return x

        with pytest.raises(RuntimeError, match=r"Link.__init__\(\) has not been called"):
            Forgetful()(1)

    def test_shared_copies_have_no_gradients(self):
        link = L.Linear(2, 2)
        link.cleargrads()
        link.W.grad = np.ones((2, 2), np.float32)
        shared, copied, fresh = link.copy(), link.copy("copy"), link.copy("init")
        assert shared.W.grad is None
        assert (link.W.grad == 1).all()
        assert (copied.W.grad == 1).all() and copied.W.grad is not link.W.grad
        assert np.isnan(fresh.W.grad).all()
        model = chainer.Sequential(chainer.Chain(l=link)).copy()
        assert model[0].l.W.grad is None
        with pytest.warns(DeprecationWarning, match=r"zerograds? is deprecated"):
            shared.zerograds()
        assert (link.W.grad == 1).all()

    def test_names_of_copies(self):
        chain = chainer.Chain(l=L.Linear(2, 2))
        link = chain.l
        assert [link.copy(mode).name for mode in ("share", "copy", "init")] == [None, "l", "l"]

    def test_sets_of_names(self):
        link = L.BatchNormalization(2)
        assert isinstance(link._params, set) and isinstance(link._persistent, set)
        assert list(link._params) == ["beta", "gamma"]
        assert list(link._persistent) == ["N", "avg_mean", "avg_var"]
        names = link._params.copy()
        names.discard("beta")
        assert "beta" in link._params and list(names) == ["gamma"]
        assert list(chainer.Chain(b=link, a=link)._children) == ["a", "b"]
        restored = pickle.loads(pickle.dumps(link))
        assert list(restored._persistent) == ["N", "avg_mean", "avg_var"]

    def test_children_replaced_without_a_setter(self):
        chain = chainer.Chain(a=L.Linear(2, 2))
        chain.__dict__["a"] = L.Linear(3, 3)
        assert next(chain.children()).W.shape == (3, 3)
        chain_list = chainer.ChainList(L.Linear(2, 2))
        chain_list._children[0] = L.Linear(3, 3)
        assert next(chain_list.params()).shape == (3, 3)

    def test_device_id(self):
        link = L.Linear(2, 2)
        with pytest.warns(DeprecationWarning, match="Link._device_id is left only for backward"):
            assert link._device_id is None
        assert link._cpu
        pytest.importorskip("chainer_strict_backend")
        link.to_device("@strict:1")
        with pytest.warns(DeprecationWarning, match="Link._device_id"):
            assert link._device_id == 1
        assert not link._cpu

    def test_from_params(self):
        with pytest.raises(NotImplementedError, match="does not implement `from_params`"):
            chainer.Link.from_params(np.zeros(3))

    def test_bad_shape_of_the_constructor(self):
        with pytest.raises((TypeError, ValueError)):
            chainer.Link(a="x")

    def test_order_of_parameters_does_not_depend_on_registration(self):
        link = chainer.Link(b=1, a=2, B=3)
        assert [path for path, _ in link.namedparams()] == ["/B", "/a", "/b"]


class TestPersistentValuesOfTwoLinks:
    def link(self, **values):
        link = chainer.Link()
        for name, value in values.items():
            link.add_persistent(name, value)
        return link

    def test_arrays_are_copied_into_place(self):
        array = np.zeros(2)
        target, source = self.link(a=array), self.link(a=np.arange(2.0))
        target.copyparams(source)
        assert target.a is array
        assert array.tolist() == [0, 1]

    def test_other_values_become_deep_copies(self):
        target = self.link(n=1, values=[1], unset=None, later=np.zeros(1))
        source = self.link(n=2, values=[2], unset=np.ones(2), later=None)
        target.copyparams(source)
        assert target.n == 2
        assert target.values == [2] and target.values is not source.values
        assert target.unset.tolist() == [1, 1] and target.unset is not source.unset
        assert target.later is None

    def test_on_request_they_stay(self):
        model = chainer.ChainList(chainer.Chain(l=self.link(n=1)))
        other = chainer.ChainList(chainer.Chain(l=self.link(n=2)))
        model.copyparams(other, copy_persistent=False)
        assert model[0].l.n == 1
        model.copyparams(other)
        assert model[0].l.n == 2

    def test_missing_value(self):
        with pytest.raises(KeyError, match="the source Link has no persistent value 'n'"):
            self.link(n=1).copyparams(chainer.Link())

    def test_overrides_of_release_4(self):
        class Own(chainer.Link):
            def copyparams(self, link):
                self.copied = True

        model = chainer.Chain(l=Own())
        model.copyparams(chainer.Chain(l=Own()))
        assert model.l.copied

    def test_across_devices(self):
        pytest.importorskip("chainer_strict_backend")
        target, source = L.BatchNormalization(2), L.BatchNormalization(2)
        source.avg_mean[...] = 3
        target.to_device("@strict:0")
        array = target.avg_mean
        target.copyparams(source)
        assert target.avg_mean is array
        assert target.device.backend.to_host(array).tolist() == [3, 3]

    def test_structures_that_differ(self):
        with pytest.raises(KeyError):
            chainer.Chain(a=L.Linear(2, 2)).copyparams(chainer.Chain())
        with pytest.raises(IndexError):
            chainer.ChainList(L.Linear(2, 2)).copyparams(chainer.ChainList())
