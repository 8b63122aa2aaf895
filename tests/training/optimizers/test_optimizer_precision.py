"""Loss scaling, and float16 parameters updated in float32."""

from __future__ import annotations

import numpy as np
import pytest

from chainer.core.autograd.parameter import Parameter
from chainer.links.link import Link
from chainer.links.serializers.npz import NpzDeserializer
from chainer.training import optimizers as O
from tests.training.small_models import Pair, save


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

    def test_the_copy_is_a_parameter(self):
        param = Parameter(np.ones(1, np.float16), name="p")
        rule = param.update_rule = O.SGD(0.5).create_update_rule()
        rule.use_fp32_update()
        seen = []
        rule.add_hook(lambda rule, p: seen.append(p), "hook")
        param.grad = np.ones(1, np.float16)
        param.update()
        assert type(seen[0]) is Parameter
        assert (seen[0].dtype, seen[0].name) == (np.float32, "p")
        np.testing.assert_array_equal(param.array, np.float16([0.5]))

    def test_state_is_float32(self):
        model = Link()
        with model.init_scope():
            model.p = Parameter(np.ones(1, np.float16))
        optimizer = O.Adam().setup(model)
        optimizer.use_fp32_update()  # also after setup
        model.p.grad = np.ones(1, np.float16)
        optimizer.update()
        assert model.p.update_rule.state["m"].dtype == np.float32

    def test_hooks_get_the_true_gradient_in_order(self):
        model = Link()
        with model.init_scope():
            model.p = Parameter(np.ones(1, np.float16))
        optimizer = O.SGD(1.0)
        optimizer.use_fp32_update()
        optimizer.setup(model).set_loss_scale(2.0**10)
        seen = []

        def triple(rule, param):
            seen.append((param.dtype, float(param.grad[0])))
            param.grad *= 3

        triple.call_for_each_param = True
        optimizer.add_hook(triple, "first")
        optimizer.add_hook(lambda opt: seen.append(float(model.p.grad[0])), "second")
        optimizer.add_hook(triple, "third")
        optimizer.update(lambda: model.p[0] * np.float16(2.0**-8))
        assert seen == [(np.float32, 2.0**-8), 3 * 2.0**2, (np.float32, 3 * 2.0**-8)]
        np.testing.assert_array_equal(model.p.array, np.float16([1 - 9 * 2.0**-8]))

    def test_eps_too_small_for_float16(self):
        model = Link()
        with model.init_scope():
            model.p = Parameter(np.ones(1, np.float16))
        optimizer = O.RMSprop().setup(model)
        model.p.grad = np.ones(1, np.float16)
        with pytest.raises(ValueError, match="eps of RMSprop optimizer is too small for float16"):
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
