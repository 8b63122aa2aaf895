"""Values that no release has refused, but that make no sense: each warns once and says what came.

Each row is a call as a careless user writes it: a rate out of its range, a text in the place of a
truth value, a number of parts that leaves nothing.
"""

import warnings

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import MisuseWarning, datasets, iterators, optimizers, serializers, training
from chainer.core import misuse
from chainer.training import extensions, triggers

X = np.ones((4, 3), "f")
T = np.array([0, 1, 2, 0], "i")
IMAGES = np.ones((2, 3, 8, 8), "f")
HOOKS = chainer.optimizer_hooks


def trainer(optimizer=None, stop=(2, "epoch"), **options):
    optimizer = (optimizer or optimizers.SGD()).setup(L.Classifier(L.Linear(3, 3)))
    iterator = iterators.SerialIterator(datasets.TupleDataset(X, T), 2)
    updater = training.StandardUpdater(iterator, optimizer, **options)
    return training.Trainer(updater, stop)


def attribute(optimizer, name):
    setattr(optimizer, name, 0.1)
    model = L.Linear(3, 2)
    optimizer.setup(model).update(lambda: F.sum(model(X)))


def rule_of(optimizer):
    model = L.Linear(3, 2)
    optimizer.setup(model)
    return model.W.update_rule


def shifted(shift, epochs=2):
    one = trainer(stop=(epochs, "epoch"))
    one.extend(shift)
    one.run()


def shared():
    layer = L.Linear(3, 3)
    optimizers.SGD().setup(chainer.ChainList(layer, layer))


def saved(obj, name="m.npz"):
    serializers.save_npz(name, obj)
    return name


def updated(optimizer):
    model = L.Linear(3, 2)
    optimizer.setup(model).update(lambda: F.sum(model(X)))
    return optimizer


def other_optimizer():
    saved(updated(optimizers.Adam()))
    serializers.load_npz("m.npz", updated(optimizers.MomentumSGD()))


def empty_evaluation():
    iterator = iterators.SerialIterator([], 2, repeat=False)
    extensions.Evaluator(iterator, L.Classifier(L.Linear(3, 3)))()


def integers_as_dtype():
    with chainer.using_config("dtype", "int32"):
        L.Linear(3, 2)


def multiply(rate, times):
    optimizer = optimizers.SGD()
    shift = extensions.ExponentialShift("lr", rate, init=1.0, optimizer=optimizer)
    for _ in range(times):
        shift(None)


SCORES = np.zeros((4, 3), "f")

