from __future__ import annotations

import numpy as np
import pytest

from chainer.links.serializers.npz import NpzDeserializer
from chainer.training import optimizers as O
from chainer.training.optimizers.update_rule import UpdateRule
from tests.training.small_models import Pair, ScaleMethod, save, set_grads


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

    @pytest.mark.parametrize("keys", [["W/m", "W/v"], ["W/v"]])
    def test_disabled_rule_without_a_saved_state(self, keys):
        state = save(self.trained())
        for key in keys:
            del state[key]
        other = O.Adam().setup(Pair())
        other.target.W.update_rule.enabled = False
        NpzDeserializer(state).load(other)
        assert other.target.W.update_rule.state is None
        assert other.target.W.update_rule.t == 2
        assert other.target.child.b.update_rule.state is not None
        other.target.W.update_rule.enabled = True
        set_grads(other.target)
        other.update()  # the state is made now
        assert (other.target.W.array < [1, 2]).all()

    def test_disabled_rule_that_was_never_updated(self):
        first = O.Adam().setup(Pair())
        first.target.W.update_rule.enabled = False
        set_grads(first.target)
        first.update()
        state = save(first)
        assert "W/m" not in state
        second = O.Adam().setup(Pair())
        second.target.W.update_rule.enabled = False
        NpzDeserializer(state).load(second)
        assert (second.t, second.target.W.update_rule.t) == (1, 0)

    def test_half_a_state_that_is_not_strict(self):
        state = save(self.trained())
        del state["W/v"]
        other = O.Adam().setup(Pair())
        NpzDeserializer(state, strict=False).load(other)
        assert other.target.W.update_rule.state is None  # made anew at the next update
        set_grads(other.target)
        other.update()

    def test_stand_in_for_the_names_of_the_state(self):
        class Rule(UpdateRule):
            def init_state(self, param):
                seen.append((param.shape, param.dtype))
                self.state["first"] = param.array.reshape(-1)[:1].copy()

            def update_core(self, param):
                pass

        seen = []
        rule = Rule()
        state = {"t": np.array(3), "first": np.array([5], np.float32)}
        rule.serialize(NpzDeserializer(state))
        assert seen == [((1,), np.float32)]
        np.testing.assert_array_equal(rule.state["first"], [5])

    def test_loaded_state_is_used_and_moved(self):
        state = save(self.trained())
        other = O.Adam().setup(Pair())
        NpzDeserializer(state).load(other)
        first = self.trained()
        other.target.copyparams(first.target)
        for optimizer in (first, other):
            set_grads(optimizer.target, 0.5)
            optimizer.update()
        np.testing.assert_array_equal(first.target.W.array, other.target.W.array)
