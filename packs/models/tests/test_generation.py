"""Texts: random tokens, ends, streams, caches, processors."""

import chainer
import chainer.functions as F
import numpy as np
import pytest
from published import write_folder
from reference_models import VOCABULARY, tokens

import chainer_models as cm


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return cm.load_pretrained(write_folder(tmp_path_factory.mktemp("model"), "mistral"))


@pytest.mark.parametrize("case", ["gpt2", "mistral", "gemma2", "qwen3"])
@pytest.mark.parametrize("last", [1, 3, 12, 40])
def test_the_last_layer_computes_what_is_asked_for(case, last, tmp_path):
    model = cm.load_pretrained(write_folder(tmp_path / "model", case))
    ids = tokens()
    mask = np.ones_like(ids)
    mask[1, :3] = 0
    with chainer.using_config("train", False):
        for options in ({}, {"mask": mask}):
            whole, few = model.make_cache(), model.make_cache()
            expected = model(ids, cache=whole, **options)
            y = model(ids, cache=few, last=last, **options)
            assert y.shape == (2, min(last, 12), VOCABULARY)
            np.testing.assert_allclose(y.array, expected.array[:, -last:], atol=1e-4)
            for one, other in zip(few.stores, whole.stores, strict=True):
                for ours, full in zip(one.contents(), other.contents(), strict=True):
                    np.testing.assert_allclose(ours, full, atol=1e-5)
        model.cleargrads()
        F.sum(expected[:, -last:] ** 2).backward()
        gradients = {name: p.grad for name, p in model.namedparams()}
        model.cleargrads()
        F.sum(y**2).backward()
        for name, p in model.namedparams():
            if gradients[name] is None:
                assert p.grad is None
                continue
            bound = 1e-4 * max(np.abs(gradients[name]).max(), 1)
            np.testing.assert_allclose(p.grad, gradients[name], atol=bound)


@pytest.mark.parametrize("last", [0, -1])
def test_no_token_is_refused(model, last):
    with pytest.raises(ValueError, match=f"last must be positive, got {last}"):
        model(tokens(), last=last)


class Letters:
    """A tokenizer: token ``i`` is one letter."""

    def decode(self, ids):
        return "".join(chr(ord("A") + i) for i in ids)


def test_random_tokens_are_repeatable_and_differ_from_the_likeliest(model):
    ids = tokens()
    one = cm.generate(model, ids, max_new_tokens=15, rng=3)
    np.testing.assert_array_equal(one, cm.generate(model, ids, max_new_tokens=15, rng=3))
    assert (one != cm.generate(model, ids, max_new_tokens=15)).any()
    np.testing.assert_array_equal(
        cm.generate(model, ids, max_new_tokens=15, rng=3, processors=[cm.top_k(1)]),
        cm.generate(model, ids, max_new_tokens=15),
    )


def test_frequencies_of_random_tokens():
    class Constant:
        folder = None

        def generation_option(self, name):
            return None

        def make_cache(self):
            return cm.Cache([])

        def __call__(self, ids, cache, last):
            logits = np.log(np.array([0.5, 0.3, 0.2, 1e-30]))
            return type("Y", (), {"array": np.broadcast_to(logits, (len(ids), 1, 4))})

    ids = np.zeros((4000, 1), int)
    new = cm.generate(Constant(), ids, max_new_tokens=1, rng=0)[:, 1]
    np.testing.assert_allclose(np.bincount(new, minlength=4) / 4000, [0.5, 0.3, 0.2, 0], atol=0.03)


def test_an_end_token_and_padding(model):
    ids = tokens()
    plain = cm.generate(model, ids, max_new_tokens=20)
    end = int(plain[0, 15])
    y = cm.generate(model, ids, max_new_tokens=20, eos_token_id=end, pad_token_id=1)
    first = int(np.argmax(plain[0, 12:] == end)) + 12
    np.testing.assert_array_equal(y[0, : first + 1], plain[0, : first + 1])
    assert (y[0, first + 1 :] == 1).all()


def test_a_text_that_ends_the_generation(model):
    ids = tokens(1)
    plain = Letters().decode(cm.generate(model, ids, max_new_tokens=20)[0, 12:].tolist())
    stop = plain[4:6]
    y = cm.generate(model, ids, max_new_tokens=20, stop=[stop], tokenizer=Letters())
    text = Letters().decode(y[0, 12:].tolist())
    assert text == plain[: plain.index(stop) + 2]
    with pytest.raises(ValueError, match="stop needs tokenizer"):
        cm.generate(model, ids, stop=["x"])


