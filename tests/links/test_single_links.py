"""What is special about single links: options, states, wrong arguments."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.links.loss.hierarchical_softmax import (
    BinaryHierarchicalSoftmaxFunction,
    TreeParser,
    path_ends,
)
from chainer.utils.type_check import InvalidType
from tests.links.link_cases import COUNTS, IMAGE, TIMES, X2, floats, ints, sequences


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: L.Linear(None), TypeError, "needs an output size"),
        (lambda: L.Bias(1, 3)(X2, X2), ValueError, "Bias takes 1 input.* parameter b, got 2"),
        (lambda: L.Bias(1)(X2), ValueError, "Bias takes 2 input.*no parameter b, got 1"),
        (lambda: L.Scale(1, 3)(X2, X2), ValueError, "Scale takes 1 input"),
        (lambda: L.Scale(1)(X2), ValueError, "Scale takes 2 input"),
        (lambda: L.Scale(bias_term=True), ValueError, "bias_shape should be given"),
        (lambda: L.Bilinear(2, 3, 4, initial_bias=1), ValueError, "must be tuple or None"),
        (lambda: L.Bilinear(2, 3, 4, initial_bias=(1, 2)), ValueError, "three initializers"),
        (lambda: L.Bilinear(2, 3, 4, initialW=np.zeros((6, 4))), ValueError, "initialW must have"),
        (lambda: L.Convolution2D(3, 4, 3, groups=2), ValueError, "divide in_channels"),
        (lambda: L.Convolution2D(4, 3, 3, groups=2), ValueError, "divide out_channels"),
        (lambda: L.Deconvolution2D(4, 3, 3, groups=2), ValueError, "divide out_channels"),
        (lambda: L.ConvolutionND(3, 4, 2, (3, 3)), ValueError, "ksize must be an int or a"),
        (lambda: L.DeconvolutionND(3, 4, 2, 3, (1, 2)), ValueError, "stride must be an int or a"),
        (lambda: L.Convolution2D(3, 4, (3, 3, 3)), ValueError, "ksize must be an int or a pair"),
        (lambda: L.Convolution2D(4, 4, 3, groups=0), ValueError, "groups must be positive, got 0"),
        (lambda: L.Convolution2D(None, 4), TypeError, "Convolution2D needs out_channels and ksize"),
        (lambda: L.Convolution2D(3, 4, 3, deterministic=True), ValueError, "not supported anymore"),
        (lambda: L.Deconvolution2D(3, 4, 3, foo=True), TypeError, "unexpected keyword"),
        (lambda: L.LocalConvolution2D(3, 4, 5), TypeError, "needs the size of the filters"),
        (lambda: L.LocalConvolution2D(3, 4, 5, 3, pad=1), TypeError, "unexpected keyword"),
        (lambda: L.MLPConvolution2D(3, (4,), 3, 1, 1, 0.5), TypeError, "wscale is not"),
        (lambda: L.MLPConvolution2D(3, (4,), 3, 1, 1, F.relu, 0, 0, 0), TypeError, "wscale is not"),
        (lambda: L.MLPConvolution2D(3, (4,), 3, wscale=1), ValueError, "wscale is not"),
        (lambda: L.MLPConvolution2D(3, 4, 3), ValueError, "out_channels must be a tuple"),
        (lambda: L.InceptionBN(3, 0, 3, 4, 2, 3, "x"), ValueError, "pooltype must be 'max' or"),
        (lambda: L.InceptionBN(3, 2, 3, 4, 2, 3, "max"), ValueError, "out1 must be 0"),
        (lambda: L.InceptionBN(3, 2, 3, 4, 2, 3, "max", 2, 2), ValueError, "out1 must be 0"),
        (lambda: L.Maxout(3, 2, 4, np.zeros((8, 3))), ValueError, "initialW.ndim should be 3"),
        (lambda: L.Maxout(3, 2, 4, None, np.zeros(8)), ValueError, "initial_bias.ndim should be 2"),
        (lambda: L.Maxout(3, 2, 4, np.zeros((4, 2, 3))), ValueError, r"lengths \(2, 4\), got"),
        (lambda: L.Maxout(3, 2, 4, None, np.zeros((4, 2))), ValueError, r"lengths \(2, 4\), got"),
        (lambda: L.GRU(20), TypeError, "out_size"),
        (lambda: L.LSTM(None), TypeError, "LSTM needs an output size"),
        (lambda: L.StatefulZoneoutLSTM(3, 2, train=True), ValueError, "train argument is not"),
        (lambda: L.ChildSumTreeLSTM(3, 2)(X2, X2), ValueError, "odd number of arguments, got 2"),
        (lambda: L.ChildSumTreeLSTM(3, 2)(), ValueError, "odd number of arguments, got 0"),
        (lambda: L.NaryTreeLSTM(3, 2)(X2), ValueError, "n_ary=2 takes 5 arguments, got 1"),
        (lambda: L.NaryTreeLSTM(3, 2, n_ary=0), ValueError, "n_ary must be positive, got 0"),
        (lambda: L.NStepGRU(1, 3, 2, 0, use_cudnn=1), ValueError, "use_cudnn argument is not"),
        (lambda: L.NStepGRU(1, 3, 2, 0)(None, [X2], train=1), ValueError, "train argument is not"),
        (lambda: L.NStepGRU(0, 3, 2, 0), ValueError, "n_layers must be positive, got 0"),
        (lambda: L.NStepGRU(1, 3, 2, 0)(None, X2), TypeError, "xs must be a list or a tuple"),
        (lambda: L.NStepGRU(1, 3, 2, 0)(None, []), ValueError, "at least one sequence"),
        (lambda: L.BatchNormalization(), RuntimeError, "size or axis is required"),
        (lambda: L.BatchNormalization(3)(IMAGE, test=True), ValueError, "test argument is not"),
        (lambda: L.BinaryHierarchicalSoftmax(3, (0, 1, 2)), ValueError, "two child nodes, got 3"),
        (lambda: L.BinaryHierarchicalSoftmax(3, (0, (1, 0))), ValueError, "two leaves 0"),
        (lambda: L.BinaryHierarchicalSoftmax(3, (0, -1)), ValueError, "non-negative integers"),
        (lambda: L.BinaryHierarchicalSoftmax.create_huffman_tree({}), ValueError, "Empty vocab"),
    ],
)
def test_wrong_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: L.GRU(3, 2)(), (ValueError, TypeError), "must be 1. But 0 is given"),
        (lambda: L.GRU(3, 2)(X2, X2), (ValueError, TypeError), "Use chainer.links.StatelessGRU"),
        (lambda: L.GRU(3, 2)(X2, X2, X2), (ValueError, TypeError), "But 3 is given. $"),
        (lambda: L.Bias(1)(X2), (ValueError, AssertionError), "Bias takes 2 input"),
        (lambda: L.Scale(1, 3)(X2, X2), (ValueError, AssertionError), "Scale takes 1 input"),
        (
            lambda: L.Bilinear(2, 3, 4, initialW=X2),
            (ValueError, AssertionError),
            r"initialW must have shape \(2, 3, 4\), got \(4, 3\)",
        ),
        (
            lambda: L.Bilinear(2, 3, 4, initial_bias=(0, X2, 0)),
            (ValueError, AssertionError),
            r"initial_bias for V2 must have shape \(3, 4\), got \(4, 3\)",
        ),
        (
            lambda: L.InceptionBN(3, 2, 3, 4, 2, 3, "max", 2, 2),
            (ValueError, AssertionError),
            "out1 must be 0",
        ),
        (
            lambda: L.InceptionBN(3, 0, 3, 4, 2, 3, "x"),
            (ValueError, NotImplementedError),
            "pooltype must be",
        ),
        (lambda: L.ChildSumTreeLSTM(3, 2)(X2, X2), (ValueError, AssertionError), "odd number"),
        (lambda: L.NaryTreeLSTM(3, 2)(X2), (ValueError, AssertionError), "takes 5 arguments"),
        (lambda: L.LSTM(3, 2).set_state(X2, X2), (TypeError, AssertionError), "a Variable"),
        (
            lambda: L.NStepGRU(1, 3, 2, 0)(None, X2),
            (TypeError, AssertionError),
            "xs must be a list",
        ),
        (lambda: L.NStepGRU(1, 3, 2, 0, activation=1), (ValueError,), "activation is not"),
        (lambda: L.NStepGRU(1, 3, 2, 0, use_bi_direction=1), (ValueError,), "use_bi_direction"),
        (lambda: L.NStepGRU(1, 3, 2, 0, foo=1), (TypeError,), "unexpected keyword"),
        (lambda: L.BatchNormalization({}), (TypeError,), "size must be an int or a tuple"),
        (lambda: L.BatchNormalization("3"), (TypeError,), "size must be an int or a tuple"),
        (lambda: L.BatchNormalization(3)(IMAGE, foo=True), (TypeError,), "unexpected keyword"),
        (lambda: L.BatchNormalization(3)(IMAGE, True), (TypeError,), "positional"),
    ],
)
def test_exceptions_are_of_the_classes_of_all_releases(call, error, message):
    for debug in (False, True):
        for kind in error:
            with pytest.raises(kind, match=message), chainer.using_config("debug", debug):
                call()


@pytest.mark.parametrize("name", ["ChildSumTreeLSTM", "NaryTreeLSTM"])
class TestTreeWithoutInput:
    """``x`` or states that are None are zeros, as in releases 4 and 7."""

    def make(self, name):
        link = getattr(L, name)(3, 2)
        link.W_x.b.array[...] = np.arange(link.W_x.b.size) * 0.1
        return link

    @pytest.mark.parametrize("given", ["1111", "1010", "1011", "0011", "1100"])
    def test_zeros(self, name, given):
        link = self.make(name)
        state = [floats(4, 2) * (i + 1) for i in range(4)]
        zeros = np.zeros((4, 2), np.float32)
        arguments = [s if g == "1" else None for s, g in zip(state, given)]
        full = [zeros if a is None else a for a in arguments]
        expected = link(*full, np.zeros((4, 3), np.float32))
        for actual, y in zip(link(*arguments, None), expected, strict=True):
            np.testing.assert_array_equal(actual.array, y.array)

    def test_nothing_at_all(self, name):
        with pytest.raises(ValueError, match="All inputs \\(cs, hs, x\\) are None"):
            self.make(name)(None, None, None, None, None)

    def test_first_call_of_a_lazy_link(self, name):
        with pytest.raises(TypeError, match="cannot infer in_size from x=None"):
            getattr(L, name)(None, 2)(*[floats(4, 2)] * 4, None)


def test_no_warnings_about_experiments():
    L.LayerNormalization()
    L.ChildSumTreeLSTM(3, 2)
    L.NaryTreeLSTM(3, 2)


class TestMaxoutInitializedByCallables:
    def test_functions_get_both_axes(self):
        shapes = []

        def fill(array):
            shapes.append(array.shape)
            array[...] = np.arange(array.size).reshape(array.shape)

        link = L.Maxout(None, 2, 4, initialW=fill, initial_bias=fill)
        link(X2)
        assert sorted(shapes) == [(2, 4), (2, 4, 3)]
        assert link.linear.W.array.tolist() == np.arange(24).reshape(8, 3).tolist()

    def test_initializers_get_one(self):
        shapes = []

        class Fill(chainer.Initializer):
            def __call__(self, array):
                shapes.append(array.shape)
                array[...] = 1

        L.Maxout(3, 2, 4, initialW=Fill(), initial_bias=Fill())
        assert sorted(shapes) == [(8,), (8, 3)]


def test_helpers_for_lists_of_sequences():
    from chainer.links.rnn.n_step_rnn import argsort_list_descent, permutate_list

    indices = argsort_list_descent([[1], [1, 2, 3], [1, 2], [0, 0]])
    assert indices.tolist() == [1, 2, 3, 0]
    assert indices.dtype == np.int32
    assert permutate_list([10, 11, 12, 13], indices, inv=False) == [11, 12, 13, 10]
    assert permutate_list([10, 11, 12, 13], indices, inv=True) == [13, 10, 11, 12]


class TestArraysAsInitializers:
    def test_bilinear(self):
        W, V1, V2, b = (floats(*shape) for shape in ((2, 3, 4), (2, 4), (3, 4), (4,)))
        link = L.Bilinear(2, 3, 4, initialW=W, initial_bias=(V1, V2, b))
        for name, array in {"W": W, "V1": V1, "V2": V2, "b": b}.items():
            np.testing.assert_array_equal(getattr(link, name).array, array)
        with pytest.warns(DeprecationWarning, match=r"zerograds? is deprecated"):
            link.zero_grads()
        assert not any(param.grad.any() for param in link.params())

    def test_maxout(self):
        W, b = floats(2, 4, 3), floats(2, 4)
        link = L.Maxout(3, 2, 4, initialW=W, initial_bias=b)
        expected = (np.einsum("bi,oki->bok", X2, W) + b).max(axis=2)
        np.testing.assert_allclose(link(X2).array, expected, rtol=1e-5)

    def test_gru_with_broadcast_bias(self):
        bias = floats(1, 2)
        link = L.StatefulGRU(3, 2, init=floats(2, 3), inner_init=floats(2, 2), bias_init=bias)
        np.testing.assert_array_equal(link.W_r.b.array, bias[0])
        np.testing.assert_array_equal(link.U.W.array, floats(2, 2))

    def test_lstm(self):
        link = L.LSTM(3, 2, upward_init=floats(2, 3), lateral_init=2, bias_init=3)
        np.testing.assert_array_equal(link.upward.W.array, np.tile(floats(2, 3), (4, 1)))
        assert (link.lateral.W.array == 2).all()
        assert link.upward.b.array.tolist() == [3, 3, 1, 3] * 2
        assert L.LSTM(3, 1, forget_bias_init=5).upward.b.array.tolist() == [0, 0, 5, 0]


class TestState:
    STATEFUL = [
        lambda: L.LSTM(3, 2),
        lambda: L.GRU(3, 2),
        lambda: L.StatefulGRU(3, 2),
        lambda: L.StatefulMGU(3, 2),
        lambda: L.StatefulZoneoutLSTM(3, 2),
    ]

    @pytest.mark.parametrize("make", STATEFUL)
    def test_set_and_reset(self, make):
        link = make()
        assert link.h is None
        with chainer.using_config("train", False):
            first = link(X2).array
            state = [link.c, link.h] if hasattr(link, "c") else [link.h]
            second = link(X2).array
            link.reset_state()
            assert link.h is None
            np.testing.assert_array_equal(link(X2).array, first)
            link.set_state(*state)
            np.testing.assert_array_equal(link(X2).array, second)
        with pytest.raises(TypeError, match="must be a Variable, got ndarray"):
            link.set_state(*(s.array for s in state))

    @pytest.mark.parametrize("make", [*STATEFUL, lambda: L.StatefulPeepholeLSTM(3, 2)])
    def test_state_follows_the_link(self, make):
        pytest.importorskip("chainer_strict_backend")
        strict = chainer.get_device("@strict:1")
        link = make()
        link(X2)
        link.to_device(strict)
        assert chainer.backend.get_device_from_array(link.h.array) == strict
        link(strict.send(X2))
        link.to_device("@numpy")
        link(X2)

    def test_shrinking_batches(self):
        link = L.LSTM(3, 2)
        for x in TIMES:
            link(x)
        assert link.h.shape == (4, 2)
        with pytest.raises(TypeError, match="equal to or less than the size of the previous state"):
            link(floats(5, 3))


class TestNStep:
    @pytest.mark.parametrize("directions", [1, 2])
    def test_result_is_that_of_single_steps(self, directions):
        name = "NStepGRU" if directions == 1 else "NStepBiGRU"
        link = getattr(L, name)(1, 3, 2, 0.0)
        xs = sequences(2, 4)
        hy, ys = link(None, xs)
        for d in range(directions):
            ws, bs = link.ws[d], link.bs[d]
            for i, x in enumerate(xs):
                h = np.zeros((1, 2), np.float32)
                order = range(len(x)) if d == 0 else reversed(range(len(x)))
                for t in order:
                    gates = [F.linear(x[t : t + 1], ws[k], bs[k]) for k in range(3)]
                    inner = [F.linear(h, ws[k], bs[k]) for k in range(3, 6)]
                    r, z = (F.sigmoid(gates[k] + inner[k]) for k in range(2))
                    new = F.tanh(gates[2] + r * inner[2])
                    h = (1 - z) * new + z * h
                    np.testing.assert_allclose(
                        ys[i].array[t : t + 1, 2 * d : 2 * d + 2], h.array, rtol=1e-4, atol=1e-6
                    )
                np.testing.assert_allclose(hy.array[d, i], h.array[0], rtol=1e-4, atol=1e-6)

    def test_size_is_found_out(self):
        link = L.NStepBiLSTM(2, None, 4, 0.0)
        with pytest.warns(UserWarning, match="has not been initialized"):
            link.count_params()
        hy, cy, ys = link(None, None, sequences(2, 4))
        assert hy.shape == cy.shape == (4, 2, 4)
        assert [y.shape for y in ys] == [(2, 8), (4, 8)]
        assert link[0].w0.shape == link[1].w3.shape == (4, 3)
        assert link[2].w0.shape == (4, 8)

    @pytest.mark.parametrize("lengths", [(3, 0), (0, 3, 0, 1), (0,)])
    def test_empty_sequences(self, lengths):
        link = L.NStepBiLSTM(2, 3, 4, 0.0)
        hx = floats(4, len(lengths), 4)
        hy, _, ys = link(hx, None, sequences(*lengths))
        assert [y.shape for y in ys] == [(length, 8) for length in lengths]
        for i, length in enumerate(lengths):
            unchanged = np.array_equal(hy.array[:, i], hx[:, i])
            assert unchanged == (length == 0)

    def test_initializers_and_attributes(self):
        link = L.NStepRNNTanh(2, 3, 4, 0.5, initialW=1, initial_bias=2)
        assert all((w.array == 1).all() for ws in link.ws for w in ws)
        assert all((b.array == 2).all() for bs in link.bs for b in bs)
        assert (link.n_layers, link.out_size, link.dropout) == (2, 4, 0.5)
        assert (L.NStepLSTM.n_weights, L.NStepGRU.n_weights, L.NStepRNNReLU.n_weights) == (8, 6, 2)
        assert (L.NStepLSTM.use_bi_direction, L.NStepBiGRU.use_bi_direction) == (False, True)
        assert (L.NStepLSTM(1, 1, 1, 0).n_cells, link.n_cells) == (2, 1)
        assert link.init_hx(sequences(1, 2, 3)).shape == (2, 3, 4)

    def test_copies_are_independent(self):
        link = L.NStepGRU(1, 3, 2, 0.0)
        copied = link.copy("copy")
        copied.ws[0][0].array[...] = 0
        assert copied[0].w0 is copied.ws[0][0]
        assert link.ws[0][0].array.any()


class TestBatchNormalization:
    @pytest.mark.parametrize("make", [L.BatchNormalization, L.BatchRenormalization])
    @pytest.mark.parametrize("left_out", ["use_gamma", "use_beta"])
    def test_half_precision_with_one_parameter(self, make, left_out):
        link = make(3, **{left_out: False})
        x = chainer.Variable(X2.astype(np.float16))
        y = link(x)
        F.sum(y * y).backward()
        expected = make(3)(X2)
        assert y.dtype == x.grad.dtype == np.float16
        np.testing.assert_allclose(y.array, expected.array, atol=5e-3)
        with chainer.using_config("train", False):
            assert link(x).dtype == np.float16

    def test_axis(self):
        x = IMAGE.transpose(0, 2, 3, 1)
        link = L.BatchNormalization(axis=(0, 1, 2))
        y = link(x)
        np.testing.assert_allclose(
            y.array, L.BatchNormalization(3)(IMAGE).array.transpose(0, 2, 3, 1), atol=1e-5
        )
        assert link.gamma.shape == link.avg_mean.shape == (3,)

    def test_options(self):
        link = L.BatchNormalization(
            3, dtype=np.float16, initial_gamma=2, initial_beta=np.arange(3), initial_avg_mean=4
        )
        assert link.gamma.dtype == link.avg_var.dtype == np.float16
        assert link.gamma.array.tolist() == [2, 2, 2]
        assert link.beta.array.tolist() == [0, 1, 2]
        assert link.avg_mean.tolist() == [4, 4, 4]

    def test_finetuning(self):
        link = L.BatchNormalization(3)
        xs = [IMAGE, 2 * IMAGE + 1, IMAGE - 3]
        for x in xs:
            link(x, finetune=True)
        assert link.N == 3
        means = [x.mean(axis=(0, 2, 3)) for x in xs]
        np.testing.assert_allclose(link.avg_mean, np.mean(means, axis=0), rtol=1e-5)
        link.start_finetuning()
        assert link.N == 0

    def test_frozen_statistics(self):
        link = L.BatchRenormalization(3, freeze_running_statistics=True)
        link(IMAGE)
        assert not link.avg_mean.any()
        assert (link.avg_var == 1).all()


class TestSampledLosses:
    def test_given_samples(self):
        link = L.BlackOut(3, COUNTS, 2)
        link.W.array[...] = floats(5, 3)
        link.sample_data = np.array([[0, 1]] * 4, np.int32)
        t = ints(2, 3, 4, 2)
        expected = F.black_out(X2, t, link.W, link.sample_data)
        np.testing.assert_array_equal(link(X2, t).array, expected.array)

    @pytest.mark.parametrize("make", [L.BlackOut, L.NegativeSampling])
    def test_counts_of_nothing(self, make):
        with pytest.raises(ValueError, match="at least one of them positive"):
            make(3, [0, 0], 2)

    def test_returned_samples(self):
        link = L.NegativeSampling(3, COUNTS, 2)
        loss, samples = link(X2, ints(0, 1, 2, 3), return_samples=True)
        assert loss.shape == ()
        assert samples.shape == (4, 3)


class TestHierarchicalSoftmax:
    def test_probabilities_add_up_to_one(self):
        link = L.BinaryHierarchicalSoftmax(3, ((0, 4), (1, (2, 7))))
        losses = [float(link(X2[:1], ints(t)).array) for t in (0, 1, 2, 4, 7)]
        assert np.exp(-np.array(losses)).sum() == pytest.approx(1, rel=1e-5)
        assert float(link(X2[:0], np.zeros(0, np.int32)).array) == 0

    def test_paths_that_are_longer_together_than_int32(self):
        lengths = np.array([0, 1 << 30, 1 << 30, 5], np.int32)
        assert path_ends(lengths).tolist() == [0, 1 << 30, 1 << 31, (1 << 31) + 5]
        assert path_ends(lengths[:2]).dtype == np.int32
        function = BinaryHierarchicalSoftmaxFunction((0, (1, 2)))
        weight, t = floats(2, 3), ints(0, 2)
        expected = function(X2[:2], t, weight).array
        function.begins = function.begins.astype(np.int64)
        assert function(X2[:2], t, weight).array == expected

    def test_unknown_label(self):
        link = L.BinaryHierarchicalSoftmax(3, (0, 2))
        with (
            chainer.using_config("debug", True),
            pytest.raises(ValueError, match="labels that are not leaves"),
        ):
            link(X2[:1], ints(1))
        with pytest.raises(IndexError):
            link(X2[:1], ints(3))
        with (
            chainer.using_config("debug", True),
            pytest.raises(ValueError, match="labels that are not leaves"),
        ):
            link(X2[:1], ints(-1))

    @pytest.mark.parametrize(
        ("x", "t", "expect"),
        [
            (X2, ints(0), r"in_types\[0\].shape\[0\] == in_types\[1\].shape\[0\]"),
            (X2, ints(0, 2, 0, 2)[:, None], r"in_types\[1\].ndim == 1"),
            (X2, floats(4), r"in_types\[1\].dtype.kind == i"),
            (X2[:, :, None], ints(0, 2, 0, 2), r"in_types\[0\].ndim == 2"),
        ],
    )
    def test_wrong_inputs(self, x, t, expect):
        with pytest.raises(InvalidType, match=expect):
            L.BinaryHierarchicalSoftmax(3, (0, 2))(x, t)

    @pytest.mark.parametrize(
        ("counts", "tree"),
        [
            ({3: 4}, 3),
            ({0: 8, 1: 5, 2: 6, 3: 4}, ((3, 1), (2, 0))),
            # Release 7.8.1.
            ({0: 1, 1: 1, 2: 1, 3: 1, 4: 1}, ((2, 3), (4, (0, 1)))),
            ({5: 2, 4: 1, 9: 1, 1: 2, 0: 1}, ((0, 5), ((4, 9), 1))),
            ({0: 3, 1: 4, 2: 1, 3: 1, 4: 2, 5: 2}, ((5, 0), (1, ((2, 3), 4)))),
            ({"a": 1, "b": 2.5, "c": 1}, (("a", "c"), "b")),
        ],
    )
    def test_huffman_tree(self, counts, tree):
        assert L.BinaryHierarchicalSoftmax.create_huffman_tree(counts) == tree

    def test_parser(self):
        parser = TreeParser(np.float64)
        parser.parse((("a", 3), 2))
        assert parser.size() == 2
        paths, codes = parser.get_paths(), parser.get_codes()
        assert {leaf: path.tolist() for leaf, path in paths.items()} == {
            "a": [0, 1],
            3: [0, 1],
            2: [0],
        }
        assert {leaf: code.tolist() for leaf, code in codes.items()} == {
            "a": [1, 1],
            3: [1, -1],
            2: [-1],
        }
        assert codes["a"].dtype == np.float64 and paths["a"].dtype == np.int32

    @pytest.mark.parametrize("tree", [(0, 1, 2), (0, (1,)), [0, 1], ((0, 0), 1), (0, -1)])
    def test_wrong_trees(self, tree):
        with pytest.raises(
            ValueError, match="two child nodes|tuples and leaves|two leaves|non-neg"
        ):
            L.BinaryHierarchicalSoftmax(3, tree)

    def test_function(self):
        link = L.BinaryHierarchicalSoftmax(3, ((0, 1), 2))
        function = BinaryHierarchicalSoftmaxFunction(((0, 1), 2), np.float32)
        assert function.parser_size == 2
        np.testing.assert_array_equal(function.begins, [0, 2, 4, 5])
        np.testing.assert_array_equal(function.paths, [0, 1, 0, 1, 0])
        np.testing.assert_array_equal(function.codes, [1, 1, 1, -1, -1])
        t = ints(0, 2, 1, 2)
        np.testing.assert_array_equal(function(X2, t, link.W).array, link(X2, t).array)

    def test_only_leaf(self):
        link = L.BinaryHierarchicalSoftmax(3, 0)
        with chainer.using_config("debug", True):
            assert float(link(X2, ints(0, 0, 0, 0)).array) == 0

    def test_deep_tree(self):
        tree = 0
        for leaf in range(1, 3000):
            tree = (leaf, tree)
        link = L.BinaryHierarchicalSoftmax(2, tree)
        assert link.W.shape == (2999, 2)
        assert np.isfinite(link(np.zeros((1, 2), np.float32), ints(0)).array)


@pytest.mark.parametrize(
    "make",
    [
        lambda: L.NegativeSampling(3, COUNTS, 2),
        lambda: L.BlackOut(3, COUNTS, 2),
        lambda: L.BinaryHierarchicalSoftmax(3, ((0, 1), 2)),
    ],
    ids=["NegativeSampling", "BlackOut", "BinaryHierarchicalSoftmax"],
)
def test_shared_copies_move_by_themselves(make):
    pytest.importorskip("chainer_strict_backend")
    link = make()
    copy = link.copy()
    copy.to_device("@strict")
    assert link(X2, ints(0, 2, 1, 2)).device == chainer.get_device("@numpy")
    strict = copy.device
    assert copy(strict.send(X2), strict.send(ints(0, 2, 1, 2))).device == strict


def test_crf_of_sequences():
    link = L.CRF1d(3, initial_cost=floats(3, 3))
    xs = [floats(2, 3), floats(4, 3), floats(3, 3)]
    ys = [ints(0, 1), ints(2, 2, 0, 1), ints(1, 0, 2)]
    losses = [
        link([x[t : t + 1] for t in range(len(x))], np.split(y, len(y))) for x, y in zip(xs, ys)
    ]
    expected = [float(loss.array) for loss in losses]
    actual = link(xs, ys, reduce="no", transpose=True)
    np.testing.assert_allclose(actual.array, expected, rtol=1e-5)
    assert float(link(xs, ys, transpose=True).array) == pytest.approx(np.mean(expected), rel=1e-5)
    scores, paths = link.argmax(xs, transpose=True)
    for x, score, path in zip(xs, scores.array, paths, strict=True):
        alone = link.argmax([x[t : t + 1] for t in range(len(x))])
        assert score == pytest.approx(float(alone[0].array[0]), rel=1e-5)
        assert path.tolist() == [int(label[0]) for label in alone[1]]


def test_dropconnect_with_mask():
    link = L.SimplifiedDropconnect(3, 2, ratio=0.5)
    mask = np.array([[1, 0, 1], [0, 1, 1]], bool)
    masks = np.broadcast_to(mask, (4, 2, 3)).copy()
    expected = X2 @ (mask * 2 * link.W.array).T
    np.testing.assert_allclose(link(X2, mask=masks).array, expected, rtol=1e-5)
    np.testing.assert_allclose(link(X2, train=False).array, X2 @ link.W.array.T, rtol=1e-5)


def test_local_convolution_with_stride():
    link = L.LocalConvolution2D(3, 2, (7, 5), 3, stride=2)
    assert link.W.shape == (2, 3, 2, 3, 3, 3)
    lazy = L.LocalConvolution2D(None, 2, ksize=3, stride=2)
    assert lazy(floats(2, 3, 7, 5)).shape == link(floats(2, 3, 7, 5)).shape == (2, 2, 3, 2)
    assert lazy.W.shape == link.W.shape


class TestClassifier:
    def test_reports(self):
        link = L.Classifier(L.Linear(3, 2))
        t = ints(0, 1, 1, 0)
        reporter = chainer.Reporter()
        reporter.add_observer("main", link)
        observation = {}
        with reporter.scope(observation):
            loss = link(X2, t)
        assert loss is link.loss
        assert float(observation["main/loss"].array) == float(loss.array)
        np.testing.assert_array_equal(link.y.array, link.predictor(X2).array)
        expected = F.accuracy(link.y, t).array
        assert float(observation["main/accuracy"].array) == float(expected)

    def test_without_accuracy(self):
        link = L.Classifier(L.Linear(3, 2), F.mean_squared_error)
        link.compute_accuracy = False
        link(X2, floats(4, 2))
        assert link.accuracy is None

    @pytest.mark.parametrize("key", [0, -2, "t"])
    def test_label_key(self, key):
        link = L.Classifier(L.Linear(3, 2), label_key=key)
        t = ints(0, 1, 1, 0)
        loss = link(X2, t=t) if key == "t" else link(t, X2)
        expected = F.softmax_cross_entropy(link.predictor(X2), t)
        np.testing.assert_allclose(loss.array, expected.array)

    def test_wrong_label_keys(self):
        with pytest.raises(TypeError, match="label_key must be int or str"):
            L.Classifier(L.Linear(2), label_key=None)
        with pytest.raises(ValueError, match="Label key 2 is out of bounds"):
            L.Classifier(L.Linear(2), label_key=2)(X2, X2)
        with pytest.raises(ValueError, match='Label key "t" is not found'):
            L.Classifier(L.Linear(2), label_key="t")(X2, y=X2)


def test_initializers_of_mlp_convolution_by_position():
    """The documentation of release 4 lists them as positional arguments."""
    link = L.MLPConvolution2D(3, (4, 2), 3, 1, 0, F.relu, chainer.initializers.Constant(2), 3)
    for layer in link:
        assert (layer.W.array == 2).all()
        assert (layer.b.array == 3).all()
