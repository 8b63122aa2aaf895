from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import chainer
from chainer.core.parameter import Parameter
from chainer.core.variable import Variable
from chainer.links.base_link import Link
from chainer.links.chain import Chain
from chainer.links.serializers.npz import DictionarySerializer, NpzDeserializer
from chainer.training import optimizer as optimizer_module
from chainer.training import optimizers as O
from chainer.training.optimizer import (
    GradientMethod,
    Hyperparameter,
    HyperparameterProxy,
    Optimizer,
    UpdateRule,
)


class Pair(Chain):
    """Two parameters in the hierarchy, the second of which is not initialized yet."""

    def __init__(self, lazy=False):
        super().__init__()
        with self.init_scope():
            self.W = Parameter(np.array([1, 2], np.float32))
            self.child = Link()
            with self.child.init_scope():
                self.child.b = Parameter(0) if lazy else Parameter(np.array([3], np.float32))


def set_grads(model, value=1.0):
    for param in model.params(include_uninit=False):
        param.grad = np.full_like(param.array, value)


def save(obj):
    target = {}
    DictionarySerializer(target).save(obj)
    return {key: np.array(value) for key, value in target.items()}


class Scale(UpdateRule):
    """A rule with a state, that multiplies by a hyperparameter."""

    def init_state(self, param):
        self.state["sum"] = np.zeros_like(param.array)

    def update_core_cpu(self, param):
        grad = param.grad
        if grad is None:
            return
        self.state["sum"] += grad
        param.array -= self.hyperparam.lr * self.state["sum"]


class ScaleMethod(GradientMethod):
    lr = HyperparameterProxy("lr")

    def __init__(self, lr=0.5):
        super().__init__()
        self.hyperparam.lr = lr

    def create_update_rule(self):
        return Scale(self.hyperparam)


class TestHyperparameter:
    def test_child_falls_back_to_parent(self):
        parent = Hyperparameter()
        parent.lr = 1
        child = Hyperparameter(parent)
        child.eps = 2
        assert (child.lr, child.eps, child.parent) == (1, 2, parent)
        parent.lr = 3
        assert child.get_dict() == {"lr": 3, "eps": 2}
        child.lr = 4
        assert (parent.lr, child.lr) == (3, 4)
        assert repr(child) == "Hyperparameter(eps=2, lr=4)"

    def test_unknown_name(self):
        parent = Hyperparameter()
        parent.lr = 1
        with pytest.raises(AttributeError, match="no hyperparameter 'alpha'; known ones: lr"):
            _ = Hyperparameter(parent).alpha

    def test_copy_and_pickle(self):
        parent = Hyperparameter()
        parent.lr = 1
        child = Hyperparameter(parent)
        for other in (copy.deepcopy(child), pickle.loads(pickle.dumps(child))):
            assert other.lr == 1
            assert other.parent is not parent

    def test_proxy(self):
        optimizer = ScaleMethod(2.0)
        optimizer.lr /= 4
        assert optimizer.hyperparam.lr == 0.5
        assert "hyperparam.lr" in ScaleMethod.lr.__doc__


class TestSetup:
    def test_returns_itself_and_gives_rules(self):
        model = Pair()
        optimizer = O.SGD().setup(model)
        assert isinstance(optimizer, O.SGD)
        assert optimizer.target is model
        assert all(p.update_rule.hyperparam.parent is optimizer.hyperparam for p in model.params())

    def test_not_a_link(self):
        with pytest.raises(TypeError, match="optimization target must be a link, got int"):
            O.SGD().setup(3)

    @pytest.mark.parametrize(
        "call",
        [
            lambda o: o.update(),
            lambda o: o.add_hook(lambda opt: None, "name"),
            lambda o: o.remove_hook("name"),
            lambda o: o.serialize(DictionarySerializer({})),
        ],
    )
    def test_use_before_setup(self, call):
        with pytest.raises(RuntimeError, match="SGD is not set up"):
            call(O.SGD())

    def test_base_classes_are_abstract(self):
        with pytest.raises(NotImplementedError, match="update"):
            Optimizer().update()
        with pytest.raises(NotImplementedError, match="create_update_rule"):
            GradientMethod().create_update_rule()
        param = Parameter(np.zeros(1, np.float32))
        with pytest.raises(NotImplementedError, match="update_core"):
            UpdateRule().update(param)

    def test_setup_again_starts_afresh(self):
        model = Pair()
        optimizer = O.Adam().setup(model)
        optimizer.add_hook(lambda opt: None, "hook")
        set_grads(model)
        optimizer.update()
        optimizer.setup(model)
        assert (optimizer.t, model.W.update_rule.t, model.W.update_rule.state) == (0, 0, None)
        with pytest.raises(KeyError):
            optimizer.remove_hook("hook")