ROWS = [
    # Hyperparameters, and names that are none.
    (lambda: optimizers.Adam(beta1=1.5), "beta1 should be at least 0 and below 1, got 1.5"),
    (lambda: optimizers.Adam(beta2=-0.5), "beta2 should be at least 0 and below 1, got -0.5"),
    (lambda: optimizers.Adam(eps=-1), "hyperparameter eps should be at least 0, got -1"),
    (lambda: optimizers.Adam(eta=-1), "hyperparameter eta should be at least 0, got -1"),
    (lambda: optimizers.AdamW(weight_decay_rate=-1), "weight_decay_rate should be at least 0"),
    (lambda: optimizers.RMSprop(alpha=2), "alpha should be at least 0 and below 1, got 2"),
    (lambda: optimizers.AdaDelta(rho=2), "rho should be at least 0 and below 1, got 2"),
    (lambda: optimizers.MomentumSGD(momentum=1.5), "at least -1 and below 1, got 1.5"),
    (lambda: setattr(optimizers.NesterovAG(), "momentum", 9), "at least -1 and below 1, got 9"),
    (lambda: setattr(rule_of(optimizers.Adam()).hyperparam, "beta1", 3), "beta1 should be.*got 3"),
    (lambda: setattr(rule_of(optimizers.Adam()).hyperparam, "aplha", 3), "did you mean 'alpha'"),
    (lambda: attribute(optimizers.SGD(), "alpha"), "SGD has no hyperparameter 'alpha'; it has lr"),
    (lambda: attribute(optimizers.Adam(), "momentum"), "Adam has no hyperparameter 'momentum'"),
    (lambda: optimizers.SGD().use_fp32_update("no"), "flag of use_fp32_update is the text 'no'"),
    (lambda: optimizers.SGD().setup(chainer.Chain()).update(), "model has no parameters"),
    (shared, "'/0/W' and '/1/W' .and 1 more. are one parameter, and each update changes it twice"),
    (lambda: HOOKS.Lasso(-0.1), "rate of Lasso should be at least 0, got -0.1"),
    (lambda: HOOKS.WeightDecay(float("nan")), "rate of WeightDecay is nan"),
    (lambda: HOOKS.GradientLARS(threshold=-1), "threshold of GradientLARS should be at least 0"),
    (lambda: HOOKS.GradientLARS(eps=-1), "eps of GradientLARS should be at least 0"),
    # Functions.
    (lambda: F.contrastive(X, X, T), "y of contrastive should be 0 or 1, got 2"),
    (lambda: F.sigmoid_cross_entropy(X[0], T[:3]), "t of sigmoid.*0 or 1, or -1.*ignored, got 2"),
    (lambda: F.softmax_cross_entropy(X, T, normalize="batch"), "normalize of .* the text 'batch'"),
    (
        lambda: F.softmax_cross_entropy(X, T, class_weight=np.array([-1, 1, 1], "f")),
        "class_weight.*got -1.0",
    ),
    (lambda: F.local_response_normalization(IMAGES, n=0), "n of local.* at least 1, got 0"),
    (lambda: F.normalize(X, eps=-10), "eps of normalize should be at least 0, got -10"),
    (lambda: F.gumbel_softmax(X, tau=-1), "tau of gumbel_softmax should be above 0, got -1"),
    (
        lambda: F.batch_normalization(X, np.ones(3, "f"), np.zeros(3, "f"), decay=2),
        "decay of batch_normalization should be at least 0 and at most 1, got 2",
    ),
    (lambda: F.max_pooling_2d(IMAGES, 2, pad=2), r"pad should be below ksize, got pad \(2, 2\)"),
    (lambda: F.average_pooling_2d(IMAGES, (2, 4), pad=3), r"got pad \(3, 3\) and ksize \(2, 4\)"),
    (lambda: chainer.Variable(X, requires_grad="False"), "requires_grad of Variable is the text"),
    (lambda: F.sum(chainer.Variable(X)).backward(retain_grad="no"), "retain_grad of backward is"),
    (lambda: F.sum(chainer.Variable(X)).backward(loss_scale=0), "loss_scale of backward should be"),
    # Links.
    (lambda: L.Linear(3, 3).repeat(-1), "n_repeat of repeat should be at least 0, got -1"),
    (lambda: chainer.Sequential(F.relu).repeat(-1), "n_repeat of repeat should be at least 0"),
    (lambda: L.NegativeSampling(3, [1, 2], 0), "sample_size of Neg.* at least 1, got 0"),
    (lambda: L.LayerNormalization(3, eps=-1), "eps of LayerNormalization should be at least 0"),
    (lambda: L.GroupNormalization(1, 3, eps=-1), "eps of GroupNormalization should be at least 0"),
    (lambda: chainer.link_hooks.SpectralNormalization(eps=-1), "eps of Spectral.* at least 0"),
    (integers_as_dtype, "config.dtype should be a floating point type, got int32"),
    # Files.
    (lambda: saved(L.Linear(3, 2)) and serializers.save_npz("n", L.Linear(1, 1), "False"), "compr"),
    (
        lambda: serializers.load_npz(saved(L.Linear(3, 2)), L.Linear(3, 2), ignore_names=["w"]),
        "ignore_names has 'w', which neither the file nor the object has; the object asks for "
        "'W', 'b'",
    ),
    (
        lambda: serializers.load_npz(saved(L.Linear(3, 2)), L.Linear(3, 2), "model/", strict=False),
        "nothing was loaded: 'm.npz' has none of the entries.*'model/W'",
    ),
    (
        lambda: serializers.load_npz(saved(L.Linear(None, 2)), L.Linear(3, 2)),
        "the file has no values of parameter 'W'",
    ),
    (other_optimizer, "'m.npz' has 2 entries that the object does not have"),
    # Trainers.
    (lambda: extensions.snapshot(n_retains=0), "n_retains should be positive, or -1 .* got 0"),
    (lambda: extensions.snapshot(n_retains=-5), "n_retains should be positive, or -1 .* got -5"),
    (lambda: extensions.snapshot(filename="s_%d"), r"fields of str.format\(\).*got 's_%d'"),
    (lambda: extensions.snapshot_object(L.Linear(3, 2), "s_%05d"), "got 's_%05d'"),
    (lambda: extensions.snapshot(autoload="s_5"), "autoload of snapshot is the text 's_5'"),
    (lambda: triggers.ManualScheduleTrigger([-1], "epoch"), r"points should have .* got \[-1\]"),
    (lambda: triggers.ManualScheduleTrigger([], "epoch"), r"got \[\]: it never fires"),
    (lambda: triggers.OnceTrigger("yes"), "call_on_resume of OnceTrigger is the text 'yes'"),
    (lambda: triggers.EarlyStoppingTrigger(patience=0), "patience of Early.* at least 1, got 0"),
    (lambda: extensions.ExponentialShift("lr", 0), "rate of ExponentialShift should be above 0"),
    (lambda: multiply(0.1, 13), "has multiplied the value 13 times by 0.1"),
    (
        lambda: extensions.WarmupShift("lr", 0.1, -5, 0.2),
        "warmup_iter of Warm.* at least 1, got -5",
    ),
    (lambda: trainer(auto_new_epoch="False"), "auto_new_epoch of StandardUpdater is the text"),
    (empty_evaluation, "iterator of the evaluator should have batches, got none"),
    # Data.
    (lambda: iterators.SerialIterator("data.txt", 2), "dataset is the text 'data.txt'"),
    (lambda: iterators.SerialIterator([1], 1, repeat="no"), "repeat of the iterator is the text"),
    (lambda: datasets.split_dataset_n([1, 2, 3], 10), "n should be at most 3.*got 10"),
    (lambda: datasets.get_cross_validation_datasets([1, 2, 3], 1), "n_folds .* at least 2, got 1"),
    (
        lambda: chainer.dataset.concat_examples([{"a": 1}, {"a": 1, "b": 2}]),
        r"same keys, got one with \['b'\]",
    ),
]


