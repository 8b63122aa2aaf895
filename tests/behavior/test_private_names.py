"""Private names of release 7 that programs import: they are there, and do what they did."""

from __future__ import annotations

import importlib
import subprocess
import sys

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.iterators._statemachine import IteratorState, iterator_statemachine


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("chainer.functions.connection.convolution_2d", "_pair"),
        ("chainer.functions.connection.deconvolution_2d", "_pair"),
        ("chainer.functions.pooling.pooling_2d", "_pair"),
        ("chainer.functions.array.im2col", "_pair"),
        ("chainer.links.connection.local_convolution_2d", "_pair _conv_output_length"),
        ("chainer.functions.rnn.slstm", "_extract_gates _sigmoid _grad_sigmoid _grad_tanh"),
        ("chainer.functions.activation.lstm", "_extract_gates _sigmoid _grad_sigmoid _grad_tanh"),
        ("chainer.dataset.convert", "_call_converter _concat_arrays _concat_arrays_with_padding"),
        ("chainer.utils.array", "sum_to size_of_shape"),
        ("chainer.links.model.vision.vgg", "_retrieve _make_npz _max_pooling_2d"),
        ("chainer.links.model.vision.googlenet", "_retrieve _make_npz _transfer_inception"),
        (
            "chainer.links.model.vision.resnet",
            "_retrieve _make_npz _transfer_block _transfer_bottleneckA _transfer_bottleneckB "
            "_transfer_components _transfer_resnet50 _transfer_resnet101 _transfer_resnet152",
        ),
    ],
)
def test_functions_are_there(module, names):
    for name in names.split():
        assert callable(getattr(importlib.import_module(module), name))


def test_values_of_helpers():
    from chainer.functions.activation.lstm import _extract_gates, _grad_sigmoid, _sigmoid
    from chainer.functions.array.permutate import _check_indices, _inverse_indices
    from chainer.functions.connection.convolution_2d import _pair
    from chainer.functions.rnn import tree_lstm
    from chainer.links.connection.local_convolution_2d import _conv_output_length

    assert _pair(3) == (3, 3)
    assert _pair([1, 2]) == [1, 2]
    assert _conv_output_length(7, 3, 2) == 3
    x = np.arange(16).reshape(2, 8)
    assert [gate[0].tolist() for gate in _extract_gates(x)] == [[0, 4], [1, 5], [2, 6], [3, 7]]
    x = np.arange(20).reshape(2, 10)
    assert [gate[1].tolist() for gate in tree_lstm._extract_gates(x)][:2] == [[10, 11], [12, 13]]
    y = _sigmoid(np.array([-1000.0, 0.0, 2.0]))
    np.testing.assert_allclose(y, [0, 0.5, 1 / (1 + np.exp(-2))])
    np.testing.assert_allclose(_grad_sigmoid(y), y * (1 - y))
    assert _inverse_indices(np.array([2, 0, 1])).tolist() == [1, 2, 0]
    with pytest.raises(ValueError, match="indices"):
        _check_indices(np.array([0.5]))


def test_checks_of_softmax_cross_entropy():
    from chainer.functions.loss import softmax_cross_entropy as module

    loss = importlib.import_module("chainer.functions.loss.softmax_cross_entropy")
    assert module is not None
    loss._check_class_weight_option(None)
    loss._check_class_weight_option(np.ones(3, "f"))
    with pytest.raises(ValueError, match="Variable"):
        loss._check_class_weight_option(chainer.Variable(np.ones(3, "f")))
    loss._check_reduce_option("no")
    with pytest.raises(ValueError, match="sum"):
        loss._check_reduce_option("sum")


