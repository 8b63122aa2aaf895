"""Mistakes with shapes, labels, models, files and trainers."""

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import MisuseWarning, iterators, optimizers, training
from chainer.training import extensions
from tests.robustness.misuse_cases import (
    IMAGES,
    InvalidType,
    T,
    WithLoss,
    X,
    row,
    run,
    saved,
    trainer,
    unfinished,
    without,
)


class Nested(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.a = L.Linear(3, 2)


def reported_without_log(out):
    t = trainer(out)
    t.extend(extensions.PrintReport(["epoch"]))
    t.run(show_loop_exception_msg=False)


row(
    *("layers_that_do_not_fit", InvalidType, r"(?s)Expect: x.shape\[1\] == W.shape\[1\].*4 != 5"),
    lambda out: L.Linear(5, 2)(L.Linear(3, 4)(X)),
)
row(
    *("channels_last", InvalidType, r"8 != 3"),
    lambda out: L.Convolution2D(3, 4, 3)(IMAGES.transpose(0, 2, 3, 1)),
)
row(
    *("image_without_batch", InvalidType, "ndim == 4"),
    lambda out: L.Convolution2D(3, 4, 3)(IMAGES[0]),
)
row(
    *("kernel_larger_than_the_image", ValueError, "Height in the output should be positive"),
    lambda out: L.Convolution2D(3, 4, 9)(IMAGES),
)
row(
    *("pooling_of_vectors", InvalidType, "(?s)x.ndim == 4.*2 != 4"),
    lambda out: F.max_pooling_2d(X, 2),
)
row(
    *("fewer_labels_than_samples", InvalidType, r"(?s)x.shape\[0\] == t.shape\[0\].*4 != 3"),
    lambda out: F.softmax_cross_entropy(X, T[:3]),
)
row(
    *("labels_as_a_column", InvalidType, "t.ndim == x.ndim - 1"),
    lambda out: F.softmax_cross_entropy(X, T[:, None]),
)
row(
    *("softmax_before_its_loss", MisuseWarning, "the result of softmax, which it computes itself"),
    lambda out: F.softmax_cross_entropy(F.softmax(X), T),
)
row(
    *("labels_and_scores_swapped", InvalidType, "(?s)x.dtype.kind == f.*i != f"),
    lambda out: F.softmax_cross_entropy(T, X),
)
row(
    *("error_of_two_shapes", InvalidType, r"(?s)x0.shape == x1.shape.*\(4, 3\) != \(4, 1\)"),
    lambda out: F.mean_squared_error(X, X[:, :1]),
)
row(
    *("error_of_integers", InvalidType, "(?s)x1.dtype == x0.dtype.*int32 != float32"),
    lambda out: F.mean_squared_error(X, T),
)
row(
    *("labels_of_sigmoid_as_floats", InvalidType, "(?s)t.dtype.kind == i.*f != i"),
    lambda out: F.sigmoid_cross_entropy(X[:, 0], T.astype("f")),
)
row(
    *("ids_as_a_list", TypeError, "ids and labels to numpy.int32"),
    lambda out: L.EmbedID(5, 2)([0, 1]),
)
row(
    *("forgotten_setup", RuntimeError, "Call `setup` method. SGD has no link"),
    lambda out: optimizers.SGD().update(),
)
row(
    *("hook_before_setup", RuntimeError, "Optimizer is not set up. Call `setup` method."),
    lambda out: optimizers.SGD().add_hook(chainer.optimizer_hooks.WeightDecay(0.1)),
)
row(
    *("model_as_hyperparameter", ValueError, "hyperparameter 'beta1' .* finite number, got a Lin"),
    lambda out: optimizers.Adam(0.001, L.Linear(3, 2)),
)
row(
    *("other_size_in_the_file", ValueError, r"shape of 'W' must be \(2, 4\), .* holds \(2, 3\)"),
    lambda out: chainer.serializers.load_npz(saved(out, L.Linear(3, 2)), L.Linear(4, 2)),
)
row(
    *("other_model_in_the_file", KeyError, "'a/W' is not in .*m.npz"),
    lambda out: chainer.serializers.load_npz(saved(out, L.Linear(3, 2)), Nested()),
)
row(
    *("model_instead_of_snapshot", KeyError, "'updater/iterator:main/.* is not in .*m.npz"),
    lambda out: chainer.serializers.load_npz(saved(out, L.Linear(3, 2)), trainer(out)),
)
row(
    *("snapshot_instead_of_model", KeyError, "'W' is not in .*m.npz"),
    lambda out: chainer.serializers.load_npz(saved(out, trainer(out)), L.Linear(3, 3)),
)
row(
    *("missing_file", FileNotFoundError, "nofile.npz"),
    lambda out: chainer.serializers.load_npz(out / "nofile.npz", L.Linear(3, 3)),
)
row(
    *("trigger_swapped", ValueError, "must be either 'epoch' or 'iteration', got 1"),
    lambda out: trainer(out).extend(extensions.LogReport(), trigger=("epoch", 1)),
)
row(
    *("trigger_as_text", TypeError, r"a pair such as \(1, 'epoch'\) or None, got 'epoch'"),
    lambda out: trainer(out).extend(extensions.LogReport(), trigger="epoch"),
)
row(
    *("trigger_as_number", TypeError, r"a pair such as \(1, 'epoch'\) or None, got 1 of"),
    lambda out: trainer(out).extend(extensions.LogReport(), trigger=1),
)
row(
    *("misspelled_argument_of_extend", TypeError, r"unexpected keyword argument\(s\) 'triger'"),
    lambda out: trainer(out).extend(extensions.LogReport(), triger=(1, "epoch")),
)
row(
    *("extension_as_text", TypeError, "extension must be callable, got str"),
    lambda out: trainer(out).extend("LogReport"),
)
row(
    *(
        "entries_as_text",
        TypeError,
        r"entries must be a list of names, got 'epoch': write \['epoch",
    ),
    lambda out: extensions.PrintReport("epoch"),
)
row(
    *("number_as_stop_trigger", TypeError, r"a pair such as \(1, 'epoch'\) or None, got 10 of"),
    lambda out: training.Trainer(trainer(out).updater, 10),
)
row(
    *("super_not_called_and_set_up", RuntimeError, r"Call super\(\).__init__\(\) first in Model"),
    lambda out: optimizers.SGD().setup(unfinished()),
)
row(
    *("super_not_called_and_called", RuntimeError, r"Call super\(\).__init__\(\) first in Model"),
    lambda out: unfinished()(X),
)
row(
    *("no_forward", AttributeError, "neither 'Chain.__call__' .* nor 'forward' method"),
    lambda out: chainer.Chain()(X),
)
row(
    *("forward_without_return", RuntimeError, "return a value where None came from"),
    lambda out: L.Classifier(without)(X, T),
)
row(
    *("loss_in_a_tuple", TypeError, "lossfun must return a chainer.Variable, got tuple"),
    lambda out: run(out, WithLoss(lambda loss: (F.sum(loss), 1))),
)
row(
    *("loss_as_a_number", TypeError, "lossfun must return a chainer.Variable, got float"),
    lambda out: run(out, WithLoss(lambda loss: float(F.sum(loss).array))),
)
row(
    *("loss_of_each_sample", ValueError, r"of shape \(2,\) needs an initial gradient"),
    lambda out: run(out, WithLoss(lambda loss: loss)),
)
row(
    *(
        "data_without_labels",
        TypeError,
        r"got one argument; examples of its dataset are pairs",
    ),
    lambda out: run(out, data=X),
)
row(
    *("two_inputs_of_a_linear_link", TypeError, "n_batch_axes must be an integer, got ndarray"),
    lambda out: L.Classifier(L.Linear(3, 3))(X, X, T),
)
row(
    *("result_as_predictor", TypeError, "predictor must be a link or a function, got Variable"),
    lambda out: L.Classifier(F.relu(X)),
)
row(
    *("variables_in_a_dataset", TypeError, "examples must be made of arrays.* got Variable"),
    lambda out: run(out, data=[(chainer.Variable(x), t) for x, t in zip(X, T)]),
)
row(
    *("double_precision_data", InvalidType, "(?s)b.dtype == x.dtype.*float32 != float64"),
    lambda out: run(out, data=chainer.datasets.TupleDataset(X.astype("d"), T)),
)
row(
    *("inputs_and_labels_of_two_lengths", ValueError, "wrong length: expected 4, .* got 2"),
    lambda out: chainer.datasets.TupleDataset(X, T[:2]),
)
row(
    *("state_of_a_smaller_batch", TypeError, r"(?s)4 > 2. Call reset_state\(\)"),
    lambda out: [layer(x) for layer in [L.LSTM(3, 2)] for x in (X[:2], X)],
)
row(
    *("number_as_input", TypeError, "(?s)LinearFunction.*Actual: <class 'numpy.float32'>"),
    lambda out: L.Linear(3, 2)(np.float32(3)),
)
row(
    *("variable_of_a_list", TypeError, "(?s)Actual: <class 'list'>.*numpy.asarray"),
    lambda out: chainer.Variable([1, 2, 3]),
)
row(
    *("sum_of_two_shapes", InvalidType, r"(?s)broadcast together.*\(4, 3\) and \(2, 2\)"),
    lambda out: chainer.Variable(X) + np.ones((2, 2), "f"),
)
row(
    *("variable_and_text", TypeError, "(?s)Value must be a scalar.*<class 'str'>"),
    lambda out: chainer.Variable(X) + "a",
)
row(
    *("concatenation_of_two_shapes", InvalidType, "4 != 2"),
    lambda out: F.concat([X, X[:2]], axis=1),
)
row(
    *("concatenation_without_a_list", TypeError, "axis must be int, got ndarray"),
    lambda out: F.concat(X, X),
)
row(
    *("impossible_reshape", InvalidType, "12 != 10"),
    lambda out: F.reshape(X, (5, 2)),
)
row(
    *("dropout_in_percent", ValueError, r"must be in the range \[0, 1\), got 50"),
    lambda out: F.dropout(X, 50),
)
row(
    *("normalization_of_another_size", InvalidType, r"\(3,\) != \(4,\)"),
    lambda out: L.BatchNormalization(4)(X),
)
row(
    *(
        "comparison_of_variables",
        TypeError,
        "do not support > operator. You could use `array` attribute",
    ),
    lambda out: chainer.Variable(X) > 0,
)
row(
    *("batch_size_as_a_fraction", TypeError, "batch_size must be an integer, got 2.5"),
    lambda out: iterators.SerialIterator([1, 2], 2.5),
)
row(
    *("argument_of_another_library", TypeError, "unexpected keyword argument 'num_workers'"),
    lambda out: iterators.SerialIterator([1, 2], 2, num_workers=2),
)
row(
    *("model_instead_of_optimizer", TypeError, "optimizer 'main' must be .*Optimizer, got Linear"),
    lambda out: training.StandardUpdater(iterators.SerialIterator([1], 1), L.Linear(3, 2)),
)
row(
    *("trainer_as_target", TypeError, "target 'main' must be a chainer.Link, got Trainer"),
    lambda out: extensions.Evaluator(iterators.SerialIterator([1], 1, repeat=False), trainer(out)),
)
row(
    *("evaluator_over_a_list", TypeError, "iterator 'main' must be .*repeat=False, got list"),
    lambda out: extensions.Evaluator([1, 2], L.Classifier(L.Linear(3, 3))),
)
row(
    *("list_of_layers", ValueError, r"(?s)is not callable. Write Sequential\(\*layers\)"),
    lambda out: chainer.Sequential([L.Linear(3, 3), F.relu]),
)
row(
    *("function_in_a_chain_list", TypeError, "children of a ChainList must be links, got function"),
    lambda out: chainer.ChainList(L.Linear(3, 3), F.relu),
)
row(
    *("size_as_text", TypeError, r"non-negative integers, got \('4', 3\)"),
    lambda out: L.Linear(3, "4"),
)
row(
    *("negative_size", ValueError, r"non-negative integers, got \(4, -3\)"),
    lambda out: L.Linear(-3, 4),
)
row(
    *("stride_zero", ValueError, "stride must be positive, got 0"),
    lambda out: L.Convolution2D(3, 4, 3, stride=0)(IMAGES),
)
row(
    *("padding_as_text", ValueError, "pad must be an int or a pair of ints, got 'same'"),
    lambda out: L.Convolution2D(3, 4, 3, pad="same")(IMAGES),
)
row(
    *("print_without_log", ValueError, "extension LogReport not found"),
    lambda out: reported_without_log(out),
)
row(
    *("text_as_pickle_file", TypeError, "open for reading bytes, got str; open_pickle_dataset"),
    lambda out: chainer.datasets.PickleDataset("a.pkl"),
)
