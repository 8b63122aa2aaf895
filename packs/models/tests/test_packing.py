"""Packed weights: what they are, what is computed with them, and fine-tuning on them."""

import contextlib
import copy
import itertools

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from chainer import gradient_check
from chainer.utils import type_check
from published import REFERENCE, write_folder
from reference_models import CASES, LARGE, ended_tokens, image_size, images, sounds, tokens

import chainer_models as cm
from chainer_models.large_pages import place_side_by_side
from chainer_models.packing import scores_of_words

KINDS = ("bfloat16", "int8", "int4")


@pytest.fixture
def model(tmp_path):
    return cm.load_pretrained(write_folder(tmp_path / "model", "gpt2"))


def layer(out_size=5, in_size=7, seed=0):
    link = L.Linear(in_size, out_size)
    rng = np.random.RandomState(seed)
    link.W.array[...] = rng.randn(out_size, in_size)
    link.b.array[...] = rng.randn(out_size)
    return link


def error_of(kind, w):
    """The greatest error that a kind may have, for each element."""
    if kind == "bfloat16":
        return np.abs(w) * 2.0**-8
    if kind == "int8":
        return np.abs(w).max(axis=1, keepdims=True) / 127 / 2 * 1.0001
    return (w.max(axis=1, keepdims=True) - w.min(axis=1, keepdims=True)) / 15 / 2 * 1.0001


@pytest.mark.parametrize("shape", [(5, 7), (3, 64), (2, 130), (1, 1), (0, 4)])
@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_near(kind, shape):
    if shape[0] == 0:
        base = L.Linear(4, 1)
        base.W.array = np.zeros(shape, "f")
        base.b.array = np.zeros(0, "f")
    else:
        base = layer(*shape)
    packed = cm.PackedLinear(base, kind)
    found = packed.rows(0, shape[0])
    assert found.shape == shape
    assert found.dtype == np.float32
    if shape[0]:
        # Ranges of groups are within the range of the row.
        assert (np.abs(found - base.W.array) <= error_of(kind, base.W.array) + 1e-6).all()


def of_many_sizes():
    """A layer whose rows have numbers that 12 bits do not hold."""
    base = layer(70, 70)
    w = base.W.array
    w[0] = 0
    w[1] *= np.float32(2.0) ** np.arange(0, -70, -1)
    w[2] *= np.float32(1e-38)
    w[3] *= np.float32(2.0**120)
    w[4, 0] = -np.finfo("f").max
    w[5, ::2] *= np.float32(1e-5)
    w[69, 69] = 1e-12
    return base


def nearest_bfloat16(w):
    """The nearest numbers of bfloat16 of finite ones; those at the end stay finite."""
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="pip install ml_dtypes")
    largest = float(ml_dtypes.finfo(ml_dtypes.bfloat16).max)
    return np.clip(w.astype(ml_dtypes.bfloat16).astype("f"), -largest, largest)


def test_bfloat16_is_kept_without_loss():
    """Also numbers whose exponents are far below the largest one of their row."""
    base = of_many_sizes()
    packed = cm.PackedLinear(base, "bfloat16")
    expected = nearest_bfloat16(base.W.array)
    np.testing.assert_array_equal(packed.rows(0, 70), expected)
    np.testing.assert_array_equal(packed.rows(1, 3), expected[1:3])
    assert packed.remainders.size > 70
    # A matrix of normally distributed numbers takes 12 bits for each.
    assert cm.PackedLinear(layer(64, 256), "bfloat16").nbytes < 64 * 256 * 1.55
    embedding = L.EmbedID(70, 70, initialW=base.W.array)
    ids = np.array([1, 5, 5, 69, -1, 0])
    found = cm.PackedEmbedding(embedding, "bfloat16")(ids).array
    np.testing.assert_array_equal(found, expected[ids])


@pytest.mark.parametrize("form", ["npz", "hdf5", "safetensors"])
def test_files_of_bfloat16(form, tmp_path):
    """A file fits any matrix of the shape, whatever numbers have remainders."""
    if form == "hdf5":
        pytest.importorskip("h5py", reason="pip install h5py")
    first = cm.PackedLinear(of_many_sizes(), "bfloat16")
    path = str(tmp_path / f"model.{form}")
    getattr(chainer.serializers, f"save_{form}")(path, first)
    second = cm.PackedLinear(layer(70, 70, seed=3), "bfloat16")
    getattr(chainer.serializers, f"load_{form}")(path, second)
    np.testing.assert_array_equal(second.rows(0, 70), first.rows(0, 70))
    np.testing.assert_array_equal(second.b.array, first.b.array)
    again = chainer.serializers.npz.serialize(second)
    for name, array in chainer.serializers.npz.serialize(first).items():
        np.testing.assert_array_equal(again[name], array)


