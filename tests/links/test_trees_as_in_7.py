"""Copies, names and gradients in trees of links, as random programs of release 7.8.1 have them."""

import copy
import io
import pickle

import numpy as np
import pytest

import chainer
import chainer.links as L
from chainer import link_hooks


class Note(chainer.LinkHook):
    """A hook that counts its calls."""

    name = "note"

    def __init__(self):
        self.count = 0

    def forward_preprocess(self, args):
        self.count += 1


def filled(value):
    return L.Linear(1, 1, initialW=value)


def weights(links):
    return [float(link.W.array[0, 0]) for link in links]


@pytest.mark.parametrize("duplicate", [copy.copy, lambda link: link.copy()])
@pytest.mark.parametrize("adds_to_copy", [True, False])
def test_hook_added_after_a_copy_runs_in_both(duplicate, adds_to_copy):
    """A copy shares the dictionary of hooks; one that is added later must not be passed over."""
    link = L.Linear(2, 2)
    assert not link.local_link_hooks
    other = duplicate(link)
    hook = Note()
    (other if adds_to_copy else link).add_hook(hook)
    link(np.zeros((1, 2), np.float32))
    other(np.zeros((1, 2), np.float32))
    assert hook.count == 2


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda link: pickle.loads(pickle.dumps(link))]
)
def test_deep_copy_keeps_tied_arrays(duplicate):
    model = chainer.Chain(embed=L.EmbedID(3, 2), out=L.Linear(2, 3))
    model.out.W.array = model.embed.W.array
    replica = duplicate(model)
    assert replica.out.W.array is replica.embed.W.array
    assert replica.out.W.array is not model.out.W.array
    assert replica.out.b.array is not model.out.b.array


def test_deep_copy_keeps_an_array_that_others_hold():
    x = chainer.Variable(np.ones(2, np.float32))
    x.grad = np.full(2, 3, np.float32)
    replica, array, grad = copy.deepcopy([x, x.array, x.grad])
    assert replica.array is array
    assert replica.grad is grad
    array, replica = copy.deepcopy([x.array, x])
    assert replica.array is array


def test_gradient_and_array_of_one_object_stay_one():
    x = chainer.Parameter(np.ones(2, np.float32))
    x.grad = x.array
    replica = copy.deepcopy(x)
    assert replica.grad is replica.array


def test_reversed_sequential_has_the_numbers_of_7():
    model = chainer.Sequential(*[filled(value) for value in (1, 2, 3, 4)], chainer.functions.relu)
    model.reverse()
    assert weights(model[1:]) == [4, 3, 2, 1]
    assert weights(model.children()) == [4, 3, 2, 1]
    assert [link.name for link in model.children()] == ["0", "1", "2", "3"]
    model = chainer.Sequential(*[filled(value) for value in (1, 2, 3, 4)])
    model.reverse()
    model.reverse()
    assert weights(model) == [1, 2, 3, 4]


def test_copyparams_of_a_longer_sequential_goes_by_layers():
    model = chainer.Sequential(filled(1), filled(2))
    model.copyparams(chainer.Sequential(filled(4), filled(5), filled(6), filled(7)))
    assert weights(model) == [4, 5]
    with pytest.raises(IndexError):
        model.copyparams(chainer.Sequential(filled(4)))
    with pytest.raises(KeyError, match="layer 0 of the source is relu, .* here it is Linear"):
        model.copyparams(chainer.Sequential(chainer.functions.relu, filled(4)))


def test_addgrads_of_a_sequential_goes_by_layers():
    a, b = (chainer.Sequential(chainer.functions.relu, *map(filled, (1, 2, 3))) for _ in range(2))
    for number, model in enumerate((a, b), 1):
        for i, layer in enumerate(model[1:]):
            layer.W.grad = np.full((1, 1), 10**i * number, np.float32)
            layer.b.grad = np.zeros(1, np.float32)
    a.addgrads(b)
    assert [float(layer.W.grad[0, 0]) for layer in a[1:]] == [3, 30, 300]