@pytest.fixture(autouse=True)
def _nothing_said_yet(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(misuse, "_reported", set())
    monkeypatch.setattr(misuse, "_looked", {})


@pytest.mark.parametrize(("call", "phrase"), ROWS)
def test_each_is_told_once_where_it_was_written(call, phrase):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
        first = [w for w in caught if w.category is MisuseWarning]
        call()
    again = [w for w in caught if w.category is MisuseWarning]
    assert len(first) == len(again) == 1
    with pytest.warns(MisuseWarning, match=phrase):
        warnings.warn_explicit(first[0].message, MisuseWarning, first[0].filename, 1)
    assert first[0].filename == __file__


@pytest.mark.parametrize(
    "call",
    [
        lambda: optimizers.Adam(beta1=0.0, eps=0.0, weight_decay_rate=0),
        # Negative momentum is a method, too: Gidel et al., AISTATS 2019.
        lambda: optimizers.MomentumSGD(momentum=-0.5),
        lambda: optimizers.SGD(lr=0),
        lambda: attribute(optimizers.SGD(), "notes"),
        lambda: L.Linear(3, 3).repeat(0),
        lambda: extensions.snapshot(n_retains=-1, filename="50%"),
        lambda: F.contrastive(X, X, T % 2),
        lambda: F.sigmoid_cross_entropy(X[0], np.array([0, 1, -1], "i")),
        lambda: F.max_pooling_2d(IMAGES, 3, pad=1),
        lambda: multiply(0.9, 100),
    ],
)
def test_what_makes_sense_is_silent(call):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call()


def test_labels_are_looked_at_in_the_first_calls_only():
    for _ in range(misuse.LOOKS):
        F.contrastive(X, X, T % 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F.contrastive(X, X, T)