@pytest.mark.parametrize("name", ["experimental", "nondeterministic"])
def test_module_that_is_also_a_function(name):
    """Both before and after the import of the module, in a process that has not imported it."""
    program = f"""
import warnings
import chainer
import chainer.utils.{name}
from chainer.utils.{name} import {name}
chainer.config.warn_nondeterministic = True
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    chainer.utils.{name}("f")
    {name}("g")
assert len(caught) == 2, caught
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_private_modules_are_attributes_of_the_package():
    program = "import chainer; print(chainer._runtime_info.print_runtime_info.__name__); "
    program += "print(chainer._backprop_utils.backprop_step.__name__, chainer._version.__version__)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert done.stdout.decode().split() == [
        "print_runtime_info",
        "backprop_step",
        chainer.__version__,
    ]


def test_defaults_of_optimizers():
    from chainer.optimizers import adam, momentum_sgd

    assert adam._default_hyperparam.beta2 == 0.999
    assert repr(momentum_sgd._default_hyperparam) == "Hyperparameter(lr=0.01, momentum=0.9)"


def test_states_of_iterators():
    # As computed by Chainer 7.8.1.
    state = IteratorState(0, 0, False, np.array([2, 0, 1]))
    calls = []

    def sampler(order, position):
        calls.append((order.tolist(), position))
        return order[::-1]

    seen = []
    for _ in range(3):
        state, indexes = iterator_statemachine(state, 2, True, sampler, 3)
        seen.append((indexes.tolist(), state.current_position, state.epoch, state.is_new_epoch))
    assert seen == [([2, 0], 2, 0, False), ([1, 1], 1, 1, True), ([0, 2], 0, 2, True)]
    assert calls == [([2, 0, 1], 2), ([1, 0, 2], 1)]
    state, indexes = iterator_statemachine(IteratorState(2, 0, False, None), 2, False, None, 3)
    assert (indexes.tolist(), state) == ([2], (0, 1, True, None))
    assert iterator_statemachine(state, 2, False, None, 3) == (state, None)
    with pytest.raises(ValueError, match="same length"):
        iterator_statemachine(
            IteratorState(0, 0, False, np.arange(3)), 3, True, lambda order, position: order[:1], 3
        )


def test_datasets_of_archives_in_the_module_of_images():
    from chainer.datasets import image_dataset

    assert image_dataset.ZippedImageDataset is chainer.datasets.ZippedImageDataset
    assert callable(image_dataset._check_pillow_availability)
    assert isinstance(image_dataset.available, bool)


def test_images_as_pillow_has_them(tmp_path):
    from chainer.datasets.image_dataset import _postprocess_image, _read_image_as_array

    image = pytest.importorskip("PIL.Image")
    image.new("RGB", (4, 3), (1, 2, 3)).save(tmp_path / "a.png")
    array = _read_image_as_array(str(tmp_path / "a.png"), np.dtype("f"))
    assert (array.shape, array.dtype) == ((3, 4, 3), np.float32)
    assert _postprocess_image(array).shape == (3, 3, 4)
    assert _postprocess_image(array[:, :, 0]).shape == (1, 3, 4)


def test_weights_of_own_bottlenecks_come_from_a_caffemodel():
    from chainer.links.model.vision.resnet import BottleneckB, _transfer_bottleneckB

    source, target = chainer.Chain(), BottleneckB(4, 2)
    with source.init_scope():
        for letter, (n_in, n_out, ksize) in zip("abc", [(4, 2, 1), (2, 2, 3), (2, 4, 1)]):
            name = f"2b_branch2{letter}"
            setattr(source, f"res{name}", L.Convolution2D(n_in, n_out, ksize))
            setattr(source, f"bn{name}", L.BatchNormalization(n_out))
            setattr(source, f"scale{name}", L.Scale(axis=1, W_shape=(n_out,), bias_term=True))
    source.bn2b_branch2c.avg_mean[...] = 7
    _transfer_bottleneckB(source, target, "2b")
    np.testing.assert_array_equal(target.conv2.W.array, source.res2b_branch2b.W.array)
    assert (target.bn3.avg_mean == 7).all()


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("chainer.functions", "relu n_step_lstm"),
        ("chainer.links", "Linear VGG16Layers"),
        ("chainer.iterators", "SerialIterator"),
        ("chainer.optimizers", "Adam AdaBound"),
        ("chainer.training.extensions", "LogReport snapshot"),
        ("chainer.datasets", "TupleDataset get_mnist"),
        ("chainer.training", "Trainer extensions"),
        ("chainer.backends.cuda", "available cupy to_cpu"),
    ],
)
def test_star_imports(module, names):
    found: dict[str, object] = {}
    exec(f"from {module} import *", found)
    assert set(names.split()) <= set(found)


class TestNamesOfPackages:
    """Names that packages import; values computed with release 7.8.1."""

    def test_matmul(self):
        from chainer.functions.math.matmul import _get_check_index, _matmul

        a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
        np.testing.assert_array_equal(_matmul(a, b)[0], [20, 23, 26, 29])
        np.testing.assert_array_equal(_matmul(a.T, b.T, True, True, True), (a @ b).T)
        assert _matmul(a[0], a[0]) == 5
        np.testing.assert_array_equal(_matmul(b[:, 0], b.T, True, True), b[:, 0] @ b)
        flags = (True, False)
        found = [_get_check_index(x, y, row_idx=3, col_idx=4) for x in flags for y in flags]
        assert found == [4, 3, 3, 4]

    def test_testing(self):
        from chainer.testing.matrix import _broadcast_to

        np.testing.assert_array_equal(_broadcast_to(np.arange(3), (2, 3)), [[0, 1, 2]] * 2)

    def test_graphviz(self, monkeypatch):
        from chainer.training.extensions import computational_graph

        assert computational_graph.is_return_code_zero([sys.executable, "-c", ""])
        assert not computational_graph.is_return_code_zero([sys.executable, "-c", "exit(1)"])
        monkeypatch.setenv("PATH", "")
        assert not computational_graph.is_graphviz_available()

    def test_parallel_updater(self):
        from chainer.training.updaters import multiprocess_parallel_updater as module

        link = L.Linear(2, 3)
        for gather in (module.gather_grads, module.gather_params):
            with pytest.raises(RuntimeError, match="works only on GPU"):
                gather(link)
        link.cleargrads()
        module.scatter_grads(link, np.arange(9, dtype=np.float32))
        np.testing.assert_array_equal(link.b.grad, [6, 7, 8])
        with pytest.raises(RuntimeError, match="Unexpected data type:int32"):
            module._get_nccl_data_type(np.int32)

    def test_readers_of_datasets(self, tmp_path):
        from chainer.datasets.pickle_dataset import _FileReader

        path = tmp_path / "data"
        path.write_bytes(b"abcdef")
        reader = _FileReader(path)
        assert (reader.read(2), reader.tell(), reader.seek(1)) == (b"ab", 2, 1)
        buffer = bytearray(3)
        assert (reader.readinto(buffer), buffer) == (3, b"bcd")
        reader.after_fork()
        assert reader.read() == b"abcdef"
        reader.close()
        assert reader.closed
        with chainer.datasets.open_pickle_dataset_writer(path) as writer:
            writer.write([1])
        with chainer.datasets.open_pickle_dataset(path) as dataset:
            assert isinstance(dataset._reader, _FileReader)
        path.write_text("a\nb")
        dataset = chainer.datasets.TextDataset(path)
        (file,) = dataset._fps
        dataset.close()
        assert file.closed and dataset._fps is None

    def test_links_call_functions_of_their_modules(self, monkeypatch):
        import chainer.links.connection.linear
        import chainer.links.loss.negative_sampling

        module = chainer.links.loss.negative_sampling.negative_sampling
        monkeypatch.setattr(module, "negative_sampling", lambda *args, **kwargs: "patched")
        link = L.NegativeSampling(3, [5, 2, 1], 2)
        assert link(np.zeros((1, 3), np.float32), np.zeros(1, np.int32)) == "patched"
        module = chainer.links.connection.linear.linear
        monkeypatch.setattr(module, "linear", lambda *args, **kwargs: "patched")
        assert L.Linear(3, 2)(np.zeros((1, 3), np.float32)) == "patched"
        # These links call the functions by their public names, in release 7, too.
        x = np.zeros((2, 3), np.float32)
        for name in ("batch_normalization", "decorrelated_batch_normalization"):
            link = {"b": L.BatchNormalization, "d": L.DecorrelatedBatchNormalization}[name[0]](3)
            for prefix, train in (("", True), ("fixed_", False)):
                monkeypatch.setattr(F, prefix + name, lambda *args, **kwargs: "patched")
                with chainer.using_config("train", train):
                    assert link(x) == "patched"


class Parts(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.layer = L.Linear(2, 3)
            self.norm = L.BatchNormalization(3)
        self.add_persistent("count", 3)


def test_children_and_persistent_values_of_links_are_sets_of_names():
    # ChainerRL's namedpersistent and to_factorized_noisy read them.
    parts = Parts()
    assert isinstance(parts._children, set)
    assert sorted(parts._children.copy()) == ["layer", "norm"]
    assert isinstance(parts._persistent, set)
    assert sorted(parts._persistent) == ["count"]
    assert sorted(parts.norm._persistent) == ["N", "avg_mean", "avg_var"]
    with pytest.warns(DeprecationWarning, match="_device_id"):
        assert parts._device_id is None
    assert parts.layer is parts.__dict__["layer"]


@pytest.mark.parametrize("kind", [chainer.ChainList, chainer.Sequential])
def test_a_replaced_child_of_a_list_is_called(kind):
    # ChainerRL's to_factorized_noisy replaces links so.
    links = kind(L.Linear(2, 3), L.Linear(3, 3))
    new = L.Linear(2, 1)
    links._children[0] = new
    if kind is chainer.Sequential:
        links._layers[0] = new
        links._layers.pop()
        assert links(np.zeros((1, 2), "f")).shape == (1, 1)
    assert links[0] is new


def test_hooks_in_the_table_of_link_hooks_are_called():
    # Chainer Chemistry's saliency adds hooks without a context.
    from chainer.link_hook import _ForwardPostprocessCallbackArgs, _ForwardPreprocessCallbackArgs

    events = []

    class Hook(chainer.LinkHook):
        def forward_preprocess(self, args):
            events.append(args)

        forward_postprocess = forward_preprocess

    layer = L.Linear(2, 3)
    chainer._get_link_hooks()["mine"] = Hook()
    try:
        layer(np.zeros((1, 2), "f"))
    finally:
        del chainer._get_link_hooks()["mine"]
    layer(np.zeros((1, 2), "f"))
    assert [type(args) for args in events] == [
        _ForwardPreprocessCallbackArgs,
        _ForwardPostprocessCallbackArgs,
    ]
    assert events[0].args[0].shape == (1, 2)
    assert events[1].out.shape == (1, 3)


def test_parts_of_extensions_that_subclasses_read():
    # ChainerCV's and Chainer Chemistry's evaluators and reports read them.
    iterator, link = chainer.iterators.SerialIterator([1], 1, repeat=False), L.Linear(2, 3)
    evaluator = chainer.training.extensions.Evaluator(iterator, link)
    assert evaluator._iterators == {"main": iterator}
    assert evaluator._targets == {"main": link}
    report = chainer.training.extensions.LogReport(trigger=(2, "iteration"))
    assert (report._trigger.unit, report._trigger.period) == ("iteration", 2)
