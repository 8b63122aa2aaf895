"""Arguments that programs confuse, and what is said about each: class and a phrase of the message.

Each row is a call as a user would write it: a wrong order, a class instead of an object, a text
instead of a number, a shape or size that cannot be.
"""

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import (
    MisuseWarning,
    datasets,
    initializers,
    iterators,
    optimizers,
    serializers,
    training,
)
from chainer.core import misuse
from chainer.training import extensions, triggers
from chainer.utils.type_check import InvalidType

X = np.ones((4, 3), "f")
T = np.array([0, 1, 2, 0], "i")
IMAGES = np.ones((2, 3, 8, 8), "f")
HOOKS = chainer.optimizer_hooks


def trainer(out="result", stop=(1, "epoch")):
    optimizer = optimizers.SGD().setup(L.Classifier(L.Linear(3, 3)))
    iterator = iterators.SerialIterator(datasets.TupleDataset(X, T), 2)
    updater = training.StandardUpdater(iterator, optimizer)
    return training.Trainer(updater, stop, out=out)


def report_in_training(values):
    with chainer.Reporter():
        chainer.report(values)


class NoExamples(chainer.dataset.DatasetMixin):
    def __len__(self):
        return 3


class NoLength(chainer.dataset.DatasetMixin):
    def get_example(self, i):
        return i


class NoSuper(chainer.Chain):
    def __init__(self):
        with self.init_scope():
            self.layer = L.Linear(3, 2)


