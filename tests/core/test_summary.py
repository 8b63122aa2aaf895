import numpy as np
import pytest

import chainer
from chainer import reporter
from chainer.core.reporting.summary import DictSummary, Summary
from chainer.links.serializers.npz import DictionarySerializer, NpzDeserializer


def test_public_names():
    assert reporter.Summary is chainer.Summary is Summary
    assert reporter.DictSummary is chainer.DictSummary is DictSummary


class TestSummary:
    def test_statistics(self):
        values = np.array([1.0, 2.0, 6.0])
        summary = Summary()
        for value in values:
            summary.add(value)
        mean, std = summary.make_statistics()
        assert mean == summary.compute_mean() == 3.0
        np.testing.assert_allclose(std, values.std())

    def test_values_of_another_device_than_the_current(self):
        pytest.importorskip("chainer_strict_backend")
        summary = Summary()
        for value in (1.0, 2.0, 6.0):
            summary.add(chainer.get_device("@strict:1").send(np.array(value, np.float32)))
        mean, std = summary.make_statistics()
        assert mean.device_index == std.device_index == 1
        assert float(mean) == 3.0

    @pytest.mark.parametrize(
        "value",
        [3, 3.0, np.float16(3), np.float32(3), np.array(3, np.int32), np.array(3.0, np.float32)],
    )
    def test_accepted_values(self, value):
        summary = Summary()
        summary.add(value)
        summary.add(chainer.Variable(np.array(5, np.float32)))
        assert summary.compute_mean() == 4.0

    def test_sums_are_in_double_precision(self):
        summary = Summary()
        for _ in range(1000):
            summary.add(np.float32(0.1))
        assert abs(summary.compute_mean() - np.float64(np.float32(0.1))) < 1e-12

    def test_weights(self):
        summary = Summary()
        summary.add(1.0, weight=2)
        summary.add(4.0, weight=1)
        assert summary.compute_mean() == 2.0

    def test_nothing_added(self):
        with pytest.raises(ZeroDivisionError):
            Summary().compute_mean()

    def test_serialization(self):
        summary = Summary()
        summary.add(1.0)
        summary.add(3.0, weight=0.5)
        target = {}
        DictionarySerializer(target).save(summary)
        assert set(target) == {"_x", "_x2", "_n"}
        loaded = Summary()
        NpzDeserializer(target).load(loaded)
        assert loaded.make_statistics() == summary.make_statistics()


class TestDictSummary:
    def test_statistics(self):
        summary = DictSummary()
        summary.add({"x": 1.0, "y": chainer.Variable(np.array(2.0, np.float32))})
        summary.add({"x": 3})
        assert summary.compute_mean() == {"x": 2.0, "y": 2.0}
        assert summary.make_statistics() == {"x": 2.0, "x.std": 1.0, "y": 2.0, "y.std": 0.0}

    def test_only_scalars_count(self):
        summary = DictSummary()
        summary.add({"text": "x", "none": None, "vector": np.zeros(2), "list": [1], "yes": True})
        assert summary.compute_mean() == {"yes": 1.0}

    def test_pairs_of_value_and_weight(self):
        # mean and deviation: made by 7.8.1
        summary = DictSummary()
        summary.add({"a": (1.0, 2)})
        summary.add({"a": (4.0, 1, "ignored")})
        assert summary.make_statistics() == {"a": 2.0, "a.std": pytest.approx(1.4142135623730951)}

    def test_weights_in_single_precision(self):
        summary = DictSummary()
        summary.add({"a": (np.float32(2**24), np.array(1, np.float32))})
        summary.add({"a": (1.0, chainer.Variable(np.array(1, np.float32)))})
        assert summary.compute_mean() == {"a": (2**24 + 1) / 2}

    def test_empty(self):
        assert DictSummary().compute_mean() == {}

    def test_serialization(self):
        summary = DictSummary()
        summary.add({"a": 1.0, "b/c": np.array(3.0)})
        summary.add({"a": 2.0})
        target = {}
        DictionarySerializer(target).save(summary)
        # as 4.3.1 and 7.8.1 write it
        assert target["_names"].item() == '["a", "b/c"]'
        assert target["_summaries/0/_x"] == 3.0
        assert target["_summaries/1/_n"] == 1
        loaded = DictSummary()
        loaded.add({"other": 7.0})
        NpzDeserializer(target).load(loaded)
        assert loaded.make_statistics() == summary.make_statistics()
        loaded.add({"a": 3.0})
        assert loaded.compute_mean()["a"] == 2.0


@pytest.mark.parametrize("weight", [np.ones(2), np.ones(1), None, [1]])
@pytest.mark.parametrize("value", [1.0, "text"])
def test_weight_that_is_not_a_scalar(value, weight):
    with pytest.raises(ValueError, match="weight of 'a' must be a scalar"):
        chainer.DictSummary().add({"a": (value, weight)})
