"""Decoding by a captured step: memory of a fixed length, texts as without it."""

import chainer
import numpy as np
import pytest
from published import REFERENCE, write_folder
from reference_models import CAUSAL, tokens

import chainer_models as cm
from chainer_models.generation.captured import FixedCache

#: The scaling "dynamic" looks at the length of the text, which a record cannot do.
RECORDED = sorted(set(CAUSAL) - {"llama dynamic"})


def load(folder, case):
    return cm.load_pretrained(write_folder(folder, case))


def is_recorded(decoder):
    return "in use" in decoder.explain()


@pytest.mark.parametrize("case", RECORDED)
def test_texts_are_those_without_it(case, tmp_path):
    model, ids = load(tmp_path, case), tokens()
    decoder = cm.CapturedDecoder(model, 44)
    expected = cm.generate(model, ids, max_new_tokens=30)
    found = cm.generate(model, ids, max_new_tokens=30, capture=decoder)
    np.testing.assert_array_equal(found, expected)
    assert is_recorded(decoder), decoder.explain()


@pytest.mark.parametrize("case", ["gpt2", "llama", "gemma2"])
@pytest.mark.parametrize("weights", ["keep", "bfloat16", "int8", "int4"])
def test_scores_are_in_every_bit_those_of_the_step_as_written(case, weights, tmp_path, evaluating):
    model = load(tmp_path, case)
    if weights != "keep":
        cm.pack_weights(model, weights, group=16)
    prompt = model.make_cache()
    with chainer.no_backprop_mode():
        model(tokens(), cache=prompt, last=1)
        decoder, written = cm.CapturedDecoder(model, 30), FixedCache(prompt, 30)
        decoder.begin(prompt)
        for i in range(18):
            ids = tokens(2, 1, seed=i)
            expected = model(ids, cache=written, last=1).array
            np.testing.assert_array_equal(decoder(ids).array, expected)
            grown = model(ids, cache=prompt, last=1).array
            np.testing.assert_allclose(expected, grown, atol=2e-4 * np.abs(grown).max())
        assert is_recorded(decoder)
        with pytest.raises(ValueError, match="memory for 30 tokens, which is full"):
            decoder(ids)


@pytest.mark.parametrize("case", ["gpt2", "mistral"])
def test_padded_texts(case, tmp_path):
    model = load(tmp_path, case)
    ids, mask = tokens(3), np.ones((3, 12), bool)
    mask[0, :9] = mask[2, :1] = False
    expected = cm.generate(model, ids, mask=mask, max_new_tokens=20)
    for _ in range(2):
        found = cm.generate(model, ids, mask=mask, max_new_tokens=20, capture=True)
        np.testing.assert_array_equal(found, expected)
    # The same text without padding.
    alone = cm.generate(model, ids[:1, 9:], max_new_tokens=20, capture=True)
    np.testing.assert_array_equal(found[0, 9:], alone[0])


def test_one_decoder_for_many_texts(tmp_path):
    model = load(tmp_path, "mistral")
    decoder = cm.CapturedDecoder(model, 40)
    for texts, length, new in [(2, 12, 20), (2, 3, 9), (2, 38, 3), (1, 5, 30), (2, 7, 20)]:
        ids = tokens(texts, length, seed=length)
        expected = cm.generate(model, ids, max_new_tokens=new)
        found = cm.generate(model, ids, max_new_tokens=new, capture=decoder)
        np.testing.assert_array_equal(found, expected)
    assert is_recorded(decoder)


def test_beams_and_random_tokens(tmp_path):
    model, ids = load(tmp_path, "gemma2"), tokens()
    for options in ({"num_beams": 3}, {"rng": 5, "processors": [cm.top_k(9)]}):
        expected = cm.generate(model, ids, max_new_tokens=15, **options)
        found = cm.generate(model, ids, max_new_tokens=15, capture=True, **options)
        np.testing.assert_array_equal(found, expected)


