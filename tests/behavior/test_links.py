"""Links and serializers, as programs written for releases 4 to 7 use them."""

import subprocess
import sys
from unittest import mock

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import initializers, serializers

N = np.ones((2, 4), "f")
X = np.ones((2, 3), "f")


@pytest.mark.parametrize(
    ("link", "inputs", "filled"),
    [
        (L.ChildSumTreeLSTM(3, 4), (N, N / 2, None), (N, N / 2, X * 0)),
        (L.ChildSumTreeLSTM(3, 4), (N, N, N, N, None), (N, N, N, N, X * 0)),
        (L.ChildSumTreeLSTM(3, 4), (N, None, N, None, None), (N, N * 0, N, N * 0, X * 0)),
        (L.NaryTreeLSTM(3, 4, n_ary=2), (N, N, N, N, None), (N, N, N, N, X * 0)),
        (L.NaryTreeLSTM(3, 4, n_ary=2), (N, None, N, None, None), (N, N * 0, N, N * 0, X * 0)),
    ],
)
def test_tree_lstm_without_input(link, inputs, filled):
    """Tree LSTMs take x=None, and None among the children, for zeros."""
    for actual, expected in zip(link(*inputs), link(*filled), strict=True):
        np.testing.assert_allclose(actual.array, expected.array, rtol=1e-6)


@pytest.mark.parametrize("link", [L.ChildSumTreeLSTM(3, 4), L.NaryTreeLSTM(3, 4)])
def test_tree_lstm_without_any_input(link):
    """Tree LSTMs whose inputs are all None raise ValueError."""
    with pytest.raises(ValueError, match="None"):
        link(None, None, None, None, None)


@pytest.mark.parametrize(
    "make",
    [
        lambda: L.Linear(2, 3),
        lambda: L.Classifier(L.Linear(2, 3)),
        lambda: chainer.Sequential(L.Linear(2, 3)),
        lambda: chainer.ChainList(L.Linear(2, 3)),
    ],
)
@pytest.mark.parametrize("mode", [None, "share", "copy", "init"])
def test_gradients_of_copies(make, mode):
    """Copies that share arrays have no gradients; 'copy' copies them, 'init' has NaN ones."""
    link = make()
    for param in link.params():
        param.grad = np.ones_like(param.array)
    twin = link.copy() if mode is None else link.copy(mode=mode)
    twins = dict(twin.namedparams())
    for name, param in link.namedparams():
        grad = twins[name].grad
        assert (twins[name].array is param.array) == (mode in (None, "share"))
        if mode == "copy":
            assert grad is not param.grad
            np.testing.assert_array_equal(grad, param.grad)
        elif mode == "init":
            assert np.isnan(grad).all()
        else:
            assert grad is None
    twin.cleargrads()
    assert all((param.grad == 1).all() for param in link.params())


class Recording(chainer.Link):
    def __init__(self):
        super().__init__()
        self.serializers = []

    def serialize(self, serializer):
        self.serializers.append(serializer)


@pytest.mark.parametrize("suffix", ["npz", "hdf5"])
@pytest.mark.filterwarnings("ignore:.*entries that the object does not have")
def test_loading_serializes_once(tmp_path, suffix):
    """Loading a file calls serialize() once, with the deserializer."""
    if suffix == "hdf5":
        pytest.importorskip("h5py")
    save, load = (getattr(serializers, f"{verb}_{suffix}") for verb in ("save", "load"))
    link = Recording()
    save(tmp_path / "file", L.Linear(2, 3))
    load(tmp_path / "file", link)
    (serializer,) = link.serializers
    assert isinstance(serializer, chainer.Deserializer)
    assert not isinstance(serializer, chainer.Serializer)


@pytest.mark.parametrize("other", [1, None, [F.relu]])
def test_sequential_takes_a_sequential_on_its_right(other):
    """``s + x`` and ``s += x`` raise ValueError unless x is a Sequential."""
    model = chainer.Sequential(F.relu)
    with pytest.raises(ValueError, match="Sequential"):
        model + other
    with pytest.raises(ValueError, match="Sequential"):
        model += other
    model += chainer.Sequential(F.tanh)
    assert list(model) == [F.relu, F.tanh]