class TestUpdate:
    def test_with_gradients(self):
        model = Pair()
        optimizer = O.SGD(0.5).setup(model)
        set_grads(model)
        optimizer.update()
        np.testing.assert_array_equal(model.W.array, [0.5, 1.5])
        assert (optimizer.t, model.W.update_rule.t) == (1, 1)

    def test_with_loss_function(self):
        model = Pair()
        optimizer = O.SGD(0.5).setup(model)
        set_grads(model, 100.0)  # cleared before the gradients are computed

        def loss(x, *, factor):
            return (model.W * x).reshape(2)[0] * factor

        optimizer.update(loss, np.array([1, 1], np.float32), factor=2)
        np.testing.assert_array_equal(model.W.array, [0, 2])

    def test_loss_must_be_a_variable(self):
        with pytest.raises(TypeError, match="lossfun must return a chainer.Variable, got float"):
            O.SGD().setup(Pair()).update(lambda: 1.0)

    def test_cleared_gradients_count_as_zero(self):
        model = Pair()
        optimizer = O.MomentumSGD(lr=1.0, momentum=0.5).setup(model)
        set_grads(model)
        optimizer.update()
        model.cleargrads()
        optimizer.update()
        np.testing.assert_array_equal(model.W.array, [1 - 1 - 0.5, 2 - 1 - 0.5])
        np.testing.assert_array_equal(model.W.grad, [0, 0])

    def test_uninitialized_parameter(self):
        model = Pair(lazy=True)
        optimizer = O.Adam().setup(model)
        set_grads(model)
        optimizer.update()
        assert model.child.b.array is None
        model.child.b.initialize((2,))
        set_grads(model)
        optimizer.update()
        assert (model.child.b.array < 0).all()
        assert model.child.b.update_rule.t == 2

    def test_frozen_parameter(self):
        model = Pair()
        optimizer = O.SGD().setup(model)
        model.child.disable_update()
        set_grads(model)
        optimizer.update()
        np.testing.assert_array_equal(model.child.b.array, [3])
        assert (model.child.b.update_rule.t, model.W.update_rule.t) == (0, 1)

    def test_hyperparameter_of_one_rule(self):
        model = Pair()
        optimizer = O.SGD(0.5).setup(model)
        model.W.update_rule.hyperparam.lr = 1.0
        optimizer.lr = 0.25
        set_grads(model)
        optimizer.update()
        np.testing.assert_array_equal(model.W.array, [0, 1])
        np.testing.assert_array_equal(model.child.b.array, [2.75])

    def test_custom_rule(self):
        model = Pair()
        optimizer = ScaleMethod().setup(model)
        for _ in range(2):
            set_grads(model)
            optimizer.update()
        np.testing.assert_array_equal(model.W.array, [1 - 0.5 - 1.0, 2 - 0.5 - 1.0])

    def test_parameter_update_alone(self):
        param = Parameter(np.array([1], np.float32))
        param.grad = np.array([1], np.float32)
        param.update()  # without a rule nothing happens
        param.update_rule = O.SGD(0.5).create_update_rule()
        param.update()
        np.testing.assert_array_equal(param.array, [0.5])

    def test_numpy_hyperparameters(self):
        model = Pair()
        optimizer = O.Adam(alpha=np.float64(0.1), beta1=np.array(0.9)).setup(model)
        set_grads(model)
        optimizer.update()
        assert model.W.dtype == np.float32
        np.testing.assert_allclose(model.W.array, [0.9, 1.9], rtol=1e-5)

    def test_use_cleargrads(self):
        model = Pair()
        optimizer = O.SGD().setup(model)
        with pytest.warns(DeprecationWarning, match="use_cleargrads is deprecated"):
            optimizer.use_cleargrads(False)
        optimizer.update(lambda: Variable(np.zeros((), np.float32)))
        np.testing.assert_array_equal(model.W.grad, [0, 0])

    def test_reallocate_can_be_switched_off(self):
        class NoReallocation(O.SGD):
            def reallocate_cleared_grads(self):
                pass

        model = Pair()
        optimizer = NoReallocation().setup(model)
        model.cleargrads()
        optimizer.update()
        assert model.W.grad is None
        np.testing.assert_array_equal(model.W.array, [1, 2])

    def test_adam_learning_rate(self):
        optimizer = O.Adam().setup(Pair())
        with pytest.raises(RuntimeError, match="update steps have not been started"):
            _ = optimizer.lr
        set_grads(optimizer.target)
        optimizer.update()
        assert optimizer.lr == pytest.approx(0.001 * np.sqrt(0.001) / 0.1)
        assert optimizer.target.W.update_rule.lr == optimizer.lr

    def test_copy_of_model_keeps_its_own_rules(self):
        model = Pair()
        O.SGD(0.5).setup(model)
        other = copy.deepcopy(model)
        other.W.update_rule.enabled = False
        assert model.W.update_rule.enabled


