"""Which functions of the table are computed for one sample after the other, and regressions."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.core import misuse
from chainer.core.autograd import batching
from chainer.functions.transforms import batch as mapping
from chainer.testing import specs
from chainer.testing.conformance.batches import Batch
from chainer.testing.conformance.harness import Case

#: Rows that loop. The page on gradients of any order gives the reasons.
LOOPS = {
    "batch_normalization_running_statistics",
    "batch_renormalization",
    "black_out",
    "crf1d",
    "argmax_crf1d",
    "decorrelated_batch_normalization",
    *("accuracy", "binary_accuracy", "classification_summary", "f1_score", "precision"),
    *("recall", "r2_score"),
    *("drop_path", "drop_path_random", "dropout", "dropout_random", "gaussian"),
    *("gaussian_random", "negative_sampling", "rrelu", "rrelu_test", "zoneout"),
    "simplified_dropconnect_random",
    "fixed_decorrelated_batch_normalization",
    "forget",
    "max_pooling_2d_with_indices",
    *("roi_average_align_2d", "roi_average_pooling_2d", "roi_max_align_2d"),
    *("roi_max_pooling_2d", "roi_pooling_2d"),
    "rotary_tables",
    "sparse_matmul",
}


@pytest.mark.parametrize("spec", specs.all_specs(), ids=lambda spec: spec.name)
def test_rows_that_loop(spec, monkeypatch):
    samples = [s for s in spec.samples(spec.draw()) if s.kind == "regular"]
    case = Case(spec, samples[0], "float64", 0, chainer.get_device("@numpy"))
    if not case.moving:
        pytest.skip("no input has gradients")
    looped = []
    of_node, of_function = batching.in_a_loop, mapping._in_a_loop
    monkeypatch.setattr(batching, "in_a_loop", lambda *a: looped.append(1) or of_node(*a))
    monkeypatch.setattr(mapping, "_in_a_loop", lambda *a: looped.append(1) or of_function(*a))
    with case.environment(), misuse.ignored(), np.errstate(all="ignore"):
        batch = Batch(case)
        batch.mapped(batch.values)(*batch.both())
        if batch.has_gradients and spec.gradient_order > 1:
            batch.mapped(batch.second)(*batch.both())
    assert bool(looped) == (spec.name in LOOPS)


def test_each_sample_of_a_view_is_a_memory_of_its_own():
    x = np.arange(8.0).reshape(2, 4)
    found = chainer.vmap(lambda x: F.as_strided(x, (3, 2), (1, 1), 0))(x)
    np.testing.assert_array_equal(found.array[1], [[4, 5], [5, 6], [6, 7]])
    with pytest.raises(ValueError, match="too large index was specified: 4, of 4 elements"):
        chainer.vmap(lambda x: F.as_strided(x, (4, 2), (1, 1), 0))(x)


def test_indices_of_a_pooling():
    x = np.random.default_rng(0).uniform(-1, 1, (3, 1, 1, 4, 4))

    def upsampled(x):
        y, indexes = F.max_pooling_2d(x, 2, return_indices=True)
        return F.upsampling_2d(y, indexes, 2, outsize=(4, 4))

    found = chainer.vmap(upsampled)(x).array
    np.testing.assert_array_equal(found, np.stack([upsampled(each).array for each in x]))


def test_numbers_beyond_the_table_of_a_sample():
    x, w = np.array([[0, -1], [1, 3]], "i"), np.arange(12.0).reshape(2, 3, 2)
    with pytest.raises(IndexError, match="must be from 0"):
        chainer.vmap(F.embed_id)(x, w)
    found = chainer.vmap(lambda x, w: F.embed_id(x, w, ignore_label=-1))(x[:, :1], w)
    np.testing.assert_array_equal(found.array[:, 0], [w[0, 0], w[1, 1]])
    # Negative numbers count from the end, as they do without vmap.
    np.testing.assert_array_equal(chainer.vmap(F.embed_id)(x[:1], w[:1]).array[0, 1], w[0, 2])
    nested = chainer.vmap(chainer.vmap(F.embed_id))(x[:, None, :1], w[:, None])
    np.testing.assert_array_equal(nested.array[:, 0, 0], [w[0, 0], w[1, 1]])


@pytest.mark.parametrize("shape", [(2, 1, 1, 3, 1), (1, 2, 1, 1, 4), (2, 1, 3, 4), (2, 2, 2, 3, 4)])
def test_gradient_of_a_mask_that_is_repeated_along_some_batches(shape):
    draw = np.random.default_rng(0).uniform
    q, k = draw(-1, 1, (2, 2, 2, 3, 5)), draw(-1, 1, (2, 2, 2, 4, 5))
    mask = chainer.Variable(draw(-1, 1, shape))
    wide = chainer.Variable(np.array(np.broadcast_to(mask.array, (2, 2, 2, 3, 4))))
    for each in (mask, wide):
        F.sum(F.scaled_dot_product_attention(q, k, k, each) ** 2).backward()
    np.testing.assert_allclose(mask.grad, F.sum_to(wide.grad, shape).array, rtol=1e-9)


def test_attention_without_heads():
    q = np.zeros((2, 2, 0, 3, 4))
    assert F.scaled_dot_product_attention(q, q, q).shape == q.shape
