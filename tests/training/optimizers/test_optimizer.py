from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import chainer
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.links.serializers.npz import DictionarySerializer
from chainer.training import optimizers as O
from chainer.training.optimizers import optimizer as optimizer_module
from chainer.training.optimizers.optimizer import (
    GradientMethod,
    Hyperparameter,
    Optimizer,
    UpdateRule,
)
from tests.training.small_models import Pair, ScaleMethod, set_grads


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
        with pytest.raises(RuntimeError, match="Optimizer is not set up. Call `setup` method"):
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
        with pytest.warns(DeprecationWarning, match=r"zerograds? is deprecated"):
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


@pytest.mark.parametrize("value", ["x", float("nan"), float("inf")])
@pytest.mark.parametrize(("name", "entry"), [("SGD", "lr"), ("Adam", "alpha"), ("AdaDelta", "rho")])
def test_hyperparameter_that_is_refused_at_once(name, entry, value):
    with pytest.raises(ValueError, match=f"hyperparameter '{entry}' must be a finite number, got"):
        getattr(O, name)(**{entry: value})
    optimizer = getattr(O, name)()
    with pytest.raises(TypeError, match="must be a finite number"):
        setattr(optimizer, entry, value)


@pytest.mark.parametrize("value", [None, [1]])
@pytest.mark.parametrize(("name", "entry"), [("SGD", "lr"), ("Adam", "alpha"), ("AdaDelta", "rho")])
def test_hyperparameter_that_is_no_number(name, entry, value):
    model = Pair()
    optimizer = getattr(O, name)(**{entry: value}).setup(model)
    set_grads(model)
    with pytest.raises(TypeError, match=f"hyperparameter '{entry}' must be a number, got "):
        optimizer.update()


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
            "pre-param", "pre-param", "pre-all", "post-param", "post-param", "post-all",
        ]  # fmt: skip
        assert calls[2][1:] == ("SGD", 1)
        assert calls[0][1:] == ("SGDRule", 2)

    @pytest.mark.parametrize("decay_first", [True, False])
    def test_registration_order_of_both_kinds(self, decay_first):
        model = chainer.Link(W=(1,))
        model.W.array[...] = 1
        optimizer = O.SGD(1.0).setup(model)
        hooks = [chainer.optimizer_hooks.WeightDecay(0.1)]
        hooks.insert(int(decay_first), chainer.optimizer_hooks.GradientClipping(0.5))
        for hook in hooks:
            optimizer.add_hook(hook)
        model.W.grad = np.array([2], np.float32)
        optimizer.update()
        # Decay first: 1 - clip(2 + 0.1); clipping first: 1 - (clip(2) + 0.1).
        np.testing.assert_allclose(model.W.array, [0.5 if decay_first else 0.4], rtol=1e-6)

    def test_own_hooks_of_rules_come_last_and_names_are_separate(self):
        model = chainer.Link(W=(1,))
        optimizer = O.SGD().setup(model)
        calls = []
        model.W.update_rule.add_hook(lambda rule, param: calls.append("own"), "hook")
        optimizer.add_hook(self.record(calls, "hook", "pre", True))
        model.W.grad = np.ones(1, np.float32)
        optimizer.update()
        assert calls == [("hook", "SGDRule", 2), "own"]
        optimizer.remove_hook("hook")
        optimizer.update()
        assert calls[2:] == ["own"]

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

    def test_counted_twice(self):
        optimizer = O.SGD().setup(Pair())
        optimizer.use_auto_new_epoch = True
        optimizer.new_epoch(auto=True)
        # The texts are those of 7.8.1.
        with pytest.raises(RuntimeError, match=r"^duplicated new_epoch with the updater\.\nPass"):
            optimizer.new_epoch()
        assert optimizer.epoch == 1

    def test_a_program_that_counts_itself_has_the_last_word(self):
        optimizer = O.SGD().setup(Pair())
        iterator = chainer.iterators.SerialIterator([1], 1)
        chainer.training.updaters.StandardUpdater(iterator, optimizer)
        optimizer.new_epoch(auto=True)
        optimizer.new_epoch()
        assert optimizer.epoch == 1
        assert not optimizer.use_auto_new_epoch


def test_a_parameter_that_became_a_variable_is_named():
    link = chainer.links.Scale(W_shape=(2,))
    optimizer = chainer.optimizers.SGD().setup(link)
    link.W += 2
    with pytest.raises(TypeError, match=r"/W of the target is a Variable and cannot be updated"):
        optimizer.update(lambda: chainer.functions.sum(link(np.ones((1, 2), np.float32))))
