"""Fixed and dynamic loss scaling. The numbers of dynamic scaling are those of release 7.8.1."""

from __future__ import annotations

import copy
import warnings
from unittest import mock

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.core.autograd.parameter import Parameter
from chainer.training import optimizers as O
from chainer.training.optimizers import hooks as H
from tests.training.small_models import Pair, save


@pytest.fixture
def model():
    link = chainer.Link()
    with link.init_scope():
        link.p = Parameter(np.array([1, 2], np.float32))
        link.q = Parameter(np.ones(1, np.float32))
        link.lazy = Parameter(0)
    return link


def loss(model, factor):
    return F.sum(model.p * np.float32(factor)) + F.sum(model.q)


def update(optimizer, factor):
    """Makes an update; returns the messages of warnings about the gradients."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        optimizer.update(loss, optimizer.target, factor)
    return [str(w.message) for w in caught if "Non finite" in str(w.message)]


class TestDynamic:
    def test_scales_and_skipped_updates(self, model):
        optimizer = O.SGD(0.5).setup(model)
        optimizer.loss_scaling(interval=4)
        assert optimizer._loss_scale == 1
        seen = []
        for factor in (1, 1, np.nan, 1, 1, np.inf, 1):
            messages = update(optimizer, factor)
            assert bool(messages) is not bool(np.isfinite(factor))
            assert optimizer.is_safe_to_update() is bool(np.isfinite(factor))
            rule = model.p.update_rule
            seen.append((optimizer._loss_scale, optimizer.t, rule.t, model.p.array[0]))
        scales, ts, rule_ts, values = zip(*seen, strict=True)
        expected = [
            2.0, 4.0, 2.0, 2.378414230005442, 2.82842712474619, 1.414213562373095,
            1.6817928305074288,
        ]  # fmt: skip
        np.testing.assert_allclose(scales, expected, rtol=1e-12)
        assert ts == (1, 2, 3, 4, 5, 6, 7)
        assert rule_ts == (1, 2, 2, 3, 4, 4, 5)
        np.testing.assert_allclose(values, [0.5, 0, 0, -0.5, -1, -1, -1.5], rtol=1e-6)

    def test_warning_names_parameter_iteration_and_scale(self, model):
        optimizer = O.SGD().setup(model)
        optimizer.loss_scaling(interval=4)
        update(optimizer, 1)
        messages = update(optimizer, np.inf)
        assert messages == [
            "Non finite number found in param.grad of /p (iteration: 1, loss_scale: 2.0)"
        ]

    def test_one_warning_for_each_parameter(self):
        model = Pair()
        optimizer = O.SGD().setup(model)
        optimizer.loss_scaling()
        model.W.grad = np.array([1, np.inf], np.float32)
        model.child.b.grad = np.array([np.nan], np.float32)
        with pytest.warns(UserWarning, match="param.grad of") as caught:
            optimizer.check_nan_in_grads()
        assert [str(w.message).split(" of ")[1].split()[0] for w in caught] == ["/W", "/child/b"]
        assert not optimizer.is_safe_to_update()
        model.W.grad[1] = model.child.b.grad[0] = 1
        optimizer.check_nan_in_grads()
        assert optimizer.is_safe_to_update()

    def test_hooks_of_both_timings_run_when_an_update_is_skipped(self, model):
        optimizer = O.SGD().setup(model)
        optimizer.loss_scaling()
        calls = []
        for timing in ("pre", "post"):
            optimizer.add_hook(lambda opt, timing=timing: calls.append((timing, opt.t)), timing,
                               timing=timing)  # fmt: skip
        optimizer.add_hook(H.GradientClipping(1.0))
        update(optimizer, np.inf)
        assert calls == [("pre", 0), ("post", 1)]

    def test_scale_stays_between_1_and_65504(self, model):
        optimizer = O.SGD(0.0).setup(model)
        optimizer.loss_scaling(interval=1)
        for _ in range(20):
            update(optimizer, 1)
        assert optimizer._loss_scale == 65504
        for _ in range(20):
            update(optimizer, np.nan)
        assert optimizer._loss_scale == 1

    def test_hooks_see_true_gradients(self, model):
        optimizer = O.SGD(0.0).setup(model)
        optimizer.loss_scaling()
        seen = []
        optimizer.add_hook(lambda opt: seen.append((model.p.grad[0], model.p._loss_scale)), "hook")
        for _ in range(3):
            update(optimizer, 5)
        assert seen == [(5, None)] * 3

    def test_float16_updated_in_float32(self):
        model = chainer.Link()
        with model.init_scope():
            model.p = Parameter(np.ones(1, np.float16))
        optimizer = O.SGD(1.0)
        optimizer.use_fp32_update()
        optimizer.setup(model).loss_scaling(interval=2)
        values = []
        for factor in (2.0**-11, 2.0**-11, 60000, 60000, 2.0**-11):
            # 60000 overflows once it is multiplied by the loss scale.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                optimizer.update(lambda factor=factor: F.sum(model.p * np.float16(factor)))
            values.append((float(model.p.update_rule._fp32_param.array[0]), optimizer._loss_scale))
        one = 2.0**-11
        assert values[0] == (1 - one, 2)
        assert values[1] == (1 - 2 * one, 4)
        assert values[2] == (1 - 2 * one, 2)  # skipped
        assert values[3] == (1 - 2 * one, 1)  # skipped
        assert values[4] == (1 - 3 * one, pytest.approx(2**0.5))

    def test_restart_forgets(self, model):
        optimizer = O.SGD().setup(model)
        optimizer.loss_scaling(interval=4)
        update(optimizer, np.nan)
        optimizer.loss_scaling(interval=4)
        assert optimizer.is_safe_to_update()
        update(optimizer, 1)
        assert optimizer._loss_scale == 2  # doubles again

    def test_fixed_scale_does_not_end_dynamic_scaling(self, model):
        optimizer = O.SGD().setup(model)
        optimizer.loss_scaling()
        optimizer.loss_scaling(scale=4.0)
        update(optimizer, 1)
        assert optimizer._loss_scale == 8

    def test_copy_has_its_own_state(self, model):
        optimizer = O.SGD().setup(model)
        optimizer.loss_scaling()
        other = copy.deepcopy(optimizer)
        update(other, np.nan)
        assert optimizer.is_safe_to_update()
        assert not other.is_safe_to_update()


class TestFixed:
    def test_none_switches_off(self, model):
        # Release 7 switched dynamic scaling on; None means "no scaling" for updaters.
        optimizer = O.SGD().setup(model)
        optimizer.loss_scaling()
        optimizer.set_loss_scale(None)
        assert optimizer._loss_scale is None
        update(optimizer, 1)
        assert optimizer._loss_scale is None

    def test_does_not_check(self, model):
        optimizer = O.SGD().setup(model)
        optimizer.set_loss_scale(8)
        assert update(optimizer, np.nan) == []
        assert optimizer.is_safe_to_update()
        assert np.isnan(model.p.array).all()

    def test_defaults_before_any_update(self):
        optimizer = O.Adam()
        assert optimizer.is_safe_to_update()
        optimizer.update_loss_scale()
        optimizer.check_nan_in_grads()
        assert optimizer._loss_scale is None

    def test_setup_keeps_the_scale(self, model):
        optimizer = O.SGD()
        optimizer.set_loss_scale(8.0)
        optimizer.use_auto_new_epoch = True
        optimizer.setup(model)
        assert optimizer._loss_scale == 8
        assert optimizer.use_auto_new_epoch

    @pytest.mark.parametrize("dtype", [np.float16, np.float32])
    @pytest.mark.parametrize("in_float32", [False, True])
    def test_parameters_without_axes(self, dtype, in_float32):
        link = chainer.Link(p=((), dtype))
        link.p.array[...] = 2
        optimizer = O.SGD(0.25)
        optimizer.use_fp32_update(in_float32)
        optimizer.setup(link)
        link.p.update_rule.add_hook(lambda rule, param: None, name="hook")
        optimizer.set_loss_scale(8.0)
        optimizer.update(lambda: link.p * link.p)
        assert type(link.p.array) is np.ndarray
        assert (link.p.array, link.p.dtype) == (1, dtype)

    def test_is_not_saved(self, model):
        optimizer = O.SGD().setup(model)
        before = set(save(optimizer))
        optimizer.loss_scaling()
        assert set(save(optimizer)) == before

    @pytest.mark.parametrize("scale", [0, -1.0, float("inf"), float("nan")])
    def test_bad_scale(self, scale):
        optimizer = O.SGD()
        with pytest.raises(ValueError, match=f"must be a positive finite number, got {scale}"):
            optimizer.loss_scaling(scale=scale)
        assert optimizer._loss_scale is None

    @pytest.mark.parametrize("interval", [0, 0.5, -3])
    def test_bad_interval(self, interval):
        with pytest.raises(ValueError, match=f"interval must be at least 1, got {interval}"):
            O.SGD().loss_scaling(interval=interval)


HOOKS = [
    H.WeightDecay(0.1),
    H.Lasso(0.1),
    H.GradientClipping(1.0),
    H.GradientHardClipping(-0.5, 0.5),
    H.GradientLARS(weight_decay=0.1),
    H.GradientNoise(0.3, lambda xp, shape, dtype, hook, rule: xp.ones(shape, dtype)),
]


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook.name)
@pytest.mark.parametrize("own_update", [False, True])
def test_hooks_give_the_same_with_and_without_a_scale(hook, own_update):
    class Copied(O.SGD):
        """An update method copied from a program of release 7."""

        def update(self, lossfun=None, *args, **kwds):
            loss = lossfun(*args, **kwds)
            self.target.cleargrads()
            loss.backward(loss_scale=self._loss_scale)
            self.reallocate_cleared_grads()
            self.check_nan_in_grads()
            self.call_hooks("pre")
            self.t += 1
            if self.is_safe_to_update():
                for param in self.target.params():
                    param.update()
            self.reallocate_cleared_grads()
            self.call_hooks("post")
            self.update_loss_scale()

    results = []
    for scale in (None, 8.0):
        model = Pair()
        optimizer = (Copied if own_update else O.SGD)(0.5).setup(model)
        optimizer.set_loss_scale(scale)
        optimizer.add_hook(hook)
        for _ in range(2):
            optimizer.update(lambda m=model: F.sum(m.W * m.W) + F.sum(m.child.b))
        results.append((model.W.array, model.child.b.array))
    for plain, scaled in zip(*results, strict=True):
        np.testing.assert_allclose(plain, scaled, rtol=1e-6)


def test_weight_decay_of_a_program_reads_the_private_name():
    def decay(rule, param):
        rate = 0.1
        if param._loss_scale is not None:
            rate *= param._loss_scale
        param.grad += rate * param.array

    decay.call_for_each_param = True
    model = chainer.Link(p=(1,))
    model.p.array[...] = 1
    optimizer = O.SGD(1.0).setup(model)
    optimizer.set_loss_scale(8.0)
    optimizer.add_hook(decay)
    optimizer.update(lambda: F.sum(model.p))
    np.testing.assert_allclose(model.p.array, [1 - 1.1], rtol=1e-6, atol=1e-7)


def test_gradients_filled_by_hand_with_the_private_name():
    param = Parameter(np.ones(1, np.float32))
    assert param._loss_scale is None
    param.update_rule = O.SGD(1.0).create_update_rule()
    param.grad = np.array([8], np.float32)
    param._loss_scale = 4.0
    assert param.loss_scale == 4
    param.update()
    np.testing.assert_array_equal(param.array, [-1])
    assert param._loss_scale is None


def test_mocked_loss():
    optimizer = O.SGD().setup(Pair())
    optimizer.set_loss_scale(4.0)
    lossfun = mock.MagicMock()
    optimizer.update(lossfun, 1, factor=2)
    assert lossfun.call_args_list == [mock.call(1, factor=2)]
    lossfun.return_value.backward.assert_called_once_with(loss_scale=4.0)


def test_update_calls_each_step_by_name():
    calls = []

    class Recording(O.SGD):
        pass

    names = ("reallocate_cleared_grads", "check_nan_in_grads", "call_hooks", "call_hook",
             "is_safe_to_update", "update_loss_scale")  # fmt: skip
    for name in names:

        def method(self, *args, name=name):
            calls.append((name, *[a for a in args if isinstance(a, str)], self.t))
            return getattr(super(Recording, self), name)(*args)

        setattr(Recording, name, method)
    optimizer = Recording().setup(Pair())
    optimizer.add_hook(lambda opt: None, "hook")
    optimizer.target.cleargrads()
    optimizer.update()
    assert calls == [
        ("reallocate_cleared_grads", 0),
        ("check_nan_in_grads", 0),
        ("call_hooks", "pre", 0),
        ("call_hook", 0),
        ("reallocate_cleared_grads", 0),
        ("is_safe_to_update", 1),
        ("reallocate_cleared_grads", 1),
        ("call_hooks", "post", 1),
        ("update_loss_scale", 1),
    ]


def test_gradients_of_a_part_that_is_computed_again():
    """Release 7.8.1 does not divide them, because the inner pass knows no scale."""
    weights = []
    for scale in (None, 8.0):
        link = chainer.links.Linear(2, 2, initialW=np.ones((2, 2), np.float32))
        optimizer = chainer.optimizers.SGD(0.1).setup(link)
        optimizer.set_loss_scale(scale)
        optimizer.update(lambda x, link=link: F.sum(F.forget(link, x) ** 2), np.ones((1, 2), "f"))
        weights.append(link.W.array)
    np.testing.assert_allclose(*weights, rtol=1e-6)
