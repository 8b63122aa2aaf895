"""What ``repr`` and notebooks show."""

import numpy as np
import pytest

import chainer
from chainer.datasets import TupleDataset
from chainer.training import extensions
from chainer.training.extensions.logs.inline_plot import curves_of
from tests.training.small_training import make_trainer


def test_optimizers_and_rules():
    trainer = make_trainer("unused")
    optimizer = trainer.updater.get_optimizer("main")
    assert repr(optimizer) == "SGD(lr=0.01, target=Regression)"
    optimizer.t = 3
    assert "t=3" in repr(optimizer)
    rule = optimizer.target.W.update_rule
    rule.enabled = False
    assert repr(rule) == "SGDRule(lr=0.01, enabled=False, t=0)"
    assert repr(chainer.Optimizer()) == "Optimizer()"


def test_datasets_and_iterators():
    data = TupleDataset(np.zeros(7), np.zeros(7))
    assert repr(data) == "<TupleDataset of 7 examples>"
    iterator = chainer.iterators.SerialIterator(data, 2, shuffle=False)
    assert repr(iterator) == (
        "SerialIterator(dataset=TupleDataset of 7 examples, batch_size=2, repeat=True, "
        "shuffle=False, epoch=0, epoch_detail=0.0)"
    )


def test_trainers_updaters_and_extensions():
    trainer = make_trainer("out")
    trainer.extend(extensions.LogReport(), name="log")
    assert repr(trainer) == (
        "Trainer(updater=StandardUpdater(optimizers=main: SGD, iteration=0, epoch=0), "
        "stop_trigger=IntervalTrigger(2, 'epoch'), out='out', extensions=[log])"
    )
    assert repr(extensions.LogReport()) == "LogReport(trigger=(1, 'iteration'), priority=100)"


def test_configuration():
    with chainer.using_config("train", False):
        assert "train=False" in repr(chainer.config) and "train=True" in repr(chainer.global_config)


def test_a_text_never_fails():
    class Dataset(chainer.dataset.DatasetMixin):
        def __len__(self):
            raise RuntimeError("not opened yet")

    class Iterator(chainer.dataset.Iterator):
        @property
        def epoch(self):
            raise RuntimeError("not started yet")

    assert repr(Dataset()) == "<Dataset>"
    assert repr(Iterator()) == "Iterator()"
    assert repr(chainer.training.Updater()) == "Updater()"


def test_large_parameters_show_their_shape():
    large = chainer.Parameter(np.zeros((60, 20), np.float32), name="W")
    assert repr(large).startswith("variable W([[0.") and repr(large).endswith(", shape=(60, 20))")
    assert "shape" not in str(large)
    assert repr(chainer.Parameter(np.zeros(2, np.float32), name="b")) == "variable b([0., 0.])"


def test_a_log_report_is_plotted(tmp_path):
    trainer = make_trainer(tmp_path)
    report = extensions.LogReport(trigger=(1, "iteration"))
    assert "0 entries" in report._repr_html_()
    trainer.extend(report)
    trainer.run()
    html = report._repr_html_()
    assert html.count("<polyline") == 1 and "main/loss" in html and "5 entries" in html


def test_values_that_cannot_be_plotted_are_left_out():
    log = [
        {"a": float("nan"), "b": 1, "c": "text", "iteration": 3},
        {"a": 2.0, "b": True, "iteration": 6, "epoch": 1},
    ]
    assert curves_of(log) == {"b": [(3.0, 1.0)], "a": [(6.0, 2.0)]}


@pytest.mark.parametrize("values", [[1.0], [2.0, 2.0], [1e-30, 1e30]])
def test_plots_stay_in_their_frame(values):
    from chainer.training.extensions.logs.inline_plot import svg

    text = svg([(float(i), value) for i, value in enumerate(values)])
    points = text.partition("points='")[2].partition("'")[0].split()
    for point in points:
        x, y = map(float, point.split(","))
        assert 0 <= x <= 220 and 0 <= y <= 60


class Scaled(chainer.datasets.transforms.Normalize):
    """A subclass of a stranger."""