def test_copies_of_bfloat16():
    first = cm.PackedLinear(of_many_sizes(), "bfloat16")
    second = cm.PackedLinear(layer(70, 70, seed=3), "bfloat16")
    kept = second.rows(0, 70)
    second.copyparams(first, copy_persistent=False)
    np.testing.assert_array_equal(second.b.array, first.b.array)
    np.testing.assert_array_equal(second.rows(0, 70), kept)
    second.copyparams(first)
    for copied in (second, first.copy(), copy.deepcopy(first)):
        np.testing.assert_array_equal(copied.rows(0, 70), first.rows(0, 70))
    with pytest.raises(ValueError, match=r"link must be a packed layer of bfloat16 and shape \(70"):
        second.copyparams(cm.PackedLinear(layer(70, 70), "int8"))
    before = first.rows(0, 70)
    first.to_device("@numpy")
    np.testing.assert_array_equal(first.rows(0, 70), before)


def test_bfloat16_is_rounded_to_the_nearest_even():
    base = layer(50, 40)
    expected = nearest_bfloat16(base.W.array)
    np.testing.assert_array_equal(cm.PackedLinear(base, "bfloat16").rows(0, 50), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_embeddings_and_scores_of_words(kind):
    base = L.EmbedID(9, 7)
    packed = cm.PackedEmbedding(base, kind)
    plain = packed.unpacked()
    ids = np.array([[3, 8, 0], [8, 8, 1]])
    np.testing.assert_array_equal(packed(ids).array, plain(ids).array)
    h = np.random.RandomState(0).randn(2, 3, 7).astype("f")
    expected = scores_of_words(plain, chainer.Variable(h))
    found = scores_of_words(packed, chainer.Variable(h))
    np.testing.assert_allclose(found.array, expected.array, rtol=1e-4, atol=1e-5)
    with pytest.raises(IndexError):
        packed(np.array([9]))


@pytest.mark.parametrize("kind", KINDS)
def test_zero_and_constant_rows(kind):
    base = layer(3, 8)
    base.W.array[0], base.W.array[1] = 0, 2
    rows = cm.PackedLinear(base, kind).rows(0, 2)
    np.testing.assert_allclose(rows, base.W.array[:2], rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_output_and_gradients(kind, monkeypatch):
    # Several parts, of which the last one is shorter.
    monkeypatch.setattr("chainer_models.packed_products.ROWS", 2)
    packed = cm.PackedLinear(layer(), kind)
    plain = packed.unpacked()
    rng = np.random.RandomState(1)
    x = rng.randn(4, 7).astype("f")
    np.testing.assert_allclose(packed(x).array, plain(x).array, rtol=1e-4, atol=1e-5)
    both = packed(x.reshape(2, 2, 7), n_batch_axes=2)
    np.testing.assert_array_equal(both.array.reshape(4, 5), packed(x).array)
    gradient_check.check_double_backward(
        lambda x: packed(x) ** 2,
        x, rng.randn(4, 5).astype("f"), rng.randn(4, 7).astype("f"),
        eps=1e-2, rtol=2e-2, atol=2e-2,
    )  # fmt: skip
    packed.cleargrads()
    v = chainer.Variable(x)
    F.sum(packed(v) * 2).backward()
    expected = np.full((4, 5), 2) @ plain.W.array
    np.testing.assert_allclose(v.grad, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(packed.b.grad, np.full(5, 8), rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_small_weights_are_side_by_side_in_large_memory(kind, monkeypatch):
    links = [cm.PackedLinear(layer(5, 7 + i), kind) for i in range(6)]
    before = [link.codes.copy() for link in links]
    # Small as a whole: they stay.
    assert place_side_by_side(links) == 0
    assert len({id(owner_of(link.codes)) for link in links}) == 6
    size = -(-max(codes.nbytes for codes in before) // 64) * 64
    monkeypatch.setattr("chainer_models.large_pages.LARGE_BYTES", 2 * size)
    monkeypatch.setattr("chainer_models.large_pages.BLOCK_BYTES", 3 * size)
    assert place_side_by_side(links) <= 6 * size
    for link, codes in zip(links, before, strict=True):
        np.testing.assert_array_equal(link.codes, codes)
        assert link.codes.flags.carray
        assert link.codes.ctypes.data % 64 == 0
    places = sorted((link.codes.ctypes.data, link.codes.nbytes) for link in links)
    assert all(a + n <= b for (a, n), (b, _) in itertools.pairwise(places))
    memories = {id(owner_of(link.codes)) for link in links}
    assert 2 <= len(memories) <= 3
    assert copy.deepcopy(links[0]).codes.tolist() == before[0].tolist()


def owner_of(array):
    """The array that owns the memory of a view."""
    return array if array.base is None else owner_of(array.base)


@pytest.mark.parametrize("kind", KINDS)
def test_bias_is_added_by_the_product(kind):
    packed = cm.PackedLinear(layer(), kind)
    rng = np.random.RandomState(2)
    x, b = rng.randn(3, 7).astype("f"), rng.randn(5).astype("f")
    packed.b.array[...] = b
    without = packed.product(x).array
    np.testing.assert_array_equal(packed(x).array, without + b)
    np.testing.assert_array_equal(packed(x[:0]).array, np.empty((0, 5), "f"))

    def function(x, b):
        return packed.product(x, bias=b) ** 2

    gradient_check.check_double_backward(
        function, (x, b), rng.randn(3, 5).astype("f"),
        (rng.randn(3, 7).astype("f"), rng.randn(5).astype("f")), eps=1e-2, rtol=2e-2, atol=2e-2,
    )  # fmt: skip
    with pytest.raises(type_check.InvalidType, match="dtype"):
        packed(x.astype(np.float16))


@pytest.mark.parametrize("nobias", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_later_products_without_a_graph_make_no_node(kind, nobias, monkeypatch):
    packed = cm.PackedLinear(layer(), kind)
    if nobias:
        packed.b = None
    x = chainer.Variable(np.random.RandomState(2).randn(1, 7).astype("f"))
    expected = packed(x)
    assert expected.creator is not None
    with chainer.no_backprop_mode():
        packed(x)
        half = None if nobias else pytest.raises(type_check.InvalidType, match="dtype")
        with half or contextlib.nullcontext():
            assert packed(chainer.Variable(x.array.astype(np.float16))).dtype == np.float16
        with monkeypatch.context() as patch:
            patch.setattr(chainer.FunctionNode, "apply", None)
            y = packed(x)
            many = packed(F.reshape(x, (1, 1, 7)), n_batch_axes=2)
        assert (y.creator, y.requires_grad) == (None, expected.requires_grad)
        np.testing.assert_array_equal(y.array, expected.array)
        np.testing.assert_array_equal(many.array, expected.array[None])
        # Changed in its place, and another array.
        packed.codes[...] = 0
        assert not np.array_equal(packed(x).array, expected.array)
        other = cm.PackedLinear(layer(seed=1), kind)
        arrays = other.packed_arrays()[0]._asdict()
        vars(packed).update({name: a for name, a in arrays.items() if a is not None})
        packed.b = other.b = None
        np.testing.assert_array_equal(packed(x).array, other(x).array)


@pytest.mark.parametrize("kind", KINDS)
def test_inputs_that_do_not_fit_are_refused(kind):
    packed = cm.PackedLinear(layer(), kind)
    x = np.ones((1, 7), "f")
    wide, narrow, long = (np.ones(shape, "f") for shape in [(1, 8), (1, 6), (4,)])
    for mode in (contextlib.nullcontext(), chainer.no_backprop_mode()):
        with mode:
            packed(chainer.Variable(x))
            for wrong in (wide, narrow):
                with pytest.raises(type_check.InvalidType, match=r"shape\[1\]"):
                    packed(chainer.Variable(wrong))
            with pytest.raises(type_check.InvalidType, match=r"shape\[0\]"):
                packed.product(chainer.Variable(x), bias=long)


def test_inputs_that_are_no_arrays_are_refused():
    packed = cm.PackedLinear(layer(), "int8")
    embedding = cm.PackedEmbedding(L.EmbedID(5, 7), "int8")
    for wrong in ([1.0], "text", 5):
        for call in (packed, embedding):
            with pytest.raises(TypeError, match="expected"):
                call(wrong)
    with pytest.raises(ValueError, match="n_batch_axes"):
        packed(np.ones((1, 7), "f"), n_batch_axes=0)


def test_hooks_see_products_without_a_graph():
    packed = cm.PackedLinear(layer(), "int8")
    x = chainer.Variable(np.ones((1, 7), "f"))
    with chainer.no_backprop_mode():
        packed(x)
        with chainer.function_hooks.TimerHook() as hook:
            packed(x)
    assert len(hook.call_history) == 1


@pytest.mark.parametrize(("kind", "most"), [("bfloat16", 0.02), ("int8", 0.05), ("int4", 0.6)])
def test_models(model, evaluating, kind, most):
    ids = tokens()
    expected = model(ids).array
    weights = sum(p.array.nbytes for path, p in model.namedparams() if path.endswith("/W"))
    paths = cm.pack_weights(model, kind)
    assert len(paths) == 9
    # The embedding is the head, too.
    assert paths[0] == "/embed"
    assert model.embed.kind == ("int8" if kind == "int4" else kind)
    found = model(ids).array
    assert 0 < np.abs(found - expected).std() < most * expected.std()
    kinds = cm.PackedLinear, cm.PackedEmbedding
    packed = sum(link.nbytes for link in model.links() if isinstance(link, kinds))
    assert packed < weights
    assert cm.generate(model, ids, max_new_tokens=3).shape == (len(ids), ids.shape[1] + 3)
    cm.unpack_weights(model)
    np.testing.assert_allclose(model(ids).array, found, rtol=1e-3, atol=1e-3)


def test_loaded_packed_and_serialized(model, tmp_path, evaluating):
    ids = tokens()
    first = cm.load_pretrained(tmp_path / "model", weights="int8")
    chainer.serializers.save_npz(tmp_path / "packed.npz", first)
    second = cm.load_pretrained(tmp_path / "model", weights="int8")
    for link in second.links():
        if isinstance(link, cm.PackedLinear):
            link.codes[...] = 0
    chainer.serializers.load_npz(tmp_path / "packed.npz", second)
    np.testing.assert_array_equal(first(ids).array, second(ids).array)


def test_lora_on_packed_weights(model, tmp_path):
    cm.pack_weights(model, "int8")
    cm.add_lora(model, r"/attn/(qkv|o)$", rank=2)
    optimizer = chainer.optimizers.AdamW(1e-2, pytorch_style=True).setup(model)
    ids = tokens()
    losses = []
    for _ in range(8):
        y = F.reshape(model(ids[:, :-1]), (-1, 67))
        loss = F.softmax_cross_entropy(y, ids[:, 1:].reshape(-1).astype("i"))
        model.cleargrads()
        loss.backward()
        optimizer.update()
        losses.append(float(loss.array))
    assert losses[-1] < losses[0] - 0.5
    cm.save_adapter(model, tmp_path / "adapter")
    other = cm.load_pretrained(tmp_path / "model", weights="int8")
    cm.load_adapter(other, tmp_path / "adapter")
    with chainer.using_config("train", False):
        expected = model(ids).array
        np.testing.assert_array_equal(other(ids).array, expected)
        cm.merge_lora(model)
        np.testing.assert_allclose(model(ids).array, expected, rtol=1e-3, atol=1e-3)


def output_of(case, model):
    """The output of a model for the inputs of its kind."""
    kind = CASES[case][0]
    if kind in ("image", "named"):
        y = model(images(image_size(CASES[case][2])))
    elif case == "clip":
        y = model(ended_tokens(), images())
    elif case == "whisper":
        y = model(tokens(2, 6), model.encode(sounds()))
    elif kind == "sequence":
        y = model(tokens(2, 6), model.encode(tokens()))
    else:
        y = model(tokens())
    return y.array


@pytest.mark.parametrize("case", sorted(set(REFERENCE) - set(LARGE)))
def test_every_architecture_is_packed_and_has_lora(case, tmp_path, evaluating):
    """No model reads the weight of a layer by itself: every linear layer can be replaced."""
    model = cm.load_pretrained(write_folder(tmp_path / "model", case))
    layers = [path for path, link in model.namedlinks() if isinstance(link, L.Linear)]
    if not layers:
        pytest.skip("the model has convolutions only")
    expected = output_of(case, model)
    assert cm.pack_weights(model, "bfloat16") == sorted([*layers, *model.tied_embeddings])
    packed = output_of(case, model)
    # Scores of T5 have no scale, so that it multiplies errors.
    assert 0 < np.abs(packed - expected).std() < 0.2 * expected.std()
    assert sorted(cm.add_lora(model, "", rank=1)) == sorted(layers)
    np.testing.assert_array_equal(output_of(case, model), packed)


def test_files_need_ordinary_weights(model, tmp_path):
    cm.pack_weights(model, "int4", "/attn/qkv$")
    with pytest.raises(ValueError, match=r"GPT2 has packed weights.*unpack_weights"):
        cm.save_pretrained(model, tmp_path / "out")
    cm.unpack_weights(model)
    cm.save_pretrained(model, tmp_path / "out")
    again = cm.load_pretrained(tmp_path / "out")
    np.testing.assert_array_equal(
        again.layers[0].attn.qkv.W.array, model.layers[0].attn.qkv.W.array
    )


def test_bad_arguments(model):
    with pytest.raises(ValueError, match="kind must be one of bfloat16, int8, int4, got 'int2'"):
        cm.pack_weights(model, "int2")
    with pytest.raises(ValueError, match="pattern must match a linear layer, got 'nothing'"):
        cm.pack_weights(model, "int8", "nothing")
    with pytest.raises(ValueError, match="group must be an even number from 2 to 65536, got 3"):
        cm.pack_weights(model, "int4", group=3)
    model.layers[0].attn.qkv.W.array = np.full_like(model.layers[0].attn.qkv.W.array, np.nan)
    with pytest.raises(ValueError, match="weights that are packed must be finite"):
        cm.pack_weights(model, "int8")


@pytest.mark.parametrize("group", [np.int64(4), np.uint8(4), np.array(4)])
def test_groups_that_are_integers_of_numpy(group):
    base = layer(3, 10)
    packed = cm.PackedLinear(base, "int4", group)
    assert type(packed.group) is int
    np.testing.assert_array_equal(packed.codes, cm.PackedLinear(base, "int4", 4).codes)


@pytest.mark.parametrize("form", ["npz", "hdf5", "safetensors"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    ("kind", "entry"),
    [("int8", "scales"), ("int4", "scales"), ("int4", "minima"), ("bfloat16", "codes")],
)
def test_files_with_numbers_that_are_not_finite(kind, entry, value, form, tmp_path):
    if form == "hdf5":
        pytest.importorskip("h5py", reason="pip install h5py")
    damaged = chainer.Sequential(cm.PackedLinear(layer(), kind))
    if kind == "bfloat16":
        # Files have the 16 bits of each number.
        written = chainer.Link(b=(5,))
        written.add_persistent("codes", np.zeros((5, 7), np.uint16))
        written.codes.flat[2] = np.array(value, "f").view(np.uint32) >> 16
        damaged = chainer.Sequential(written)
    else:
        getattr(damaged[0], entry).flat[2] = value
    path = tmp_path / f"model.{form}"
    getattr(chainer.serializers, f"save_{form}")(str(path), damaged)
    model = chainer.Sequential(cm.PackedLinear(layer(seed=3), kind))
    before = chainer.serializers.npz.serialize(model)
    before = {name: array.copy() for name, array in before.items()}
    message = rf"'0/{entry}' in .*model\.{form}.* must have finite numbers, got 1 that are NaN or"
    with pytest.raises(ValueError, match=message):
        getattr(chainer.serializers, f"load_{form}")(str(path), model)
    # A load that fails leaves the model as it was.
    for name, array in chainer.serializers.npz.serialize(model).items():
        np.testing.assert_array_equal(array, before[name])


@pytest.mark.parametrize(
    "group", [0, 3, -2, 64.0, "4", True, None, 1 << 17, 10**12, np.int64(3), np.float32(4)]
)
def test_groups_that_are_refused(group):
    with pytest.raises(ValueError, match="group must be an even number from 2 to 65536, got "):
        cm.PackedLinear(L.Linear(5, 3), "int4", group)


class Lists(chainer.Chain):
    """Linear layers in lists, as an architecture of another package may have them."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.first = chainer.Sequential(L.Linear(6, 8), F.relu, L.Linear(8, 6))
            self.rest = chainer.ChainList(L.Linear(6, 5), L.Linear(5, 4))

    def forward(self, x):
        for link in [self.first, *self.rest]:
            x = link(x)
        return x


@pytest.mark.parametrize("model", [Lists, lambda: Lists().first], ids=["inside", "alone"])
def test_layers_in_lists(model):
    model = model()
    x = np.random.RandomState(0).standard_normal((3, 6)).astype("f")
    paths = [path for path, link in model.namedlinks() if isinstance(link, L.Linear)]
    expected = model(x).array
    assert cm.pack_weights(model, "int8") == sorted(paths)
    packed = [path for path, link in model.namedlinks() if isinstance(link, cm.PackedLinear)]
    assert packed == paths
    # Seven bits by default, relative to the largest number of a row.
    np.testing.assert_allclose(model(x).array, expected, atol=0.05 * abs(expected).max())
    cm.unpack_weights(model)
    assert [p for p, link in model.namedlinks() if isinstance(link, L.Linear)] == paths


def test_adapters_in_lists():
    model = Lists()
    x = np.random.RandomState(0).standard_normal((3, 6)).astype("f")
    expected = model(x).array
    cm.add_lora(model, pattern="rest/1|first", rank=2)
    np.testing.assert_array_equal(model(x).array, expected)
    assert [p for p, link in model.namedlinks() if isinstance(link, cm.LoRALinear)] == [
        "/first/0",
        "/first/1",
        "/rest/1",
    ]
