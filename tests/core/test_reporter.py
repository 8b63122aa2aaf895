import copy
import threading

import numpy as np
import pytest

import chainer
from chainer.core.reporter import (
    DictSummary,
    Reporter,
    Summary,
    get_current_reporter,
    report,
    report_scope,
)
from chainer.links.serializers.npz import DictionarySerializer, NpzDeserializer


def test_names_of_reported_values():
    reporter = Reporter()
    observer, child = object(), object()
    reporter.add_observer("main", observer)
    reporter.add_observers("main", [("/child", child)])
    observation = {}
    with reporter.scope(observation):
        reporter.report({"x": 1}, observer)
        report({"y": 2}, child)
        report({"z": 3})
    assert observation == {"main/x": 1, "main/child/y": 2, "z": 3}
    assert reporter.observation == {}


def test_observers_are_told_apart_by_identity():
    reporter = Reporter()
    first, second = np.zeros(2), np.zeros(2)
    reporter.add_observer("a", first)
    reporter.add_observer("b", second)
    reporter.report({"x": 1}, second)
    assert reporter.observation == {"b/x": 1}


def test_unregistered_observer_is_an_error_that_says_so():
    with Reporter(), pytest.raises(KeyError, match="add_observer"):
        report({"x": 1}, object())


def test_report_without_reporter_does_nothing():
    report({"x": 1})
    report({"x": 1}, object())


def test_current_reporter_and_report_scope():
    with pytest.raises(IndexError, match="no reporter is current"):
        get_current_reporter()
    with pytest.raises(IndexError), report_scope({}):
        pass
    outer, inner = Reporter(), Reporter()
    observation = {}
    with outer:
        with inner:
            assert get_current_reporter() is inner
        assert get_current_reporter() is outer
        with report_scope(observation):
            report({"x": 1})
        report({"y": 2})
    assert observation == {"x": 1}
    assert outer.observation == {"y": 2}


def test_scope_is_left_when_its_body_raises():
    reporter = Reporter()
    before = reporter.observation
    with pytest.raises(ZeroDivisionError), reporter.scope({}):
        1 / 0
    assert reporter.observation is before
    with pytest.raises(IndexError):
        get_current_reporter()


def test_reporters_are_current_in_their_own_thread_only():
    seen = []

    def run():
        try:
            get_current_reporter()
        except IndexError:
            seen.append("none")

    with Reporter():
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert seen == ["none"]


def test_copy_has_its_own_observers():
    reporter = Reporter()
    observer = object()
    reporter.add_observer("a", observer)
    other = copy.copy(reporter)
    other.add_observer("b", observer)
    reporter.report({"x": 1}, observer)
    assert reporter.observation == {"a/x": 1}


def test_variables_are_cut_from_their_graph_unless_told_otherwise():
    x = chainer.Variable(np.ones((), np.float32))
    with chainer.using_config("keep_graph_on_report", False):
        reporter = Reporter()
        reporter.report({"x": x})
    reported = reporter.observation["x"]
    assert reported is not x
    assert reported.array is x.array
    assert reported.creator is None
    with chainer.using_config("keep_graph_on_report", True):
        reporter.report({"x": x})
    assert reporter.observation["x"] is x


class TestSummary:
    def test_statistics(self):
        values = np.array([1.0, 2.0, 6.0])
        summary = Summary()
        for value in values:
            summary.add(value)
        mean, std = summary.make_statistics()
        assert mean == summary.compute_mean() == 3.0
        np.testing.assert_allclose(std, values.std())

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
        summary.add({"a": (4.0, 1)})
        assert summary.make_statistics() == {"a": 2.0, "a.std": pytest.approx(1.4142135623730951)}

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