def test_arguments_are_shown():
    transforms = chainer.datasets.transforms
    assert repr(transforms.RandomFlip()) == "RandomFlip(horizontal=0.5, vertical=0.0)"
    both = transforms.Compose(transforms.CenterCrop(2), Scaled(0.5, 2.0))
    assert repr(both).startswith("Compose(CenterCrop(size=(2, 2)), Scaled(mean=array([[[0.5]]]")
    assert "\n" not in repr(transforms.Normalize([0.25, 0.5, 0.75], 1))

    class Sampler(chainer.iterators.OrderSampler):
        def __init__(self, period, seed=0):
            self._period = period

    assert repr(Sampler(3)) == "Sampler(period=3)"


def test_triggers():
    triggers = chainer.training.triggers
    best = triggers.MaxValueTrigger("accuracy", (2, "epoch"))
    assert repr(best) == "MaxValueTrigger(key='accuracy', trigger=IntervalTrigger(2, 'epoch'))"
    both = triggers.AnyTrigger((1, "epoch"), triggers.OnceTrigger())
    assert (
        repr(both) == "AnyTrigger(IntervalTrigger(1, 'epoch'), OnceTrigger(call_on_resume=False))"
    )
    early = triggers.EarlyStoppingTrigger(monitor="loss")
    assert repr(early) == "EarlyStoppingTrigger(monitor='loss', patience=3, best=inf, count=0)"


def test_hooks():
    with chainer.function_hooks.TimerHook() as timer:
        chainer.functions.relu(np.ones(2, np.float32))
    assert repr(timer).startswith("TimerHook(calls=1, seconds=")

    class Hook(chainer.LinkHook):
        def __init__(self, factor):
            self.factor = factor

    assert repr(Hook(2)) == "Hook(factor=2)"


def test_summaries():
    summary = chainer.DictSummary()
    summary.add({"loss": 1.0})
    summary.add({"loss": 3.0})
    assert repr(summary) == "DictSummary(loss=Summary(n=2, mean=2.0))"
    assert repr(chainer.Summary()) == "Summary(n=0)"
    reporter = chainer.Reporter()
    reporter.add_observer("main", summary)
    assert repr(reporter) == "Reporter(observers=[main], observation=[])"


def test_graphs_and_explanations():
    from chainer.computational_graph import build_computational_graph

    y = chainer.functions.relu(chainer.Variable(np.ones(2, np.float32)))
    assert repr(build_computational_graph(y)) == "<ComputationalGraph of 3 nodes and 2 edges>"
    explanation = chainer.explain("relu", np.ones(2, np.float32))
    assert repr(explanation) == str(explanation) and "is served by" in repr(explanation)


def test_links():
    links = chainer.links
    model = links.Classifier(chainer.Sequential(links.Linear(2, 3)))
    assert repr(model) == "<Classifier predictor=Sequential>"
    layers = chainer.ChainList(*(links.Linear(2, 2) for _ in range(6)))
    assert repr(layers).endswith("3=Linear and 2 more>")

    class Unfinished(chainer.Chain):
        def __init__(self):
            self.shown = repr(self)
            super().__init__()

    assert Unfinished().shown == "<Unfinished>"


def test_distributions_of_strangers():
    class Half(chainer.Distribution):
        event_shape = ()

    assert repr(Half()) == "<Half event_shape=()>"
    normal = chainer.distributions.Normal(np.zeros(3, "f"), np.ones(3, "f"))
    found = chainer.distributions.Independent(normal, 1)
    assert repr(found) == "<Independent batch_shape=() event_shape=(3,)>"


def test_expressions_of_type_checks():
    from chainer.utils import type_check

    x = type_check.Variable(1, "x")
    assert repr(x == 2) == "BoolBinaryOperator(x == 2)"
    assert repr(type_check.Expr(0)) == "Expr()"


def test_nodes_and_initializers():
    y = chainer.functions.relu(chainer.Variable(np.ones(2, np.float32)))
    assert repr(y.creator) == "<function node ReLU>"
    assert repr(chainer.initializers.HeNormal(2.0)) == "HeNormal(scale=2.0, fan_option='fan_in')"