class TestHooks:
    def record(self, calls, name, timing, each):
        def hook(*arguments):
            calls.append((name, type(arguments[0]).__name__, len(arguments)))

        hook.name = name
        hook.timing = timing
        hook.call_for_each_param = each
        return hook

    def test_order_and_timing(self):
        model = Pair()
        optimizer = O.SGD().setup(model)
        calls = []
        for timing in ("post", "pre"):
            for each in (True, False):
                name = f"{timing}-{'param' if each else 'all'}"
                optimizer.add_hook(self.record(calls, name, timing, each))
        set_grads(model)
        optimizer.update()
        assert [call[0] for call in calls] == [
            "pre-all", "pre-param", "post-param", "pre-param", "post-param", "post-all",
        ]  # fmt: skip
        assert calls[0][1:] == ("SGD", 1)
        assert calls[1][1:] == ("SGDRule", 2)

    def test_explicit_timing_wins(self):
        model = Pair()
        optimizer = O.SGD().setup(model)
        seen = []
        optimizer.add_hook(lambda opt: seen.append(model.W.array[0]), "hook", timing="post")
        set_grads(model)
        optimizer.update()
        assert seen == [pytest.approx(0.99)]

    def test_unknown_own_timing_warns(self):
        hook = self.record([], "hook", "never", False)
        with pytest.warns(UserWarning, match="defaulting timing to 'pre'"):
            O.SGD().setup(Pair()).add_hook(hook)

    def test_remove(self):
        model = Pair()
        optimizer = O.SGD().setup(model)
        calls = []
        optimizer.add_hook(self.record(calls, "each", "pre", True))
        optimizer.add_hook(self.record(calls, "all", "pre", False))
        optimizer.remove_hook("each")
        optimizer.remove_hook("all")
        set_grads(model)
        optimizer.update()
        assert calls == []
        with pytest.raises(KeyError, match="does not exist"):
            optimizer.remove_hook("all")

    @pytest.mark.parametrize("make", [lambda: O.SGD().setup(Pair()), UpdateRule])
    def test_bad_hooks(self, make):
        owner = make()
        with pytest.raises(TypeError, match="must be callable, got int"):
            owner.add_hook(3, "name")
        with pytest.raises(ValueError, match="timing must be one of"):
            owner.add_hook(lambda *_: None, "name", timing="never")
        owner.add_hook(lambda *_: None, "name")
        with pytest.raises(KeyError, match="already exists"):
            owner.add_hook(lambda *_: None, "name", timing="post")

    def test_hook_of_one_rule(self):
        model = Pair()
        optimizer = O.SGD(1.0).setup(model)

        def double(rule, param):
            param.grad *= 2

        model.W.update_rule.add_hook(double)
        set_grads(model)
        optimizer.update()
        np.testing.assert_array_equal(model.W.array, [-1, 0])
        np.testing.assert_array_equal(model.child.b.array, [2])

    @pytest.mark.parametrize(
        ("name", "arguments"),
        [
            ("WeightDecay", (0.1,)),
            ("Lasso", (0.1,)),
            ("GradientClipping", (1.0,)),
            ("GradientHardClipping", (-1, 1)),
            ("GradientNoise", (0.1,)),
        ],
    )
    def test_old_names(self, name, arguments):
        with pytest.warns(DeprecationWarning, match=f"Use chainer.optimizer_hooks.{name}"):
            hook = getattr(optimizer_module, name)(*arguments)
        assert isinstance(hook, getattr(chainer.optimizer_hooks, name))


