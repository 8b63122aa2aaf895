"""Mistakes with newer parts, files and inputs."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import MisuseWarning, iterators, optimizers, training
from chainer.functions.rules import UnaryFunction
from chainer.training import extensions
from tests.robustness.misuse_cases import T, X, case, steps, trainer


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
