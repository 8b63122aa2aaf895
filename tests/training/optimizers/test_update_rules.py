"""Update rules: arguments, order of the steps of an update, and hooks."""

from __future__ import annotations

import pickle
from unittest import mock

import numpy as np
import pytest

import chainer
from chainer import MisuseWarning
from chainer.core.autograd.parameter import Parameter
from chainer.training import optimizers as O
from chainer.training.optimizers import hooks as H
from chainer.training.optimizers.declaration import DeclaredRule
from chainer.training.optimizers.optimizer import Optimizer, UpdateRule
from tests.training.small_models import Pair, Scale, ScaleMethod, set_grads

#: Module, class and defaults of each optimizer with a module of its own.
RULES = [
    ("ada_delta", "AdaDelta", {"rho": 0.95, "eps": 1e-6}),
    ("ada_grad", "AdaGrad", {"lr": 0.001, "eps": 1e-8}),
    ("adam", "Adam", {
        "alpha": 0.001, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "eta": 1.0,
        "weight_decay_rate": 0, "amsgrad": False, "adabound": False, "final_lr": 0.1,
        "gamma": 1e-3,
    }),
    ("corrected_momentum_sgd", "CorrectedMomentumSGD", {"lr": 0.01, "momentum": 0.9}),
    ("momentum_sgd", "MomentumSGD", {"lr": 0.01, "momentum": 0.9}),
    ("msvag", "MSVAG", {"lr": 0.1, "beta": 0.9, "eta": 1.0, "weight_decay_rate": 0}),
    ("nesterov_ag", "NesterovAG", {"lr": 0.01, "momentum": 0.9}),
    ("rmsprop", "RMSprop", {"lr": 0.01, "alpha": 0.99, "eps": 1e-8, "eps_inside_sqrt": False}),
    ("rmsprop_graves", "RMSpropGraves", {
        "lr": 1e-4, "alpha": 0.95, "momentum": 0.9, "eps": 1e-4,
    }),
    ("sgd", "SGD", {"lr": 0.01}),
    ("smorms3", "SMORMS3", {"lr": 0.001, "eps": 1e-16}),
]  # fmt: skip
IDS = [name for _, name, _ in RULES]
ALL = sorted([*IDS, "AMSBound", "AMSGrad", "AdaBound", "AdamW"])
#: Tested in test_recent_optimizers.py.
RECENT = {"Adafactor", "LAMB", "Lion", "Muon", "NAdam", "RAdam"}


def rule_class(module, name):
    return getattr(getattr(O, module), name + "Rule")


class TestArguments:
    @pytest.mark.parametrize(("module", "name", "defaults"), RULES, ids=IDS)
    def test_defaults_without_a_parent(self, module, name, defaults):
        assert rule_class(module, name)().hyperparam.get_dict() == defaults
        assert getattr(O, name)().hyperparam.get_dict() == defaults

    @pytest.mark.parametrize(("module", "name", "defaults"), RULES, ids=IDS)
    def test_own_values_and_those_of_the_parent(self, module, name, defaults):
        optimizer = getattr(O, name)()
        for entry, value in defaults.items():
            rule = rule_class(module, name)(optimizer.hyperparam, **{entry: 0.25})
            assert rule.hyperparam.get_dict() == {**defaults, entry: 0.25}
            assert rule.hyperparam.parent is optimizer.hyperparam
            assert getattr(optimizer, entry) == value

    @pytest.mark.parametrize(("module", "name", "defaults"), RULES, ids=IDS)
    def test_by_position(self, module, name, defaults):
        values = [0.5 / (i + 1) for i in range(len(defaults))]
        rule = rule_class(module, name)(None, *values)
        assert rule.hyperparam.get_dict() == dict(zip(defaults, values, strict=True))

    def test_unknown_name(self):
        with pytest.raises(TypeError, match="'alpha'"):
            O.sgd.SGDRule(alpha=1)

    def test_change_of_the_optimizer_reaches_what_a_rule_leaves_open(self):
        optimizer = O.MomentumSGD()
        rule = O.momentum_sgd.MomentumSGDRule(optimizer.hyperparam, lr=1.0)
        optimizer.lr = optimizer.momentum = 0.5
        assert (rule.hyperparam.lr, rule.hyperparam.momentum) == (1.0, 0.5)