class TestEpoch:
    def test_by_hand(self):
        optimizer = O.SGD().setup(Pair())
        optimizer.new_epoch()
        assert optimizer.epoch == 1

    def test_by_an_updater(self):
        optimizer = O.SGD().setup(Pair())
        with pytest.raises(RuntimeError, match="use_auto_new_epoch"):
            optimizer.new_epoch(auto=True)
        optimizer.use_auto_new_epoch = True
        optimizer.new_epoch(auto=True)
        optimizer.new_epoch(auto=True)
        assert optimizer.epoch == 2

    def test_a_program_that_counts_itself_has_the_last_word(self):
        optimizer = O.SGD().setup(Pair())
        optimizer.use_auto_new_epoch = True
        optimizer.new_epoch(auto=True)
        optimizer.new_epoch()
        assert optimizer.epoch == 1
        assert not optimizer.use_auto_new_epoch


class TestLossScale:
    def test_gradients_are_divided_before_hooks_and_update(self):
        model = Pair()
        optimizer = O.SGD(0.5).setup(model)
        optimizer.set_loss_scale(8)
        seen = []
        optimizer.add_hook(lambda opt: seen.append(model.W.grad.copy()), "hook")
        optimizer.update(lambda: (model.W * np.float32(1)).reshape(2)[0])
        np.testing.assert_array_equal(seen, [[1, 0]])
        np.testing.assert_array_equal(model.W.array, [0.5, 2])
        optimizer.update()  # the gradients of before must not be divided again
        np.testing.assert_array_equal(model.W.array, [0, 2])

    @pytest.mark.parametrize("scale", [0, -1, float("inf"), float("nan")])
    def test_bad_scale(self, scale):
        with pytest.raises(ValueError, match="positive finite"):
            O.SGD().set_loss_scale(scale)

    def test_scale_beyond_float16(self):
        param = Parameter(np.array([1], np.float16))
        param.update_rule = O.SGD(1.0).create_update_rule()
        param.grad = np.array([4096], np.float16)
        param.loss_scale = 131072.0
        param.update()
        np.testing.assert_allclose(param.array, [1 - 0.03125])

    def test_float32_update_keeps_what_float16_would_lose(self):
        param = Parameter(np.array([1], np.float16))
        rule = param.update_rule = O.SGD(1.0).create_update_rule()
        rule.use_fp32_update()
        seen = []
        rule.add_hook(lambda rule, p: seen.append((p.grad.dtype, float(p.grad[0]))), "hook")
        param.grad = np.array([1e-3], np.float16)
        param.loss_scale = 2.0**17
        param.update()
        assert seen[0][0] == np.float32
        assert seen[0][1] == pytest.approx(1e-3 / 2**17, rel=1e-3)