def test_weights_may_change_between_texts(tmp_path):
    model, ids = load(tmp_path, "llama"), tokens()
    decoder = cm.CapturedDecoder(model, 40)
    cm.generate(model, ids, max_new_tokens=9, capture=decoder)
    model.layers[0].attn.q.W.array[...] *= -1
    model.layers[1].mlp.up.W.array = model.layers[1].mlp.up.W.array[::-1].copy()
    expected = cm.generate(model, ids, max_new_tokens=15)
    found = cm.generate(model, ids, max_new_tokens=15, capture=decoder)
    np.testing.assert_array_equal(found, expected)


def test_what_cannot_be_recorded_runs_as_written(tmp_path):
    model, ids = load(tmp_path, "llama dynamic"), tokens()
    expected = cm.generate(model, ids, max_new_tokens=25)
    with pytest.warns(UserWarning, match="cannot be captured, and runs as it is written"):
        found = cm.generate(model, ids, max_new_tokens=25, capture=True)
    np.testing.assert_array_equal(found, expected)


def test_a_model_that_counts_the_tokens_in_numbers_is_refused(tmp_path, monkeypatch):
    # A record would repeat the numbers of its first token.
    model = load(tmp_path, "gpt2")

    def forward(self, ids, cache=None, mask=None, positions=None, last=None):
        positions = np.arange(cache.length, cache.length + ids.shape[1])
        return original(self, ids, cache, mask, positions, last)

    original = type(model).forward
    monkeypatch.setattr(type(model), "forward", forward)
    expected = cm.generate(model, tokens(), max_new_tokens=3)
    assert expected.shape == (2, 15)
    with pytest.raises(TypeError, match=r"must use cache.positions\(\) and cache.advance\(\)"):
        cm.generate(model, tokens(), max_new_tokens=3, capture=True)


@pytest.mark.parametrize("new", [0, 1, 2])
def test_few_tokens(new, tmp_path):
    model = load(tmp_path, "gpt2")
    assert cm.generate(model, tokens(), max_new_tokens=new, capture=True).shape == (2, 12 + new)


def test_bad_arguments(tmp_path):
    model, other = load(tmp_path / "a", "gpt2"), load(tmp_path / "b", "gpt2")
    decoder = cm.CapturedDecoder(model, 20)
    with pytest.raises(RuntimeError, match=r"call begin\(\)"):
        decoder(tokens(1, 1))
    assert decoder.explain() == "nothing is recorded yet"
    with pytest.raises(ValueError, match="capture must have memory for 31 tokens, got a"):
        cm.generate(model, tokens(), capture=decoder)
    with pytest.raises(ValueError, match="capture must be a decoder of this model"):
        cm.generate(other, tokens(), capture=decoder)
    with pytest.raises(ValueError, match="use_cache must be True with capture"):
        cm.generate(model, tokens(), capture=True, use_cache=False)
    with pytest.raises(ValueError, match="length must be positive, got 0"):
        cm.CapturedDecoder(model, 0)
    cache = model.make_cache()
    with pytest.raises(ValueError, match="the store must have keys and values, and is empty"):
        decoder.begin(cache)
    model(tokens(), cache=cache)
    with pytest.raises(ValueError, match="length must be at least 12, got 11"):
        FixedCache(cache, 11)
    with pytest.raises(ValueError, match="a fixed cache takes one token at a time, got 2"):
        model(tokens(2, 2), cache=FixedCache(cache, 20))
    # All positions of the memory are checked before the first token.
    with pytest.raises(ValueError, match="the text has a token at position 299"):
        cm.generate(model, tokens(), max_new_tokens=289, capture=True)
    encoder = cm.from_config(REFERENCE["t5"]["config"])
    with pytest.raises(ValueError, match="capture must be False for a model with an encoder"):
        cm.generate(encoder, inputs=tokens(), capture=True)
