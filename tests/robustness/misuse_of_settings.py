"""Mistakes with settings, data types, shapes of a loss and layers."""

import warnings

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import MisuseWarning, optimizers
from chainer.training import extensions
from tests.robustness.misuse_cases import X, case, row, steps


@case(MisuseWarning, "config.train is the text 'False', and every text .* counts as True")
def text_as_a_truth_value(out):
    with chainer.using_config("train", "False"):
        pass


@case(MisuseWarning, "sets config.train to False was not entered.*write it in a with statement")
def configuration_without_with(out):
    chainer.using_config("train", False)


@case(MisuseWarning, "sets config.enable_backprop to False was not entered")
def no_backprop_mode_without_with(out):
    chainer.no_backprop_mode()


@case(MisuseWarning, r"shapes \(4, 1\) and \(4,\) has the shape \(4, 4\).*give both one shape")
def column_minus_vector(out):
    F.mean((L.Linear(3, 1)(X) - np.ones(4, "f")) ** 2)


@case(MisuseWarning, r"shapes \(4,\) and \(4, 1\) has the shape \(4, 4\)")
def vector_minus_column(out):
    F.mean((chainer.Variable(np.ones(4, "f")) - L.Linear(3, 1)(X)) ** 2)


@case(MisuseWarning, r"shapes \(4,\) and \(4, 1\) has the shape \(4, 4\)")
def array_minus_column(out):
    F.mean((np.ones(4, "f") - L.Linear(3, 1)(X)) ** 2)


@case(MisuseWarning, "found no gradient in any parameter")
def loss_in_no_backprop_mode(out):
    model = L.Linear(3, 1)
    with chainer.no_backprop_mode():
        loss = F.sum(model(X))
    steps(model, lambda: loss, 2)


def matrix():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        return np.matrix(X)


for name, phrase, call in [
    ("link", "optimizer must be an optimizer", lambda: extensions.find_learning_rate(X, X)),
    (
        "batch",
        "iterator must be an iterator of batches",
        lambda: extensions.find_learning_rate(optimizers.SGD(), X),
    ),
    ("model", "model must be a link", lambda: extensions.recompute_statistics(X, [X])),
    (
        "batches",
        "batches must be an iterable of batches",
        lambda: extensions.recompute_statistics(L.BatchNormalization(3), 5),
    ),
]:
    row(f"wrong_{name}_of_extension", TypeError, phrase, lambda out, call=call: call())
row(
    *("matrix_in_variable", TypeError, r"numpy.matrix is not supported.*numpy.asarray\(x\)"),
    lambda out: chainer.Variable(matrix()),
)
row(
    *("matrix_in_function", TypeError, r"numpy.matrix is not supported.*numpy.asarray\(x\)"),
    lambda out: F.sum(matrix()),
)


def use_dtype(name):
    with chainer.using_config("dtype", name):
        L.Linear(2, 2)


row(
    *("dtype_without_such_a_name", TypeError, "data type 'float23' not understood"),
    lambda out: F.cast(X, "float23"),
)
row(
    *(
        "configured_dtype_without_such_a_name",
        ValueError,
        "config.dtype must be a data type of NumPy, .* or chainer.mixed16, got 'float23'",
    ),
    lambda out: use_dtype("float23"),
)
row(
    *("class_in_sequential", ValueError, r"layers must be links, got the class Linear: write Lin"),
    lambda out: chainer.Sequential(L.Linear),
)