class TestFloat32Update:
    def test_small_steps_add_up(self):
        model = Link()
        with model.init_scope():
            model.p = Parameter(np.ones(1, np.float16))
        optimizer = O.SGD(1e-4)
        optimizer.use_fp32_update()
        optimizer.setup(model)
        for _ in range(20):
            model.p.grad = np.ones(1, np.float16)
            optimizer.update()
        assert model.p.dtype == np.float16
        np.testing.assert_allclose(model.p.array, [1 - 20e-4], atol=5e-4)
        assert model.p.array[0] < 1

    def test_state_is_float32(self):
        model = Link()
        with model.init_scope():
            model.p = Parameter(np.ones(1, np.float16))
        optimizer = O.Adam().setup(model)
        optimizer.use_fp32_update()  # also after setup
        model.p.grad = np.ones(1, np.float16)
        optimizer.update()
        assert model.p.update_rule.state["m"].dtype == np.float32

    @pytest.mark.parametrize(("name", "kwargs"), [("Adam", {}), ("RMSprop", {})])
    def test_eps_too_small_for_float16(self, name, kwargs):
        model = Link()
        with model.init_scope():
            model.p = Parameter(np.ones(1, np.float16))
        optimizer = getattr(O, name)(**kwargs).setup(model)
        model.p.grad = np.ones(1, np.float16)
        with pytest.raises(ValueError, match=f"eps of {name} optimizer is too small for float16"):
            optimizer.update()
        optimizer.eps = 1e-3
        optimizer.update()
        assert model.p.array[0] < 1

    def test_resume_goes_on_exactly(self):
        def train(optimizer, steps):
            for _ in range(steps):
                optimizer.target.p.grad = np.full(1, 0.3, np.float16)
                optimizer.update()

        def make():
            model = Link()
            with model.init_scope():
                model.p = Parameter(np.ones(1, np.float16))
            optimizer = O.MomentumSGD(1e-4)
            optimizer.use_fp32_update()
            return optimizer.setup(model)

        first, second = make(), make()
        train(first, 10)
        NpzDeserializer(save(first)).load(second)
        second.target.copyparams(first.target)
        train(first, 10)
        train(second, 10)
        np.testing.assert_array_equal(first.target.p.array, second.target.p.array)
        master = first.target.p.update_rule._fp32_param.array
        np.testing.assert_array_equal(master, second.target.p.update_rule._fp32_param.array)


class TestSerialization:
    def trained(self, lazy=False):
        model = Pair(lazy)
        optimizer = O.Adam().setup(model)
        for _ in range(2):
            set_grads(model)
            optimizer.update()
        optimizer.epoch = 7
        return optimizer

    def test_names(self):
        # The names are those in files of releases 4.3.1 and 7.8.1.
        state = save(self.trained())
        assert sorted(state) == [
            "W/m", "W/t", "W/v", "child/b/m", "child/b/t", "child/b/v", "epoch", "t",
        ]  # fmt: skip
        assert (state["t"], state["epoch"], state["W/t"]) == (2, 7, 2)

    def test_round_trip(self):
        first = self.trained()
        second = O.Adam().setup(Pair())
        NpzDeserializer(save(first)).load(second)
        assert (second.t, second.epoch) == (2, 7)
        for one, other in zip(first.target.params(), second.target.params(), strict=True):
            for key in ("m", "v"):
                np.testing.assert_array_equal(
                    one.update_rule.state[key], other.update_rule.state[key]
                )
            assert other.update_rule.t == 2

    def test_uninitialized_parameters(self):
        state = save(self.trained(lazy=True))
        assert "child/b/m" not in state
        other = O.Adam().setup(Pair(lazy=True))
        NpzDeserializer(state).load(other)
        assert other.target.child.b.update_rule.state is None
        assert other.target.child.b.update_rule.t == 2

    def test_state_for_a_parameter_that_will_be_initialized(self):
        other = O.Adam().setup(Pair(lazy=True))
        NpzDeserializer(save(self.trained())).load(other)
        np.testing.assert_allclose(other.target.child.b.update_rule.state["m"], [0.19], rtol=1e-6)

    def test_saved_before_the_first_update(self):
        fresh = O.Adam().setup(Pair())
        state = save(fresh)
        assert sorted(state) == ["W/t", "child/b/t", "epoch", "t"]
        trained = self.trained()
        NpzDeserializer(state).load(trained)
        assert trained.target.W.update_rule.state is None

    @pytest.mark.parametrize("keys", [["W/v"], ["W/m", "W/v"]])
    def test_missing_state(self, keys):
        state = save(self.trained())
        for key in keys:
            del state[key]
        with pytest.raises(KeyError, match=keys[0]):
            NpzDeserializer(state).load(O.Adam().setup(Pair()))

    def test_not_strict(self):
        state = save(self.trained())
        del state["W/m"], state["W/v"]
        other = O.Adam().setup(Pair())
        NpzDeserializer(state, strict=False).load(other)
        assert other.target.W.update_rule.state is None
        assert other.target.child.b.update_rule.state is not None

    def test_custom_rule(self):
        first, second = ScaleMethod().setup(Pair()), ScaleMethod().setup(Pair())
        set_grads(first.target)
        first.update()
        NpzDeserializer(save(first)).load(second)
        np.testing.assert_array_equal(second.target.W.update_rule.state["sum"], [1, 1])