class TestIsElementwise:
    @pytest.mark.parametrize("name", ALL)
    def test_of_built_in_rules(self, name):
        assert getattr(O, name)().create_update_rule().is_elementwise is True

    def test_of_other_rules(self):
        assert UpdateRule.is_elementwise is False
        assert Scale().is_elementwise is False


class TestAdam:
    def test_initial_alpha_is_that_of_the_beginning(self):
        optimizer = O.AdaBound(alpha=0.1, final_lr=1.0, gamma=0.5)
        rule = optimizer.create_update_rule()
        optimizer.alpha = 0.01
        assert rule.initial_alpha == 0.1
        rule.t = 2
        # final = final_lr * alpha / initial_alpha = 0.1
        np.testing.assert_allclose(rule.bounds, (0.1 * (1 - 1 / 2), 0.1 * (1 + 1 / 1)))

    def test_no_initial_alpha_without_adabound(self):
        assert O.Adam().create_update_rule().initial_alpha is None

    @pytest.mark.parametrize("name", ["bounds", "alpha_t", "lr"])
    def test_not_started(self, name):
        rule = O.AdaBound().create_update_rule()
        with pytest.raises(RuntimeError, match="have not been started"):
            getattr(rule, name)

    @pytest.mark.parametrize("name", ["Adam", "AdamW", "AMSGrad", "AdaBound", "AMSBound"])
    def test_float16_with_the_default_eps(self, name):
        param = Parameter(np.ones(2, np.float16))
        param.update_rule = getattr(O, name)(alpha=0.125).create_update_rule()
        param.grad = np.array([1, 0], np.float16)
        param.update()
        assert param.dtype == param.update_rule.state["m"].dtype == np.float16
        np.testing.assert_array_equal(param.array, np.array([1 - 0.125, 1], np.float16))

    @pytest.mark.parametrize("dtype", [np.float16, np.float32])
    def test_absurd_eps(self, dtype):
        param = Parameter(np.ones(2, dtype))
        param.update_rule = O.Adam(eps=1e-50).create_update_rule()
        param.grad = np.ones(2, dtype)
        with pytest.raises(ValueError, match="eps of Adam optimizer is too small for float32"):
            param.update()

    def test_eps_of_zero_and_of_float64(self):
        for eps, dtype in ((0, np.float16), (0, np.float32), (1e-50, np.float64)):
            param = Parameter(np.ones(2, dtype))
            param.update_rule = O.Adam(alpha=0.5, eps=eps).create_update_rule()
            param.grad = np.ones(2, dtype)
            param.update()
            np.testing.assert_allclose(param.array, 0.5, rtol=1e-3)


