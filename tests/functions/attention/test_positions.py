"""Scalings of rotary tables, slopes of ALiBi, buckets of T5: numbers and limits."""

import numpy as np
import pytest

import chainer
import chainer.functions as F

# Made with transformers 5.24 (`ROPE_INIT_FUNCTIONS`), head of 8, base 10000; the last number is the
# factor of the tables.
SCALED = {
    "llama3": (
        {
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 64,
        },
        [1.0, 0.013042256236076355, 0.00125, 0.000125, 1.0],
    ),
    "yarn": (
        {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64},
        [1.0, 0.0625, 0.0025, 0.00025, 1.138629436111989],
    ),
    "dynamic": (
        {"rope_type": "dynamic", "factor": 4.0, "original_max_position_embeddings": 64},
        [1.0, 0.06751064211130142, 0.0045576863922178745, 0.00030769230215810, 1.0],
    ),
}


@pytest.mark.parametrize("name", list(SCALED))
def test_scalings(name):
    scaling, (*frequencies, factor) = SCALED[name]
    positions = np.array([0, 99])
    cos, sin = F.rotary_tables(positions, 8, scaling=scaling, dtype="d")
    np.testing.assert_allclose(np.hypot(cos, sin), factor, rtol=1e-6)
    angles = 99 * np.array(frequencies)
    np.testing.assert_allclose(cos[1], factor * np.cos(angles), atol=2e-5)
    np.testing.assert_allclose(sin[1], factor * np.sin(angles), atol=2e-5)


def test_dynamic_scaling_starts_at_the_original_length():
    scaling = SCALED["dynamic"][0]
    plain = F.rotary_tables(np.arange(64), 8)
    for one, other in zip(F.rotary_tables(np.arange(64), 8, scaling=scaling), plain, strict=True):
        np.testing.assert_array_equal(one, other)
    assert (F.rotary_tables(np.arange(65), 8, scaling=scaling)[1][:64] != plain[1]).any()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"factor": "8"}, "'llama3' needs 'factor', a positive number, got '8'"),
        ({"factor": True}, "'factor', a positive number, got True"),
        ({"low_freq_factor": 5.0}, "low_freq_factor of scaling must be below high_freq_factor"),
        ({"rope_type": ["yarn"]}, r"rope_type of scaling must be one of .*, got \['yarn'\]"),
    ],
)
def test_wrong_entries(change, text):
    with pytest.raises(ValueError, match=text):
        F.rotary_tables(np.arange(3), 4, scaling={**SCALED["llama3"][0], **change})


def test_rows_with_positions_of_their_own_equal_single_rows():
    x = np.random.default_rng(0).standard_normal((2, 3, 4, 6)).astype("f")
    positions = np.array([[0, 0, 1, 2], [5, 6, 7, 8]])
    y = F.rotary_embedding(x, positions).array
    for row, p, expected in zip(x, positions, y, strict=True):
        np.testing.assert_array_equal(F.rotary_embedding(row, p).array, expected)


def test_slopes_of_heads():
    # Of the paper for 8 heads; for 6 heads those of 4 and every second one of 8.
    eight = [2.0**-i for i in range(1, 9)]
    np.testing.assert_allclose(-F.alibi_bias(8, 1, 2).array[:, 0, 0], eight)
    six = [2.0**-2, 2.0**-4, 2.0**-6, 2.0**-8, 2.0**-1, 2.0**-3]
    np.testing.assert_allclose(-F.alibi_bias(6, 1, 2).array[:, 0, 0], six)
    with pytest.raises(ValueError, match="positive number of heads or a vector, got 0"):
        F.alibi_bias(0, 2, 2)


def test_buckets_of_t5():
    # Made with transformers 5.24 (T5Attention): distances 0, 1, ... 140 to keys before the query.
    table = np.arange(32, dtype="f")[:, None]
    one = F.relative_position_bias(table, 1, 141, bidirectional=False).array[0, 0, ::-1]
    starts = [int(np.argmax(one == bucket)) for bucket in range(32)]
    assert starts == [*range(16), 16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113]
    both = F.relative_position_bias(table, 1, 141).array[0, 0, ::-1]
    starts = [int(np.argmax(both == bucket)) for bucket in range(16)]
    assert starts == [*range(8), 8, 12, 16, 23, 32, 46, 64, 91]


def test_the_bias_of_t5_is_learned():
    table = chainer.Parameter(np.zeros((8, 2), "f"))
    q = np.random.default_rng(0).standard_normal((1, 2, 3, 4)).astype("f")
    bias = F.relative_position_bias(table, 3, 3)
    loss = F.sum(F.scaled_dot_product_attention(q, q, q, bias) ** 2)
    loss.backward()
    assert table.grad is not None
    assert np.abs(table.grad).max() > 1e-3