def test_streams(model):
    ids, parts, numbers = tokens(1), [], []
    y = cm.generate(model, ids, max_new_tokens=6, tokenizer=Letters(), stream=parts.append)
    assert "".join(parts) == Letters().decode(y[0, 12:].tolist())
    assert len(parts) == 6
    cm.generate(model, ids, max_new_tokens=6, stream=numbers.append)
    assert numbers == y[0, 12:].tolist()
    with pytest.raises(ValueError, match="stream must be None unless there is one text, got 2"):
        cm.generate(model, tokens(2), stream=print)


def test_a_ring_keeps_the_window_only(model):
    cache = model.make_cache()
    for i in range(30):
        model(tokens(1, 1, seed=i), cache=cache)
    assert all(isinstance(store, cm.RingStore) for store in cache.stores)
    assert cache.stores[0]._arrays[0].shape[2] == 7
    # Parts of any length give what the whole text gives.
    ids = tokens(2, 40)
    whole = model(ids).array
    for lengths in ([3, 1, 1, 9, 1, 25], [20, 1, 1, 18], [1] * 40):
        cache, start = model.make_cache(), 0
        for length in lengths:
            part = model(ids[:, start : start + length], cache=cache).array
            np.testing.assert_allclose(part, whole[:, start : start + length], atol=2e-4)
            start += length


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"max_new_tokens": -1}, "max_new_tokens must not be negative"),
        ({"num_beams": 0}, "num_beams must be positive"),
        ({"num_beams": 2, "rng": 0}, "num_beams must be 1 with rng"),
        ({"inputs": tokens()}, "inputs must be None: the model has no encoder"),
        ({"mask": np.ones((2, 3))}, r"mask must have the shape of ids, \(2, 12\), got \(2, 3\)"),
    ],
)
def test_wrong_arguments(model, arguments, text):
    with pytest.raises(ValueError, match=text):
        cm.generate(model, tokens(), **arguments)


def test_wrong_ids(model):
    with pytest.raises(ValueError, match=r"ids must have the shape \(texts, tokens\), got \(12,\)"):
        cm.generate(model, tokens()[0])
    with pytest.raises(ValueError, match=r"ids and mask must have the shape .* got \(12,\)"):
        model(tokens()[0])


SCORES = np.log(np.array([[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]]))
IDS = np.array([[0, 1, 0], [2, 2, 2]])


@pytest.mark.parametrize(
    ("process", "kept"),
    [
        (cm.top_k(2), [[2, 3], [0, 1, 2, 3]]),
        (cm.top_k(9), [[0, 1, 2, 3]] * 2),
        (cm.top_p(0.65), [[2, 3], [0]]),
        (cm.top_p(0.01), [[3], [0]]),
        (cm.top_p(1.0), [[0, 1, 2, 3]] * 2),
        (cm.min_p(0.5), [[1, 2, 3], [0]]),
        (cm.no_repeat_ngram(2), [[0, 2, 3], [0, 1, 3]]),
        (cm.no_repeat_ngram(1), [[2, 3], [0, 1, 3]]),
    ],
)
def test_processors_keep(process, kept):
    scores = process(IDS, SCORES)
    assert [np.flatnonzero(np.isfinite(row)).tolist() for row in scores] == kept
    np.testing.assert_array_equal(scores[np.isfinite(scores)], SCORES[np.isfinite(scores)])


def test_processors_change():
    np.testing.assert_allclose(cm.temperature(0.5)(IDS, SCORES), SCORES * 2)
    scores = np.array([[1.0, -1.0, 2.0, 3.0], [1.0, -1.0, 2.0, 3.0]])
    expected = [[0.5, -2.0, 2.0, 3.0], [1.0, -1.0, 1.0, 3.0]]
    np.testing.assert_allclose(cm.repetition_penalty(2.0)(IDS, scores), expected)
    assert scores[0, 0] == 1.0
    for make in (cm.temperature, cm.top_p, cm.repetition_penalty):
        with pytest.raises(ValueError, match="got 0"):
            make(0)
    with pytest.raises(ValueError, match="k must be positive, got 0"):
        cm.top_k(0)


def test_registered_names():
    from chainer_models.pack import ARCHITECTURES

    assert len(ARCHITECTURES) >= 17
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        cm.nothing  # noqa: B018
    assert set(cm.__all__) <= set(dir(cm))
    assert VOCABULARY == 67