@pytest.mark.parametrize("count", [0, 2, 3])
def test_gru_with_a_wrong_number_of_inputs(count):
    """L.GRU takes one input: ValueError with the number given, two hint at StatelessGRU."""
    with pytest.raises(ValueError, match=f"But {count} is given") as info:
        L.GRU(3, 4)(*[X] * count)
    assert ("StatelessGRU" in str(info.value)) == (count == 2)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: L.Bilinear(2, 3, 4, False, np.ones((2, 3, 5), "f")), AssertionError),
        (lambda: L.Bilinear(2, 3, 4, False, None, (X, X, np.ones(4, "f"))), AssertionError),
        (lambda: L.InceptionBN(3, 2, 2, 2, 2, 2, "avg", 2, stride=2), AssertionError),
        (lambda: L.InceptionBN(3, 2, 2, 2, 2, 2, "avg"), AssertionError),
        (lambda: L.InceptionBN(3, 2, 2, 2, 2, 2, "other", 2), NotImplementedError),
        (lambda: L.BatchNormalization({}), TypeError),
        (lambda: initializers.Orthogonal()(np.zeros((0, 3), "f")), ValueError),
    ],
)
def test_wrong_arguments_of_links(make, error):
    """Links and initializers raise the classes of errors that the releases raise."""
    with pytest.raises(error):
        make()


@pytest.mark.parametrize("kind", [L.Bias, L.Scale])
@pytest.mark.parametrize("debug", [False, True])
def test_bias_and_scale_with_a_wrong_number_of_inputs(kind, debug):
    """A wrong number of inputs is an AssertionError in debug mode and a ValueError in any."""
    with chainer.using_config("debug", debug):
        for link, inputs in ((kind(1, (3,)), (X, X)), (kind(1), (X,))):
            with pytest.raises(AssertionError if debug else ValueError):
                link(*inputs)


def test_modules_of_serializers_are_entered():
    """Importing chainer.serializers enters its modules into sys.modules under their names."""
    program = (
        "import sys, chainer.serializers as s\n"
        "assert sys.modules['chainer.serializers.npz'] is s.npz\n"
        "assert sys.modules['chainer.serializers.hdf5'] is s.hdf5\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)


@pytest.mark.parametrize("how", ["flag", "module"])
def test_hdf5_without_h5py(how, tmp_path):
    """Without h5py, and where hdf5._available is False, HDF5 serializers raise RuntimeError."""
    assert isinstance(serializers.hdf5._available, bool)
    patch = (
        mock.patch.object(serializers.hdf5, "_available", False, create=True)
        if how == "flag"
        else mock.patch.dict(sys.modules, {"h5py": None})
    )
    with patch:
        for call in (
            lambda: serializers.save_hdf5(tmp_path / "file", L.Linear(2, 3)),
            lambda: serializers.load_hdf5(tmp_path / "file", L.Linear(2, 3)),
            lambda: serializers.HDF5Serializer(None),
            lambda: serializers.HDF5Deserializer(None),
        ):
            with pytest.raises(RuntimeError):
                call()


def test_none_into_hdf5_of_an_old_h5py(tmp_path):
    """Serializing None into HDF5 needs h5py 2.7: RuntimeError with an older one."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "file", "w") as file:
        serializer = serializers.HDF5Serializer(file)
        old = mock.patch.object(h5py.version, "version_tuple", (2, 6, 0))
        with old, pytest.raises(RuntimeError):
            serializer("x", None)
        serializer("y", None)


class _Twice(chainer.Chain):
    def __init__(self, *children):
        super().__init__()
        for i, child in enumerate(children):
            self.add_link(f"c{i}", child)


@pytest.mark.parametrize(
    ("make", "first_weights", "next_number"),
    [
        (lambda: _Twice(L.Linear(2, 2), L.Linear(2, 2)), [0.2256, -0.228], 0.8764),
        (
            lambda: chainer.ChainList(
                chainer.Sequential(L.Linear(2, 2)), _Twice(L.Linear(2, 2)), L.Linear(2, 2)
            ),
            [1.1486, 0.2256, -0.228],
            0.8764,
        ),
        (
            lambda: chainer.Sequential(
                _Twice(L.Linear(2, 2)), L.Linear(2, 2), chainer.ChainList(L.Linear(2, 2))
            ),
            [0.6119, 0.2256, -0.228],
            0.8764,
        ),
    ],
    ids=["chain", "list", "sequential"],
)
def test_numbers_of_copies_that_are_initialized_anew(make, first_weights, next_number):
    """A chain draws the parameters of its children, and each child draws its own again."""
    link = make()
    np.random.seed(1)
    copied = link.copy("init")
    # Release 7.8.1 gave these numbers.
    weights = [p.array[0, 0] for p in copied.params() if p.ndim == 2]
    np.testing.assert_allclose(sorted(weights), sorted(first_weights), atol=1e-4)
    assert np.random.rand() == pytest.approx(next_number, abs=1e-4)
