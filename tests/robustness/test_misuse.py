"""Mistakes that programs make, and what is said about each: class and a phrase of the message.

Four of the five mistakes that stay silent are here; ``docs/robustness.md`` has the reasons. Run
``python tests/robustness/test_misuse.py`` to print what is said about each, and how many are
silent.
"""

import io
import pathlib
import re
import tempfile
import warnings

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import MisuseWarning, iterators, optimizers, training
from chainer.core import misuse
from chainer.functions.rules import UnaryFunction
from chainer.training import extensions, triggers

X = np.ones((4, 3), "f")
T = np.array([0, 1, 2, 0], "i")
WRONG = np.array([0, 1, 5, 0], "i")
CASES = []


def case(kind, phrase):
    def add(function):
        CASES.append(pytest.param(function, kind, phrase, id=function.__name__))
        return function

    return add


def steps(model, lossfun, count=1, clear=True, backward=True):
    optimizer = optimizers.SGD().setup(model)
    for _ in range(count):
        if clear:
            model.cleargrads()
        loss = lossfun()
        if backward:
            loss.backward()
        optimizer.update()


def trainer(out, repeat=True):
    model = L.Classifier(L.Linear(3, 3))
    optimizer = optimizers.SGD().setup(model)
    data = chainer.datasets.TupleDataset(X, T)
    iterator = iterators.SerialIterator(data, 2, repeat=repeat)
    updater = training.StandardUpdater(iterator, optimizer)
    return training.Trainer(updater, (2, "epoch"), out=out)


@case(MisuseWarning, r"'/W' is updated with a gradient that was added.*cleargrads\(\); loss.back")
def update_before_cleargrads(out):
    model = L.Linear(3, 2)
    steps(model, lambda: F.sum(model(X)), 2, clear=False)


@case(MisuseWarning, r"'/W' is updated with a gradient that was added to the one of an earlier")
def cleargrads_after_the_first_step_only(out):
    model = L.Linear(3, 2)
    model.cleargrads()
    steps(model, lambda: F.sum(model(X)), 2, clear=False)


@case(MisuseWarning, "'/W' is updated without a gradient: it is NaN")
def update_of_a_new_model_without_backward(out):
    optimizers.SGD().setup(L.Linear(3, 2)).update()


@case(MisuseWarning, "found no gradient in any parameter")
def update_without_backward(out):
    model = L.Linear(3, 2)
    steps(model, lambda: F.sum(model(X)), 3, backward=False)


@case(MisuseWarning, r"found no gradient in any parameter.*\.array")
def training_through_array(out):
    model = L.Linear(3, 2)
    optimizers.SGD().setup(model).update(lambda: F.sum(chainer.Variable(model(X).array)))


@case(MisuseWarning, "'/b/W' has a gradient but is not updated.*setup")
def parameters_added_after_setup(out):
    model = chainer.Chain(a=L.Linear(3, 3))
    optimizer = optimizers.SGD().setup(model)
    with model.init_scope():
        model.b = L.Linear(3, 3)
    optimizer.update(lambda: F.sum(model.b(model.a(X))))