class TestOrder:
    def test_pre_hooks_see_the_count_the_state_and_the_true_gradient(self):
        model = Pair()
        optimizer = O.Adam().setup(model)
        rule = model.W.update_rule
        seen = []

        def hook(rule, param):
            seen.append((rule.t, sorted(rule.state), float(param.grad[0]), param.loss_scale))

        rule.add_hook(hook)
        set_grads(model, 8)
        model.W.loss_scale = 8.0
        optimizer.update()
        assert seen == [(1, ["m", "v"], 1.0, None)]

    def test_optimizer_level_hooks_see_the_old_counts(self):
        model = Pair()
        optimizer = O.SGD().setup(model)
        seen = []
        optimizer.add_hook(lambda opt: seen.append((opt.t, model.W.update_rule.t)), "pre")
        optimizer.add_hook(lambda opt: seen.append((opt.t, model.W.update_rule.t)), "post",
                           timing="post")  # fmt: skip
        set_grads(model)
        optimizer.update()
        assert seen == [(0, 0), (1, 1)]

    def test_noise_of_a_rule_counts_from_one(self):
        times = []

        def noise(xp, shape, dtype, hook, rule):
            times.append(rule.t)
            return xp.zeros(shape, dtype)

        model = Pair()
        optimizer = O.SGD().setup(model)
        model.W.update_rule.add_hook(H.GradientNoise(1.0, noise))
        for _ in range(2):
            set_grads(model)
            optimizer.update()
        assert times == [1, 2]

    def test_parameter_without_array(self):
        param = Parameter(0)
        rule = param.update_rule = O.Adam().create_update_rule()
        seen = []
        rule.add_hook(lambda rule, p: seen.append((rule.t, rule.state)), "pre")
        rule.add_hook(lambda rule, p: seen.append(rule.t), "post", timing="post")
        param.cleargrad()
        param.update()
        assert seen == [(1, None), 1]
        assert rule.t == 1

    def test_hook_that_removes_itself(self):
        param = Parameter(np.ones(1, np.float32))
        rule = param.update_rule = O.SGD().create_update_rule()
        calls = []

        def once(rule, param):
            calls.append(rule.t)
            rule.remove_hook("once")

        rule.add_hook(once)
        rule.add_hook(lambda rule, param: calls.append("other"), "other")
        for _ in range(2):
            param.grad = np.ones(1, np.float32)
            param.update()
        assert calls == [1, "other", "other"]


class TestHooks:
    @pytest.mark.parametrize("make", [lambda: O.SGD().setup(Pair()), UpdateRule])
    def test_name_is_needed(self, make):
        class Nameless:
            def __call__(self, *args):
                pass

        owner = make()
        with pytest.raises(ValueError, match="has no name; give one by add_hook"):
            owner.add_hook(Nameless())
        owner.add_hook(Nameless(), "name")
        owner.add_hook(lambda *args: None)  # its __name__
        owner.remove_hook("<lambda>")

    @pytest.mark.parametrize("make", [lambda: O.SGD().setup(Pair()), UpdateRule])
    def test_name_that_is_taken(self, make):
        owner = make()
        owner.add_hook(lambda *args: None, "name", timing="post")
        # KeyError in release 7, ValueError at rules of release 4.
        for error in (KeyError, ValueError):
            with pytest.raises(error, match='hook "name" already exists'):
                owner.add_hook(lambda *args: None, "name")

    @pytest.mark.parametrize("call", ["add_hook", "remove_hook", "call_hooks", "call_hook"])
    def test_before_setup(self, call):
        hook = mock.Mock(call_for_each_param=True)
        argument = {"add_hook": hook, "call_hook": hook}.get(call, "pre")
        with pytest.raises(RuntimeError, match="Optimizer is not set up. Call `setup` method"):
            getattr(O.SGD(), call)(argument)

    def test_bad_timing(self):
        optimizer = O.SGD().setup(Pair())
        for timing in ("auto", "never", None):
            with pytest.raises(ValueError, match="timing must be either 'pre' or 'post', got"):
                optimizer.call_hooks(timing)

    def test_optimizer_without_rules(self):
        class Own(Optimizer):
            pass

        model = Pair()
        optimizer = Own().setup(model)
        hook = mock.MagicMock(timing="pre", call_for_each_param=True)
        optimizer.add_hook(hook, "hook")
        optimizer.call_hooks()
        assert hook.call_args_list == [mock.call(None, model.W), mock.call(None, model.child.b)]

    def test_parameter_added_after_setup(self):
        model = Pair()
        optimizer = O.SGD().setup(model)
        with model.init_scope():
            model.late = Parameter(np.ones(1, np.float32))
        hook = mock.MagicMock(timing="pre", call_for_each_param=True)
        optimizer.add_hook(hook, "hook")
        optimizer.add_hook(H.GradientNoise(0.0))
        optimizer.add_hook(H.WeightDecay(0.5))
        set_grads(model)
        with pytest.warns(MisuseWarning, match=r"'/late' has a gradient but is not updated"):
            optimizer.update()
        expected = [mock.call(param.update_rule, param) for param in model.params()]
        assert hook.call_args_list == expected
        assert model.late.update_rule is None
        np.testing.assert_array_equal(model.late.array, [1])
        np.testing.assert_allclose(model.late.grad, [1.5])

    def test_disabled_rules_are_passed_too(self):
        model = Pair()
        optimizer = O.SGD().setup(model)
        model.disable_update()
        hook = mock.MagicMock(timing="pre", call_for_each_param=True)
        optimizer.add_hook(hook, "hook")
        set_grads(model)
        optimizer.update()
        assert hook.call_count == 2

    def test_call_hook_directly(self):
        model = Pair()
        optimizer = O.SGD().setup(model)
        model.cleargrads()
        seen = []
        optimizer.call_hook(seen.append)
        assert seen == [optimizer]
        np.testing.assert_array_equal(model.W.grad, [0, 0])  # reallocated after the hook

    def test_overridden_call_hook(self):
        class Only(O.SGD):
            def call_hook(self, hook):
                if hook is not skipped:
                    super().call_hook(hook)

        optimizer = Only().setup(Pair())
        calls = []
        skipped = lambda opt: calls.append("skipped")
        optimizer.add_hook(skipped, "skipped")
        optimizer.add_hook(lambda opt: calls.append("called"), "called")
        set_grads(optimizer.target)
        optimizer.update()
        assert calls == ["called"]

    def test_own_call_of_a_subclass(self):
        class Half(H.WeightDecay):
            def __call__(self, rule, param):
                super().__call__(rule, param)
                param.grad *= 0.5

        model = Pair()
        optimizer = O.SGD(1.0).setup(model)
        optimizer.add_hook(Half(1.0))
        set_grads(model)
        optimizer.update()
        np.testing.assert_array_equal(model.W.array, [1 - (1 + 1) / 2, 2 - (1 + 2) / 2])
        assert not Half.can_group
        assert H.WeightDecay.can_group

    def test_parameters_without_array_or_gradient(self):
        model = Pair(lazy=True)
        optimizer = O.SGD().setup(model)
        model.W.cleargrad()
        for hook in (H.WeightDecay(1), H.Lasso(1), H.GradientHardClipping(-1, 1), H.GradientLARS(),
                     H.GradientNoise(1)):  # fmt: skip
            for param in model.params():
                hook(param.update_rule, param)
                assert param.array is None or param.grad is None
        H.GradientClipping(1)(optimizer)