@pytest.mark.parametrize("mode", ["share", "copy", "init"])
def test_names_of_copies(mode):
    inner = chainer.ChainList(L.Linear(1, 1))
    inner.name = "named"
    assert inner.copy(mode).name is None
    chain = chainer.Chain(first=inner)
    chainer.Chain(second=inner)
    assert inner.name == "second"
    assert chain.copy(mode).first.name == "first"
    assert chainer.ChainList(chain).copy(mode)[0].first.name == "first"


def test_gradient_of_the_parameter_link_is_undefined():
    array = np.zeros((2, 3), np.float32)
    link = L.Parameter(array)
    assert link.W.array is array
    assert np.isnan(link.W.grad).all()
    link.cleargrads()
    assert link.W.grad is None
    assert (link.copy("init").W.array == 0).all()


def test_gradient_after_a_second_initialization():
    """It is undefined where the parameter was made without a shape, and None otherwise."""
    param = chainer.Parameter(0.5, (2,))
    assert np.isnan(param.grad).all()
    param.initialize((3,))
    assert param.grad is None
    late = chainer.Parameter(0.5)
    for shape in (3, 2):
        late.initialize((shape,))
        assert late.grad.shape == (shape,)
        assert np.isnan(late.grad).all()
    zero = chainer.Parameter(0.5)
    with pytest.deprecated_call():
        zero.zerograd()
    for shape in (3, 2):
        zero.initialize((shape,))
        assert zero.grad.tolist() == [0] * shape
    replica = copy.deepcopy(param)
    replica.initialize((2,))
    assert np.isnan(replica.grad).all()


def test_failed_load_leaves_uninitialized_parameters_undefined():
    file = io.BytesIO()
    chainer.serializers.save_npz(file, chainer.Link())
    file.seek(0)
    link = L.Linear(None, 3)
    with pytest.raises(KeyError):
        chainer.serializers.load_npz(file, link)
    with pytest.raises(RuntimeError, match="Cannot retrieve"):
        _ = link.W.grad
    link(np.zeros((1, 2), np.float32))
    assert np.isnan(link.W.grad).all()


@pytest.mark.parametrize("strict", [True, False])
def test_spectral_normalization_loads_files_without_its_vector(strict):
    file = io.BytesIO()
    chainer.serializers.save_npz(file, L.Linear(3, 2))
    file.seek(0)
    link = L.Linear(None, 2).add_hook(link_hooks.SpectralNormalization())
    chainer.serializers.load_npz(file, link, strict=strict)
    assert "W_u" not in vars(link)
    link(np.ones((1, 3), np.float32))
    assert link.W_u.shape == (2,)


def test_spectral_normalization_loads_its_vector_before_the_first_call():
    trained = L.Linear(3, 2).add_hook(link_hooks.SpectralNormalization())
    x = np.ones((1, 3), np.float32)
    trained(x)
    file = io.BytesIO()
    chainer.serializers.save_npz(file, trained)
    file.seek(0)
    link = L.Linear(None, 2).add_hook(link_hooks.SpectralNormalization())
    chainer.serializers.load_npz(file, link)
    np.testing.assert_array_equal(link.W_u, trained.W_u)
    with chainer.using_config("train", False):
        np.testing.assert_allclose(link(x).array, trained(x).array, rtol=1e-6)


def test_something_else_in_the_place_of_a_parameter_can_be_copied():
    link = L.Linear(2, 2)
    link.b = L.Linear(1, 1)
    assert isinstance(link.copy().b, L.Linear)


def test_deleted_statistics_are_named():
    link = L.BatchNormalization(3)
    del link.avg_mean
    with pytest.raises(AttributeError, match="has no avg_mean any more"):
        link(np.zeros((2, 3), np.float32))


def test_highway_calls_its_plain_layer_first():
    seen = []

    class Names(chainer.LinkHook):
        name = "names"

        def forward_preprocess(self, args):
            seen.append(args.link.name)

    with Names():
        L.Highway(2)(np.zeros((1, 2), np.float32))
    assert seen == [None, "plain", "transform"]