@case(MisuseWarning, "'layers' of Listed.*a list hides them: use a ChainList")
def links_in_a_list(out):
    class Listed(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.first = L.Linear(3, 3)
                self.layers = [L.Linear(3, 3)]

    model = Listed()
    model.layers[0].cleargrads()
    steps(model, lambda: F.sum(model.layers[0](model.first(X))))


@case(MisuseWarning, r"'second' of Outside.*assign it within init_scope\(\)")
def link_outside_of_init_scope(out):
    class Outside(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.first = L.Linear(3, 3)
            self.second = L.Linear(3, 3)

    model = Outside()
    model.second.cleargrads()
    steps(model, lambda: F.sum(model.second(model.first(X))))


@case(MisuseWarning, "Adam has no hyperparameter 'alhpa'; did you mean 'alpha'")
def misspelled_hyperparameter(out):
    model = L.Linear(3, 2)
    optimizer = optimizers.Adam().setup(model)
    optimizer.alhpa = 0.1
    optimizer.update(lambda: F.sum(model(X)))


@case(TypeError, r"initializer must be an object, got the class HeNormal: write HeNormal\(\)")
def class_as_initializer(out):
    L.Linear(3, 2, initialW=chainer.initializers.HeNormal)


@case(ValueError, "hyperparameter 'lr' must be a finite number, got nan")
def learning_rate_nan(out):
    optimizers.SGD(lr=float("nan"))


@case(ValueError, "hyperparameter 'alpha' must be a finite number, got '0.1'")
def learning_rate_as_text(out):
    optimizers.Adam(alpha="0.1")


@case(ValueError, "hyperparameter 'momentum' must be a finite number, got inf")
def infinite_momentum(out):
    optimizers.MomentumSGD().momentum = float("inf")


@case(MisuseWarning, "lr is -0.1: with a negative learning rate the loss grows")
def negative_learning_rate(out):
    optimizers.SGD(lr=-0.1)


@case(IndexError, r"t\[2\] is 5, but must be from 0 to 2, or -1, which is ignored")
def label_out_of_range(out):
    F.softmax_cross_entropy(X, WRONG)


@case(
    IndexError, r"t\[1\] is 1 \(and 1 more\), .* from 0 to 0, .*one output has one class.*sigmoid"
)
def two_classes_of_one_output(out):
    F.softmax_cross_entropy(X[:, :1], T)


@case(AttributeError, r"SGD has no attribute 'alpha'; the optimizer is SGD\(lr=0.01, target=")
def shift_of_a_hyperparameter_of_another_optimizer(out):
    t = trainer(out)
    t.extend(extensions.ExponentialShift("alpha", 0.5))
    t.run(show_loop_exception_msg=False)


@case(IndexError, r"t\[1\] is -7 \(and 1 more\), but must be from 0 to 2")
def negative_label(out):
    F.softmax_cross_entropy(X, np.array([0, -7, 1, 9], "i"))


@case(IndexError, r"x\[0, 1\] is 9, but must be from 0 to 4")
def id_out_of_range(out):
    L.EmbedID(5, 2)(np.array([[0, 9]], "i"))


@case(IndexError, r"t\[2\] is 5, but must be from 0 to 2")
def item_out_of_range(out):
    F.select_item(X, WRONG)


@case(IndexError, r"t\[2\] is 5, but must be from 0 to 2")
def hinge_label_out_of_range(out):
    F.hinge(X, WRONG)


@case(ValueError, "Each label `t` need to satisfy")
def label_in_debug_mode(out):
    with chainer.using_config("debug", True):
        F.softmax_cross_entropy(X, np.array([0, -2, 1, 0], "i"))


@case(UserWarning, "A batch with no more than one sample has been given to F.batch_normalization")
def batch_normalization_of_one(out):
    L.BatchNormalization(3)(X[:1])


@case(RuntimeError, r"input 0 of _ \* _ .*was changed in place between forward and backward")
def changed_in_place(out):
    with chainer.using_config("debug", True):
        a = chainer.Variable(X.copy())
        y = F.sum(a * F.exp(a))
        a.array[...] = 5
        y.backward()


@case(MisuseWarning, r"backward\(\) has no effect: the variable was computed from arrays")
def backward_without_graph(out):
    F.sum(F.relu(X)).backward()


@case(MisuseWarning, "Halved defines neither backward")
def function_without_backward(out):
    class Halved(chainer.FunctionNode):
        def forward(self, inputs):
            return (inputs[0] / 2,)

    (y,) = Halved().apply((chainer.Variable(X),))
    F.sum(y).backward()


@case(MisuseWarning, r"all gradients are None: no differentiable function leads from inputs\[0\]")
def grad_of_an_unconnected_input(out):
    a, b = chainer.Variable(X), chainer.Variable(X)
    chainer.grad([F.sum(a)], [b])


@case(MisuseWarning, "nothing reads the configuration entry 'trian'; did you mean 'train'")
def misspelled_configuration(out):
    with chainer.using_config("trian", False):
        pass


@case(MisuseWarning, "'main/lsos', which PrintReport waits for; did you mean 'main/loss'")
def misspelled_key_to_print(out):
    t = trainer(out)
    t.extend(extensions.LogReport())
    t.extend(extensions.PrintReport(["epoch", "main/lsos"], out=io.StringIO()))
    t.run()


@case(MisuseWarning, "'main/loss', which PrintReport waits for; 'loss' was: chainer.report.*link")
def reported_without_the_link(out):
    class Model(L.Classifier):
        def forward(self, x, t):
            loss = F.softmax_cross_entropy(self.predictor(x), t)
            chainer.report({"loss": loss})
            return loss

    t = trainer(out)
    t.updater.get_optimizer("main").setup(model := Model(L.Linear(3, 3)))
    t.reporter.add_observer("main", model)
    t.extend(extensions.LogReport())
    t.extend(extensions.PrintReport(["epoch", "main/loss"], out=io.StringIO()))
    t.run()


@case(TypeError, "axis must be int, got ndarray")
def arrays_of_stack_without_a_list(out):
    F.stack(X, X)


@case(MisuseWarning, "'main/lsos', which PlotReport waits for; did you mean 'main/loss'")
def misspelled_key_to_plot(out):
    t = trainer(out)
    t.extend(extensions.PlotReport(["main/lsos"], "epoch", filename="plot.png"))
    t.run()


@case(MisuseWarning, "'main/lsos', which MinValueTrigger waits for; did you mean 'main/loss'")
def misspelled_key_of_a_trigger(out):
    t = trainer(out)
    t.extend(lambda t: None, name="f", trigger=triggers.MinValueTrigger("main/lsos"))
    t.run()


@case(TypeError, r"got the class LogReport: write trainer.extend\(LogReport\(\.\.\.\)\)")
def class_as_extension(out):
    trainer(out).extend(extensions.LogReport)


@case(StopIteration, "the SerialIterator of the updater ended before the training")
def iterator_that_ends(out):
    trainer(out, repeat=False).run(show_loop_exception_msg=False)


@case(ValueError, "the evaluation would never end.*repeat=False")
def evaluator_that_repeats(out):
    iterator = iterators.SerialIterator(chainer.datasets.TupleDataset(X, T), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evaluator = extensions.Evaluator(iterator, L.Classifier(L.Linear(3, 3)))
    evaluator()


@case(chainer.utils.type_check.InvalidType, "Expect: b.dtype == x.dtype")
def other_dtype(out):
    L.Linear(3, 2)(X.astype("d"))


# What a beginner does wrong with the newer parts, and with files and inputs.


@case(TypeError, "function must be callable, got Variable")
def capture_of_a_result(out):
    chainer.capture(F.sum(X))


@case(TypeError, r"Actual: <class 'list'>\nConvert it by numpy.asarray\(x, numpy.float32\)")
def capture_called_with_lists(out):
    model = L.Linear(3, 2)
    chainer.capture(lambda x: model(x))(X.tolist())


@case(UserWarning, "cannot be captured, and runs as it is written: the value of an array is read")
def capture_of_a_step_that_reads_values(out):
    step = chainer.capture(lambda x: float(F.sum(x).array))
    step(X), step(X)


@case(TypeError, "<class 'list'>\nConvert it by numpy.asarray")
def list_as_input(out):
    F.relu([[1.0, 2.0]])


class Column(list):
    """Looks up examples by label, as a Series of pandas does."""

    iloc = "rows by position"

    def __init__(self, values, index):
        super().__init__(values)
        self.index, self.shape = np.array(index), (len(values),)

    def __getitem__(self, label):
        return super().__getitem__(self.index.tolist().index(label))


@case(MisuseWarning, r"dataset of the index 1 is a Column, .* label i, which is not .*to_numpy\(\)")
def labels_of_shuffled_rows(out):
    data = chainer.datasets.TupleDataset(X, Column([7, 8, 9, 5], [2, 0, 3, 1]))
    assert data[0][1] == 8


@case(
    MisuseWarning, r"dataset 't' is a Column, of which dataset\[i\] is the example with the label"
)
def labels_of_some_rows(out):
    chainer.datasets.DictDataset(x=X, t=Column(T, [4, 5, 6, 7]))


@case(
    MisuseWarning, r"dataset is a Frame, of which dataset\[i\] is a column, not a row: .*to_numpy"
)
def frame_as_dataset(out):
    Frame = type("Frame", (Column,), {})
    frame = Frame(T, [0, 1, 2, 3])
    frame.shape = (4, 2)
    iterators.SerialIterator(frame, 2)


@case(
    TypeError, r"Actual: <class 'array.Foreign'>\nConvert it by numpy.asarray\(x, numpy.float32\)"
)
def array_of_another_library(out):
    members = {"__array__": lambda self: X, "__module__": "array", "array": X}
    L.Linear(3, 2)(type("Foreign", (), members)())


@case(TypeError, r"variable.Variable'>\nGive its attribute 'array'.")
def variable_of_a_variable(out):
    chainer.Variable(chainer.Variable(X))


@case(
    TypeError,
    r"lossfun must be a function .*, or the model, got ndarray: call update\(model, x, t\)",
)
def update_with_data_only(out):
    optimizers.SGD().setup(L.Classifier(L.Linear(3, 3))).update(X, T)


@case(
    TypeError, "obj must be a link, an optimizer, a trainer or the like .* got 'm.npz' of type str"
)
def file_and_object_swapped(out):
    chainer.serializers.save_npz(L.Linear(2, 2), "m.npz")


@case(TypeError, "obj must be a link.* of type ndarray")
def array_saved_as_object(out):
    chainer.serializers.save_npz(out / "m.npz", X)


@case(TypeError, "obj must be a link.*got the class Linear")
def class_saved(out):
    chainer.serializers.save_npz(out / "m.npz", L.Linear)


@case(TypeError, r"optimization target must be a link, got the class Linear: write Linear\(")
def setup_with_a_class(out):
    optimizers.SGD().setup(L.Linear)


@case(TypeError, "iterator 'main' must be a dataset iterator.* got SGD")
def iterator_and_optimizer_swapped(out):
    training.StandardUpdater(optimizers.SGD().setup(L.Linear(3, 2)), iterators.SerialIterator(X, 2))


@case(TypeError, "iterator 'main' must be a dataset iterator.* got list")
def dataset_instead_of_iterator(out):
    training.StandardUpdater([1, 2], optimizers.SGD().setup(L.Linear(3, 2)))


@case(TypeError, "updater must be an updater, such as a StandardUpdater, got SGD")
def optimizer_instead_of_updater(out):
    training.Trainer(optimizers.SGD().setup(L.Linear(3, 2)), (1, "epoch"))


@case(ValueError, "Trigger unit must be either 'epoch' or 'iteration', got 'epochs'")
def misspelled_unit(out):
    trainer(out).extend(extensions.LogReport(), trigger=(1, "epochs"))


@case(RuntimeError, r"Call super\(\).__init__\(\) first in Model.__init__\(\)")
def forgotten_super(out):
    class Model(chainer.Chain):
        def __init__(self):
            with self.init_scope():
                self.l = L.Linear(2, 2)

    Model()


@case(TypeError, r"optimizer 'main' must be an object, got the class SGD: write SGD\(\.\.\.\)")
def optimizer_class(out):
    training.StandardUpdater(iterators.SerialIterator(X, 2), optimizers.SGD)


@case(TypeError, r"iterator 'main' must be an object, got the class SerialIterator: write Serial")
def iterator_class(out):
    training.StandardUpdater(iterators.SerialIterator, optimizers.SGD().setup(L.Linear(3, 2)))


@case(MisuseWarning, "'main/los', which LogReport waits for; did you mean 'main/loss'")
def log_of_a_misspelled_key(out):
    t = trainer(out)
    t.extend(extensions.LogReport(keys=["main/los"]))
    t.run()


@case(MisuseWarning, r"attribute 'l' of Model has parameters .* assign it within init_scope\(\)")
def forgotten_init_scope_of_everything(out):
    class Model(chainer.Chain):
        def __init__(self):
            super().__init__()
            self.l = L.Linear(3, 3)

    model = Model()
    steps(model, lambda: F.sum(model.l(X)))


@case(TypeError, "got an object of type ndarray; the dataset is the first argument")
def dataset_and_batch_size_swapped(out):
    iterators.SerialIterator(4, X)


@case(TypeError, r"file must be a path or a file object .before the object., got .*Linear")
def file_and_object_swapped_in_load(out):
    chainer.serializers.load_npz(L.Linear(2, 2), "m.npz")


@case(KeyError, "'l/W' is not in .* which has 2 entries .'W', 'b'.; with strict=False")
def file_of_another_model(out):
    chainer.serializers.save_npz(out / "m.npz", L.Linear(2, 2))
    chainer.serializers.load_npz(out / "m.npz", chainer.Chain(l=L.Linear(2, 2)))


@case(KeyError, "'predictor/W' is not in .*: give path='updater/model:main/'")
def snapshot_loaded_as_a_model(out):
    t = trainer(out)
    chainer.serializers.save_npz(out / "t.npz", t)
    chainer.serializers.load_npz(out / "t.npz", L.Classifier(L.Linear(3, 2)))


@case(RuntimeError, "specifiers look like '@numpy', '@cupy:0' or 0, .*chainer backends")
def device_called_gpu(out):
    L.Linear(2, 2).to_device("gpu")


@case(TypeError, "must be tuples, .* but example 1 of the batch is None")
def example_that_is_none(out):
    chainer.dataset.concat_examples([(np.zeros(3, "f"), 0), None])


@case(TypeError, "Linear has one input. .* returns a loss, such as L.Classifier")
def layer_without_a_loss(out):
    L.Linear(3, 2)(X, np.zeros(len(X), "i"))


@case(RuntimeError, "input 0 of ReLU is an uninitialized variable, or None")
def none_in_a_function(out):
    F.relu(None)


@case(TypeError, r"retained_inputs of Wrong must be a tuple of indexes, such as \(0,\), got 0")
def retained_inputs_as_a_number(out):
    class Wrong(UnaryFunction):
        retained_inputs = 0


@case(ValueError, "batch_size must be positive, got 0")
def batch_size_zero(out):
    iterators.SerialIterator([1, 2], 0)


@case(ValueError, "dataset is empty")
def empty_dataset(out):
    iterators.SerialIterator([], 2).next()


@case(ValueError, "needs an initial gradient: set its 'grad'.*or reduce it to one element first")
def backward_of_many_elements(out):
    F.relu(chainer.Variable(X)).backward()


@case(ValueError, r"same shape, got \(2,\), \(3,\); give a padding value")
def examples_of_two_lengths(out):
    chainer.dataset.concat_examples([np.zeros(2), np.zeros(3)])


@case(RuntimeError, "unknown device specifier 'nvidia'")
def unknown_device(out):
    chainer.get_device("nvidia")


@case(TypeError, r"got the class Scheduled: write trainer.extend\(Scheduled")
def schedule_class(out):
    trainer(out).extend(extensions.Scheduled)


@case(TypeError, "schedule must be a function of the number of calls, got float")
def schedule_number(out):
    extensions.Scheduled("lr", 0.1)


@case(AttributeError, "SGD has no attribute 'alpha'")
def schedule_of_another_optimizer(out):
    t = trainer(out)
    t.extend(extensions.ExponentialShift("alpha", 0.5))
    t.run(show_loop_exception_msg=False)


@case(ValueError, "Either `scale` or `log_scale`")
def normal_without_scale(out):
    chainer.distributions.Normal(loc=np.zeros(3, "f"))


@case(ValueError, r"shapes that broadcast, got loc \(3,\), scale \(2,\)")
def normal_of_two_shapes(out):
    chainer.distributions.Normal(np.zeros(3, "f"), np.ones(2, "f")).sample()


@case(LookupError, "divergence of Normal and Bernoulli .*chainer.register_kl")
def divergence_of_two_kinds(out):
    D = chainer.distributions
    chainer.kl_divergence(D.Normal(X, X), D.Bernoulli(X / 2))


@case(ValueError, "probabilities do not sum to 1")
def probabilities_above_one(out):
    chainer.distributions.Categorical(p=np.array([0.5, 0.9], "f")).sample()


@case(TypeError, "distribution must be a Distribution, got array")
def array_as_distribution(out):
    chainer.distributions.Independent(X)


@case(KeyError, r"there is no column \['b'\], only 'a'")
def missing_column(out):
    chainer.dataset.tabular.from_data({"a": [1, 2]}).slice[:, ["b"]]


@case(ValueError, "same length: expected 2, got 1 in dataset 1")
def columns_of_two_lengths(out):
    chainer.dataset.tabular.from_data({"a": [1, 2], "b": [1]})


@case(IndexError, "index 5 is out of range for 2 rows")
def missing_row(out):
    chainer.dataset.tabular.from_data({"a": [1, 2]})[5]


@case(ValueError, r"different keys, got \['a'\] more than once")
def join_of_one_key(out):
    table = chainer.dataset.tabular.from_data({"a": [1, 2]})
    table.join(table)


@case(ValueError, r"same keys: expected \('a',\), got \('b',\) in dataset 1")
def concatenation_of_two_keys(out):
    tabular = chainer.dataset.tabular
    tabular.from_data({"a": [1]}).concat(tabular.from_data({"b": [1]}))


@case(TypeError, "converter must be a function of the columns, got 3 of type int")
def number_as_converter(out):
    chainer.dataset.tabular.from_data({"a": [1, 2]}).with_converter(3)


@case(TypeError, "data must be a list, an array or a function, got int")
def number_as_table(out):
    chainer.dataset.tabular.from_data(3)


def _pack(name):
    return pytest.importorskip(name)


@case(ValueError, "unknown communicator 'nvlink'; there are: ")
def unknown_communicator(out):
    _pack("chainermn").create_communicator("nvlink")


@case(TypeError, r"communicator must be a communicator: .*create_communicator\(\), got None")
def optimizer_without_communicator(out):
    _pack("chainermn").create_multi_node_optimizer(optimizers.SGD(), None)


@case(TypeError, "actual_evaluator must be an Evaluator, got the class Evaluator")
def evaluator_class(out):
    _pack("chainermn").create_multi_node_evaluator(extensions.Evaluator, None)


@case(TypeError, "comm must be a communicator: .* got 2 of type int")
def number_of_processes_as_communicator(out):
    _pack("chainermn").scatter_dataset([1, 2, 3], 2)


@case(TypeError, "comm must be a communicator: .* got None")
def normalization_without_communicator(out):
    _pack("chainermn").links.MultiNodeBatchNormalization(3, None)


@case(ValueError, "args must be an array or a Variable.* got <class 'NoneType'>")
def export_without_inputs(out):
    _pack("onnx_chainer").export(L.Linear(3, 2), None, out / "m.onnx")


@case(ValueError, "model must be a Link, got <class 'function'>")
def export_of_a_function(out):
    _pack("onnx_chainer").export(F.relu, X, out / "m.onnx")


@case(ValueError, "model must be a Link, got <class 'numpy.ndarray'>")
def export_with_arguments_swapped(out):
    _pack("onnx_chainer").export(X, L.Linear(3, 2), out / "m.onnx")


@case(ValueError, "input_names must have 1 names, one for each value, got 2")
def export_with_too_many_names(out):
    _pack("onnx_chainer").export(L.Linear(3, 2), X, out / "m.onnx", input_names=["a", "b"])


@case(TypeError, r"(?s)incompatible array types.*JaxArray.*Bring them to one device first")
def arrays_of_jax_and_a_model_of_numpy(out):
    L.Linear(3, 2)(_pack("jax.numpy").ones((4, 3)))


# What a beginner does wrong with shapes, labels, models, files and trainers.

IMAGES = np.ones((2, 3, 8, 8), "f")
InvalidType = chainer.utils.type_check.InvalidType


class WithLoss(chainer.Chain):
    """A model that returns the loss as a program wrote it."""

    def __init__(self, result):
        super().__init__()
        self.result = result
        with self.init_scope():
            self.l = L.Linear(3, 3)

    def forward(self, x, t):
        return self.result(F.softmax_cross_entropy(self.l(x), t, reduce="no"))


def run(out, model=None, data=None):
    model = L.Classifier(L.Linear(3, 3)) if model is None else model
    data = chainer.datasets.TupleDataset(X, T) if data is None else data
    optimizer = optimizers.SGD().setup(model)
    updater = training.StandardUpdater(iterators.SerialIterator(data, 2), optimizer)
    training.Trainer(updater, (1, "epoch"), out=out).run(show_loop_exception_msg=False)


def saved(out, obj):
    chainer.serializers.save_npz(out / "m.npz", obj)
    return out / "m.npz"


def row(name, kind, phrase, call):
    call.__name__ = name
    CASES.append(pytest.param(call, kind, phrase, id=name))


def unfinished(out=None):
    class Model(chainer.Chain):
        def __init__(self):
            self.l = L.Linear(3, 3)

    return Model()


def without(*_):
    return None


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


class Nested(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.a = L.Linear(3, 2)


def reported_without_log(out):
    t = trainer(out)
    t.extend(extensions.PrintReport(["epoch"]))
    t.run(show_loop_exception_msg=False)


def negative_id():
    L.EmbedID(5, 2)(np.array([0, -2], "i"))


def accuracy_of_a_label_without_class():
    F.accuracy(X, WRONG)


def input_changed_in_place():
    x = chainer.Variable(X.copy())
    y = F.sum(x * x)
    x.array += 1
    y.backward()


def grad_of_inputs_of_which_one_is_unconnected():
    a, b = chainer.Variable(X), chainer.Variable(X)
    chainer.grad([F.sum(a)], [a, b])


SILENT = [
    negative_id,
    accuracy_of_a_label_without_class,
    input_changed_in_place,
    grad_of_inputs_of_which_one_is_unconnected,
]


@pytest.mark.parametrize("function", SILENT)
def test_silent_mistakes(function):
    """If one of them is told one day, its row in the page goes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    assert not caught


@pytest.mark.parametrize(("function", "kind", "phrase"), CASES)
def test_what_is_said(function, kind, phrase, tmp_path, monkeypatch):
    monkeypatch.setattr(misuse, "_reported", set())
    if not issubclass(kind, Warning):
        with warnings.catch_warnings(), pytest.raises(kind, match=phrase):
            warnings.simplefilter("ignore")
            function(tmp_path)
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(tmp_path)
    said = [str(w.message) for w in caught if issubclass(w.category, kind)]
    assert any([re.search(phrase, text) for text in said]), said


def test_labels_that_are_positions_are_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = chainer.datasets.TupleDataset(X, Column(T, range(4)))
        iterators.SerialIterator(data, 2).next()


def test_dtype_refusal_ends_with_the_remedy():
    with pytest.raises(chainer.utils.type_check.InvalidType) as caught:
        other_dtype(None)
    (note,) = caught.value.__notes__
    assert note.startswith("x is float64, W is float32, b is float32: convert by x.astype(np.float")


@pytest.mark.parametrize(
    ("call", "note"),
    [
        (
            lambda: F.softmax_cross_entropy(X, T.astype("f")),
            "x is float32 of shape (4, 3), t is float32 of shape (4,): if t has class numbers, "
            "convert by t.astype(np.int32)",
        ),
        (
            lambda: F.softmax_cross_entropy(X, T.astype("d")),
            "x is float32 of shape (4, 3), t is float64 of shape (4,): if t has class numbers, "
            "convert by t.astype(np.int32)",
        ),
        (
            lambda: F.softmax_cross_entropy(X, np.eye(4, 3, dtype="i")),
            "x is float32 of shape (4, 3), t is int32 of shape (4, 3): if t is one-hot, "
            "convert by t.argmax(axis=1)",
        ),
        (
            lambda: L.Convolution2D(3, 4, 3, nobias=True)(np.ones((1, 3, 8, 8), "u1")),
            "input 0 is uint8 of shape (1, 3, 8, 8), input 1 is float32 of shape (4, 3, 3, 3): "
            "convert input 0 by astype(np.float32)",
        ),
    ],
)
def test_refusals_end_with_the_inputs_and_a_remedy(call, note):
    with pytest.raises(chainer.utils.type_check.InvalidType) as caught:
        call()
    assert caught.value.__notes__ == [note]


@pytest.mark.parametrize(
    ("call", "remedy"),
    [
        (
            lambda: L.Convolution2D(3, 4, 3)(IMAGES.transpose(0, 2, 3, 1)),
            "channels must be on axis 1: convert input 0 by transpose(0, 3, 1, 2)",
        ),
        (
            lambda: L.Convolution2D(3, 4, 3)(IMAGES[0]),
            "if input 0 is one sample, add the axis of samples by x[None]",
        ),
        (lambda: L.EmbedID(5, 2)(X[0]), "convert x by astype(np.int32)"),
        (
            lambda: F.sigmoid_cross_entropy(X[:, 0], T.astype("f")),
            "convert t by astype(np.int32)",
        ),
        (lambda: F.softmax_cross_entropy(X, T.astype("u1")), "convert t by astype(np.int32)"),
        (lambda: F.sigmoid_cross_entropy(X[:, 0], T > 0), "convert t by astype(np.int32)"),
        (lambda: F.softmax_cross_entropy(X, T[:, None]), "if t has class numbers, take t[:, 0]"),
        (lambda: F.softmax_cross_entropy(T, X), "convert x by astype(np.float32)"),
        (
            lambda: F.mean_squared_error(X, X.astype("d")),
            "convert x1 by astype(np.float32)",
        ),
        (
            lambda: F.mean_squared_error(X.astype("d"), X),
            "convert x0 by astype(np.float32)",
        ),
        (
            lambda: F.mean_squared_error(X[:, :1], T[:, None]),
            "convert x1 by astype(np.float32)",
        ),
        (
            lambda: F.mean_absolute_error(X[:, :1], X[:, 0]),
            "convert x1 by reshape(4, 1)",
        ),
        (lambda: L.Linear(3, 2)(X[0]), "if x is one sample, add the axis of samples by x[None]"),
    ],
)
def test_remedies(call, remedy):
    with pytest.raises(InvalidType) as caught:
        call()
    assert caught.value.__notes__[0].endswith(": " + remedy)


@pytest.mark.parametrize(
    ("call", "note"),
    [
        # Nothing common: a remedy would be a guess.
        (lambda: F.mean_squared_error(X, X[:2]), "x0 is float32 of shape (4, 3), x1 is float32 of"),
        (lambda: F.matmul(X, X), "a is float32 of shape (4, 3), b is float32 of shape (4, 3)"),
        (lambda: L.Linear(5, 2)(X), "x is float32 of shape (4, 3), W is float32 of shape (2, 5)"),
        (lambda: L.Linear(5, 2)(X[0]), "x is float32 of shape (3,), W is float32 of shape (2, 5)"),
        (lambda: F.concat([X, X[:, :2]], 0), "input 0 is float32 of shape (4, 3), input 1 is"),
    ],
)
def test_no_remedy_is_made_up(call, note):
    with pytest.raises(InvalidType) as caught:
        call()
    (text,) = caught.value.__notes__
    assert text.startswith(note)
    assert ":" not in text


def test_each_parameter_is_reported_once(monkeypatch):
    monkeypatch.setattr(misuse, "_reported", set())
    model = L.Linear(3, 2)
    with pytest.warns(MisuseWarning) as caught:
        steps(model, lambda: F.sum(model(X)), 5, clear=False)
    assert len(caught) == 2


class TestSilent:
    """Correct programs do the same; a warning would be wrong for them."""

    def test_gan(self):
        """The generator's loss adds gradients to the discriminator, which clears them later."""
        gen, dis = L.Linear(3, 3), L.Linear(3, 1)
        gen_opt, dis_opt = optimizers.SGD().setup(gen), optimizers.SGD().setup(dis)
        for _ in range(3):
            dis_opt.update(lambda: F.sum(dis(gen(X))))
            gen_opt.update(lambda: F.sum(dis(gen(X))))

    def test_accumulated_gradients(self):
        model = L.Linear(3, 2)
        optimizer = optimizers.SGD().setup(model)
        for _ in range(3):
            model.cleargrads()
            for _ in range(2):
                F.sum(model(X)).backward()
            optimizer.update()

    def test_gradients_set_by_hand(self):
        model = L.Linear(3, 2)
        optimizer = optimizers.SGD().setup(model)
        model.W.grad, model.b.grad = np.ones_like(model.W.array), np.ones_like(model.b.array)
        for _ in range(3):
            optimizer.update()

    def test_zeroed_by_hand(self):
        model = L.Linear(3, 2)
        model.cleargrads()
        optimizer = optimizers.SGD().setup(model)
        for _ in range(3):
            F.sum(model(X)).backward()
            optimizer.update()
            for param in model.params():
                param.grad[...] = 0

    def test_frozen_teacher(self):
        class Student(chainer.Chain):
            def __init__(self):
                super().__init__()
                with self.init_scope():
                    self.own = L.Linear(3, 2)
                self._teacher = L.Linear(3, 2)  # hidden on purpose

        model = Student()
        with chainer.no_backprop_mode():
            wanted = model._teacher(X)
        steps(model, lambda: F.mean_squared_error(model.own(X), wanted), 2)

    def test_entries_of_programs(self):
        with chainer.using_config("user_trian", 1), chainer.using_config("batch_size", 2):
            pass


def main():
    """Prints what is said about each mistake."""
    counts = {"said": 0, "silent": 0, "other": 0}
    silent = [(function, None, None) for function in SILENT]
    for case_of in [*(c.values for c in CASES), *silent]:
        function, kind, phrase = case_of
        misuse._reported.clear()
        texts = []
        with warnings.catch_warnings(record=True) as caught, tempfile.TemporaryDirectory() as out:
            warnings.simplefilter("always")
            try:
                function(pathlib.Path(out)) if kind else function()
            except pytest.skip.Exception:
                continue
            except Exception as error:
                texts = [(type(error), str(error))]
        texts += [(w.category, str(w.message)) for w in caught]
        said = kind and [t for c, t in texts if issubclass(c, kind) and re.search(phrase, t)]
        result = "said" if said else "other" if texts else "silent"
        counts[result] += 1
        print(f"{result}: {function.__name__}: {' '.join((said or [''])[0].split())[:200]}")
    print(counts)
    raise SystemExit(counts["silent"] > 5 or counts["other"] > 0)


if __name__ == "__main__":
    main()