class TestGrouping:
    def test_which_rules_can_be_grouped(self):
        sgd = O.sgd.SGDRule
        steps = ("update", "update_core", "update_core_cpu", "update_core_gpu")
        for step in steps:
            assert not type("Own", (sgd,), {step: lambda self, param: None}).is_grouped
            mixin = type("Mixin", (), {step: lambda self, param: None})
            assert not type("Mixed", (mixin, sgd), {}).is_grouped
        assert type("Other", (sgd,), {"init_state": lambda self, param: None}).is_grouped
        assert sgd.is_grouped
        assert not Scale.is_grouped

    @pytest.mark.parametrize("step", ["update", "update_core", "update_core_cpu"])
    def test_step_that_is_replaced_on_a_rule(self, step):
        model = Pair()
        optimizer = O.SGD(1.0).setup(model)
        set_grads(model)
        with mock.patch.object(model.W.update_rule, step) as replaced:
            optimizer.update()
        replaced.assert_called_once_with(model.W)
        np.testing.assert_array_equal(model.W.array, [1, 2])

    def test_hooks_of_a_rule_find_the_parameters_before_updated(self):
        model = chainer.Link(a=(2,), b=(2,), c=(2,))
        for param in model.params():
            param.array[...] = 1
            param.grad = np.ones(2, np.float32)
        optimizer = O.SGD(1.0).setup(model)
        seen = []
        model.b.update_rule.add_hook(
            lambda rule, param: seen.append([p.array[0] for p in model.params()]), "look"
        )
        optimizer.update()
        assert seen == [[0, 1, 1]]
        assert [p.array[0] for p in model.params()] == [0, 0, 0]


