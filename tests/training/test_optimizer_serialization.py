from __future__ import annotations

import numpy as np
import pytest

from chainer.links.serializers.npz import NpzDeserializer
from chainer.training import optimizers as O
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
