"""The profiler."""

import contextlib
import json
import sys

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import profiler
from chainer.core import spans
from chainer.functions.hooks.profiler import Profile, Span


def train(steps=3, device="@numpy"):
    model = L.Linear(3, 2)
    model.to_device(device)
    optimizer = chainer.optimizers.SGD().setup(model)
    iterator = chainer.iterators.SerialIterator(np.ones((8, 3), np.float32), 4)
    for _ in range(steps):
        x = chainer.dataset.concat_examples(iterator.next(), device)
        loss = F.sum(F.relu(model(x)))
        model.cleargrads()
        loss.backward()
        optimizer.update()


@pytest.mark.parametrize("device", ["@numpy", "@strict"])
def test_functions_updates_and_data_are_recorded(device):
    with profiler.profile(synchronize=device == "@strict") as result:
        train(device=device)
    calls = {(row.category, row.name): row.calls for row in result.rows()}
    assert calls["forward", "ReLU"] == calls["backward", "ReLU"] == 3
    assert calls["update", "SGD"] == 3
    assert calls["data", "SerialIterator"] == calls["data", "concat_examples"] == 3
    assert 0 < sum(row.own for row in result.rows()) <= result.seconds
    text = str(result)
    assert "ReLU" in text and "in Python between them" in text
    assert "<td>ReLU</td>" in result._repr_html_()
    count = len(result.spans)
    train()
    assert len(result.spans) == count and spans.active.recorder is None


def test_own_time_is_without_what_is_inside():
    result = Profile()
    result.spans = [
        Span("forward", "inner", 20, 30, 1),
        Span("forward", "inner", 40, 60, 1),
        Span("data", "other thread", 25, 70, 2),
        Span("forward", "outer", 10, 90, 1),
        Span("forward", "inner", 100, 105, 1),
    ]
    rows = {row.name: row for row in result.rows()}
    assert rows["outer"].total == pytest.approx(80e-9)
    assert rows["outer"].own == pytest.approx(50e-9)
    assert rows["inner"].calls == 3 and rows["inner"].own == pytest.approx(35e-9)
    assert rows["inner"].longest == pytest.approx(20e-9)
    assert rows["other thread"].own == pytest.approx(45e-9)
    assert result.rows()[0].name == "outer"


def test_trace(tmp_path):
    with profiler.profile(memory=sys.platform.startswith("linux")) as result:
        train(1)
    result.save_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    complete = [event for event in events if event["ph"] == "X"]
    assert {event["cat"] for event in complete} == {"forward", "backward", "update", "data"}
    assert all(event["dur"] > 0 and event["ts"] >= 0 for event in complete)
    if sys.platform.startswith("linux"):
        sizes = [event["args"]["bytes"] for event in events if event["ph"] == "C"]
        assert len(sizes) > 3 and min(sizes) > 1e6
        assert "memory: at most" in str(result)


def test_an_error_ends_the_recording():
    with pytest.raises(RuntimeError, match="inside"), profiler.profile() as result:
        train(1)
        raise RuntimeError("inside")
    assert spans.active.recorder is None and result.rows()
    with profiler.profile() as result:
        train(1)
    assert result.rows()


def test_profiles_cannot_be_nested():
    with (
        profiler.profile(),
        pytest.raises(RuntimeError, match="cannot be nested"),
        profiler.profile(),
    ):
        pass
    assert spans.active.recorder is None


def test_the_graph_is_not_kept():
    import weakref

    with profiler.profile():
        y = F.relu(chainer.Variable(np.ones(3, np.float32)))
        node = weakref.ref(y.creator_node)
        del y
        assert node() is None


def test_backward_computes_as_without_a_profile():
    class Watch(chainer.FunctionHook):
        def __init__(self):
            self.seen = []

        def forward_preprocess(self, function, in_data):
            self.seen.append(function.label)

    def gradient():
        x = chainer.Variable(np.array([0.5, -1.0], np.float32))
        chainer.functions.sum(chainer.functions.relu(x) * x).backward()
        return x.grad

    expected = gradient()
    with chainer.profiler.profile() as result:
        np.testing.assert_array_equal(gradient(), expected)
    forward = {row.name for row in result.rows() if row.category == "forward"}
    backward = {row.name for row in result.rows() if row.category == "backward"}
    assert forward == backward == {"ReLU", "Mul", "Sum"}
    # Another hook sees what runs inside backward, with a profile or without.
    for context in (contextlib.nullcontext(), chainer.profiler.profile()):
        with context, Watch() as watch:
            np.testing.assert_array_equal(gradient(), expected)
        assert len(watch.seen) > 3