def test_small_parameters_are_updated_as_alone():
    """Joined or not: equal bits, for all shapes, and parameters that share memory one by one."""
    from chainer.backends.numpy.kernels import optimizer_updates as kernels

    random = np.random.RandomState(0)
    shapes = [(3,), (), (0, 2), (4, 5), (7,), (1,), (2, 2, 2), (5,), (16, 16), (300,), (3, 4)]
    values = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    values[-1] = values[-1].T  # not contiguous
    results = []
    for fewest in (kernels.FEWEST_JOINED, 1000):
        model = chainer.ChainList()
        with mock.patch.object(kernels, "FEWEST_JOINED", fewest):
            for value in values:
                link = chainer.Link()
                with link.init_scope():
                    link.p = Parameter(value.copy("A"))
                model.append(link)
            shared = np.arange(12, dtype=np.float32)
            for part in (shared[:8], shared[4:]):
                link = chainer.Link()
                with link.init_scope():
                    link.p = Parameter(np.zeros(1, np.float32))
                    link.p.array = part
                model.append(link)
            optimizer = O.Adam().setup(model)
            for _ in range(3):
                for param in model.params():
                    param.grad = np.asarray(param.array * np.float32(2))
                optimizer.update()
        results.append([param.array.copy() for param in model.params()])
    for joined, alone in zip(*results, strict=True):
        np.testing.assert_array_equal(joined, alone)


def test_update_core_chainerx_is_update_core():
    param = Parameter(np.ones(2, np.float32))
    param.grad = np.ones(2, np.float32)
    O.SGD(0.5).create_update_rule().update_core_chainerx(param)
    np.testing.assert_array_equal(param.array, [0.5, 0.5])


def test_mocked_rules_are_updated():
    class Method(chainer.GradientMethod):
        def create_update_rule(self):
            return mock.MagicMock()

    model = Pair()
    optimizer = Method().setup(model)
    hook = mock.MagicMock(timing="pre", call_for_each_param=True)
    optimizer.add_hook(hook, "hook")
    set_grads(model)
    optimizer.update()
    for param in model.params():
        param.update_rule.update.assert_called_once_with(param)
        hook.assert_any_call(param.update_rule, param)


def test_states_are_like_the_parameter():
    for dtype in (np.float16, np.float32, np.float64):
        param = Parameter(np.ones((2, 3), dtype))
        param.grad = np.ones((2, 3), dtype)
        for name in ALL:
            rule = getattr(O, name)(**({"eps": 1e-3} if name == "RMSprop" else {}))
            rule = rule.create_update_rule()
            assert isinstance(rule, DeclaredRule)
            rule.update(param)
            assert {(s.shape, s.dtype) for s in rule.state.values()} <= {((2, 3), np.dtype(dtype))}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("updates", [0, 2])
def test_pickled_optimizer_goes_on(name, updates):
    model = Pair()
    optimizer = getattr(O, name)().setup(model)
    optimizer.add_hook(H.WeightDecay(0.1))
    for _ in range(updates):
        set_grads(model)
        optimizer.update()
    other = pickle.loads(pickle.dumps(optimizer))
    for each in (optimizer, other):
        set_grads(each.target)
        each.update()
    assert other.target is not model
    assert (other.t, other.target.W.update_rule.t) == (updates + 1, updates + 1)
    for one, two in zip(model.params(), other.target.params(), strict=True):
        np.testing.assert_array_equal(one.array, two.array)


def test_names_of_the_module():
    ours = {
        name
        for name in dir(O)
        if isinstance(getattr(O, name), type)
        and issubclass(getattr(O, name), Optimizer)
        and getattr(O, name).__module__.startswith("chainer.")
    }
    assert ours == {*ALL, *RECENT}


def test_custom_rules_with_a_state_still_work():
    model = Pair()
    optimizer = ScaleMethod().setup(model)
    set_grads(model)
    optimizer.update()
    np.testing.assert_array_equal(model.W.update_rule.state["sum"], [1, 1])