ROWS = [
    # Triggers and trainers.
    (lambda: triggers.IntervalTrigger("epoch", 1), ValueError, "unit must be .*, got 1"),
    (lambda: trainer().extend(print, "p", (1,)), TypeError, "a pair such as .*, got \\(1,\\)"),
    (lambda: trainer().extend(print, "p", "epoch"), TypeError, "a pair such as .*, got 'epoch'"),
    (lambda: trainer().extend(print, "p", (0, "epoch")), ValueError, "period must be positive"),
    (lambda: trainer(stop=(1, "epochs")), ValueError, "got 'epochs'"),
    (lambda: trainer(stop=5), TypeError, "a pair such as .*, got 5"),
    (lambda: trainer(stop=(-1, "epoch")), ValueError, "period must be positive, got -1"),
    (lambda: trainer(out=5), TypeError, "out must be the path of a folder, got 5"),
    (lambda: trainer().extend(None), TypeError, "extension must be callable, got NoneType"),
    (
        lambda: extensions.snapshot_object("m", L.Linear(3, 2)),
        TypeError,
        "target must.*follows",
    ),
    (lambda: extensions.Evaluator(L.Linear(3, 2), [1]), TypeError, "target 'main' must be"),
    (lambda: extensions.PrintReport("epoch"), TypeError, r"write \['epoch'\]"),
    (lambda: extensions.ExponentialShift(0.5, "lr"), TypeError, "arguments are attr, rate"),
    (lambda: extensions.ExponentialShift("lr", None), TypeError, "rate must be a number"),
    (lambda: extensions.LinearShift(0.1, (1, 0), (0, 9)), TypeError, "attr must be the name of"),
    (
        lambda: extensions.LinearShift("lr", (0, 10), (0.1, 0.01)),
        MisuseWarning,
        "ends before it begins.*arguments are attr, value_range, time_range",
    ),
    # Optimizers and their hooks.
    (
        lambda: optimizers.SGD().update(),
        RuntimeError,
        "Optimizer is not set up. Call `setup` method",
    ),
    (lambda: optimizers.SGD().setup([L.Linear(3, 2)]), TypeError, "must be a link, got list"),
    (lambda: optimizers.SGD(learning_rate=0.1), TypeError, r"write lr=0\.1"),
    (lambda: optimizers.Adam(lr=0.1), TypeError, r"write alpha=0\.1"),
    (lambda: optimizers.SGD().add_hook(HOOKS.WeightDecay(1)), RuntimeError, "is not set up"),
    (
        lambda: optimizers.SGD().setup(L.Linear(3, 2)).add_hook(HOOKS.WeightDecay),
        TypeError,
        r"got the class WeightDecay: write WeightDecay\(",
    ),
    (lambda: HOOKS.GradientNoise(-1.0), MisuseWarning, "eta of GradientNoise is -1.0"),
    # Iterators and datasets.
    (lambda: iterators.SerialIterator(None, 2), TypeError, "dataset must be a list.*, got None"),
    (lambda: iterators.SerialIterator(map(abs, [1]), 2), TypeError, "dataset must be a list.*map"),
    (lambda: iterators.MultithreadIterator(NoExamples, 2), TypeError, r"write NoExamples\("),
    (lambda: iterators.SerialIterator(NoLength(), 2), NotImplementedError, "must define __len__"),
    (lambda: iterators.SerialIterator([1], -1), ValueError, "batch_size must be positive"),
    (lambda: iterators.SerialIterator([1], 1.5), TypeError, "must be an integer, got 1.5"),
    (
        lambda: iterators.SerialIterator([1], 1, shuffle="no"),
        MisuseWarning,
        "shuffle of the iterator is the text",
    ),
    (
        lambda: iterators.SerialIterator([1], 1, "False"),
        MisuseWarning,
        "repeat of the iterator is the text",
    ),
    (lambda: iterators.MultithreadIterator([1], 1, n_threads=-1), ValueError, "must be positive"),
    (lambda: NoExamples()[0], NotImplementedError, "NoExamples must define get_example"),
    (lambda: datasets.TransformDataset(X, None), TypeError, "transform must be a function.*None"),
    (lambda: datasets.TupleDataset(X, T[:2]), ValueError, "expected 4, .* got 2"),
    (lambda: datasets.DictDataset(x=X, t=T[:2]), ValueError, 'conflicts at "t"'),
    (lambda: datasets.SubDataset([1] * 9, 6, 3), ValueError, "got 6 and 3"),
    (lambda: datasets.split_dataset([1] * 9, 0.8), TypeError, "split_at must be int"),
    (lambda: datasets.split_dataset([1] * 9, 20), ValueError, "exceeds the dataset size"),
    (lambda: datasets.get_cross_validation_datasets([1], 5), ValueError, "n_folds must be between"),
    (lambda: chainer.dataset.concat_examples([]), ValueError, "batch is empty"),
    (
        lambda: training.StandardUpdater(
            iterators.SerialIterator([1], 1),
            optimizers.SGD().setup(L.Linear(3, 2)),
            converter=None,
        ),
        TypeError,
        "converter must be a function of a batch and a device, got None",
    ),
    # Links.
    (lambda: L.Linear(-3, 2), ValueError, "non-negative integers, got \\(2, -3\\)"),
    (lambda: L.Linear(3, "2"), TypeError, "non-negative integers, got \\('2', 3\\)"),
    (lambda: L.Linear(3, 2, bias=False), TypeError, "write nobias=True"),
    (lambda: L.Linear(3, 2, initialW="glorot"), TypeError, "initializer must be .*, got str"),
    (lambda: L.Linear(3, 2, initialW=np.ones((3, 2))), ValueError, r"shape \(3, 2\) does not fit"),
    (lambda: L.Convolution2D(3, 4, 3, pad=-1)(IMAGES), ValueError, "pad must be at least 0"),
    (lambda: L.Convolution2D(3, 4, 3, stride=0)(IMAGES), ValueError, "stride must be positive"),
    (lambda: L.Convolution2D(3, 4, 3)(IMAGES[0]), InvalidType, "ndim == 4"),
    (lambda: L.Convolution2D(3, 4, 30)(IMAGES), ValueError, "should be positive. Actual: -21"),
    (lambda: L.EmbedID(5, 2)(X), InvalidType, "dtype.kind == i"),
    (lambda: L.Maxout(3, 2, 0), ValueError, "pool_size must be positive, got 0"),
    (lambda: L.NStepLSTM(1, 3, 2, 0.0)(None, None, X), TypeError, "xs must be a list"),
    (lambda: L.BatchNormalization(3, decay=2), MisuseWarning, "decay should be from 0 to 1, got 2"),
    (lambda: L.BatchNormalization(3, eps=-1), MisuseWarning, "eps should be positive, got -1"),
    (lambda: L.Classifier(L.Linear), TypeError, r"got the class Linear: write Linear\("),
    (lambda: L.Classifier(L.Linear(3, 3), "softmax"), TypeError, "lossfun must be a function"),
    (lambda: L.Classifier(L.Linear(3, 3), accfun=0.5), TypeError, "accfun must be a function"),
    (lambda: L.Classifier(L.Linear(3, 3))(X), TypeError, "must get inputs and labels"),
    (lambda: chainer.Sequential([L.Linear(3, 2)]), ValueError, r"Write Sequential\(\*layers\)"),
    (lambda: chainer.ChainList([L.Linear(3, 2)]), TypeError, "must be links, got list"),
    (NoSuper, RuntimeError, r"Call super\(\).__init__\(\) first in NoSuper"),
    (lambda: chainer.Chain(a=L.Linear(3, 2))(X), AttributeError, "nor 'forward' method defined"),
    (
        lambda: L.Linear(3, 2).copyparams(L.Linear(3, 4)),
        ValueError,
        r"parameter 'W' must have the shape \(2, 3\), the source has \(4, 3\)",
    ),
    (lambda: L.Linear(3, 2).copy("deep"), ValueError, "But deep was given"),
    (lambda: initializers.Normal(-1.0)(np.empty(2, "f")), ValueError, "scale < 0"),
    # Functions and variables.
    (lambda: F.softmax_cross_entropy(T, X), InvalidType, "Actual: i != f"),
    (lambda: F.softmax_cross_entropy(X, [0, 1, 2, 0]), TypeError, "Convert it by numpy.asarray"),
    (lambda: F.softmax_cross_entropy(F.softmax(X), T), MisuseWarning, "computes itself"),
    (lambda: F.mean_squared_error(X, X.astype("d")), InvalidType, "float64 != float32"),
    (lambda: F.concat(X, X), TypeError, "axis must be int, got ndarray"),
    (lambda: F.resize_images(IMAGES, 8), TypeError, r"a pair \(height, width\), got 8"),
    (lambda: F.dropout(X, 2), ValueError, "must be in the range"),
    (lambda: F.clip(X, 6.0, 1.0), ValueError, "x_min must not be greater than x_max"),
    (lambda: chainer.Variable([1.0]), TypeError, "Actual: <class 'list'>"),
    (lambda: bool(chainer.Variable(X)), TypeError, "use its 'array' attribute"),
    (lambda: setattr(chainer.Variable(X), "grad", X[0]), ValueError, "Shape of data and grad"),
    (lambda: chainer.grad(F.sum(chainer.Variable(X)), []), TypeError, "outputs must be a tuple"),
    (lambda: report_in_training("loss"), TypeError, "values must be a dict.*, got 'loss'"),
    (lambda: chainer.Reporter().report(("loss", 1)), TypeError, "values must be a dict"),
    (lambda: serializers.save_npz("file", [X]), TypeError, "obj must be a link"),
]


@pytest.mark.parametrize(("call", "kind", "phrase"), ROWS)
def test_what_is_said(call, kind, phrase, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(misuse, "_reported", set())
    if issubclass(kind, Warning):
        with pytest.warns(kind, match=f"(?s){phrase}") as caught:
            call()
        assert caught[0].filename == __file__
    else:
        with pytest.raises(kind, match=f"(?s){phrase}"):
            call()


def test_gradients_of_another_shape():
    one = L.Linear(3, 2)
    one.cleargrads()
    bigger = L.Linear(4, 2)
    bigger.cleargrads()
    F.sum(bigger(np.ones((1, 4), "f"))).backward()
    with pytest.raises(ValueError, match=r"'W' must have the shape \(2, 3\), the source has"):
        one.addgrads(bigger)
