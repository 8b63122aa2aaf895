"""Weights copied from files into large blocks of memory: the same model, and faster decoding."""

import itertools

import chainer
import chainer.links as L
import numpy as np
import pytest
from published import write_folder
from reference_models import tokens

import chainer_models as cm
from chainer_models.large_pages import copy_parameters

pytestmark = pytest.mark.usefixtures("evaluating")


def owner_of(array):
    """The array that owns the memory of a view, or the mapped file."""
    base = getattr(array, "base", None)
    return array if base is None else owner_of(base)


@pytest.mark.parametrize("case", ["gpt2", "llama"])
def test_copied_weights_are_those_of_the_file(case, tmp_path):
    folder = write_folder(tmp_path, case)
    mapped, own = cm.load_pretrained(folder), cm.load_pretrained(folder, mapped=False)
    found = dict(own.namedparams())
    for path, parameter in mapped.namedparams():
        array, copied = parameter.array, found[path].array
        np.testing.assert_array_equal(copied, array)
        # The order of axes in memory decides which product computes a token, and thus its bits.
        assert copied.strides == array.strides
        assert copied.flags.writeable
        assert not np.shares_memory(copied, array)
        assert isinstance(owner_of(copied), np.ndarray)
        assert not isinstance(owner_of(array), np.ndarray)
    np.testing.assert_array_equal(own(tokens()).array, mapped(tokens()).array)
    ids = tokens()[:1, :4]
    options = {"max_new_tokens": 6}
    np.testing.assert_array_equal(
        cm.generate(own, ids, **options), cm.generate(mapped, ids, **options)
    )


def test_transposed_weights_stay_transposed(tmp_path):
    model = cm.load_pretrained(write_folder(tmp_path, "gpt2"), mapped=False)
    W = model.layers[0].mlp.up.W.array
    assert W.flags.f_contiguous
    assert not W.flags.c_contiguous


def test_the_file_may_change_after_a_copy(tmp_path):
    folder = write_folder(tmp_path, "llama")
    model = cm.load_pretrained(folder, mapped=False)
    expected = model(tokens()).array
    path = folder / "model.safetensors"
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2)
        file.write(bytes(size - size // 2))
    np.testing.assert_array_equal(model(tokens()).array, expected)


def test_copies_are_saved_and_trained(tmp_path):
    model = cm.load_pretrained(write_folder(tmp_path / "old", "llama"), mapped=False)
    for parameter in model.params():
        parameter.array[...] += 1
    cm.save_pretrained(model, tmp_path / "new")
    again = dict(cm.load_pretrained(tmp_path / "new").namedparams())
    for path, parameter in model.namedparams():
        np.testing.assert_array_equal(again[path].array, parameter.array)


@pytest.mark.parametrize("kind", ["bfloat16", "int8", "int4"])
def test_packed_weights_are_copied_once(kind, tmp_path):
    folder = write_folder(tmp_path, "llama")
    mapped = cm.load_pretrained(folder, weights=kind)
    own = cm.load_pretrained(folder, weights=kind, mapped=False)
    np.testing.assert_array_equal(own(tokens()).array, mapped(tokens()).array)


def test_arrays_are_side_by_side_at_lines_of_the_cache(monkeypatch):
    monkeypatch.setattr("chainer_models.large_pages.LARGE_BYTES", 256)
    monkeypatch.setattr("chainer_models.large_pages.BLOCK_BYTES", 1024)
    shapes = [(5, 7), (100, 9), (1, 1), (0, 3), (6, 11)]  # one is larger than a block
    model = chainer.ChainList(*[L.Linear(n, m) for m, n in shapes])
    model[4].W.array = np.asfortranarray(model[4].W.array)
    shared = model[0].W
    before = [p.array.copy() for p in model.params()]
    copy_parameters(model)
    arrays = [p.array for p in model.params()]
    assert model[0].W is shared
    for array, expected in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, expected)
        assert array.ctypes.data % 64 == 0 or not array.size
    assert model[4].W.array.flags.f_contiguous
    places = sorted((a.ctypes.data, a.nbytes) for a in arrays if a.size)
    assert all(a + n <= b for (a, n), (b, _) in itertools.pairwise(places))
    blocks = {id(owner_of(a)) for a in arrays if a.size}
    assert 1 < len(blocks) < len(places)


def test_scalars_and_views_with_gaps_become_dense():
    model = chainer.Chain()
    with model.init_scope():
        model.scale = chainer.Parameter(np.array(3, "f"))
        model.W = chainer.Parameter(np.arange(12, dtype="d").reshape(3, 4)[:, ::2])
        model.half = chainer.Parameter(np.ones((2, 3), np.float16))
    copy_parameters(model)
    assert model.scale.array.shape == ()
    assert model.scale.array == 3
    assert model.W.array.tolist() == [[0, 2], [4, 6], [8, 10]]
    assert model.W.array.flags.carray
    assert model.half.array.dtype == np.float16
