"""Whole models, and inputs of other lengths than the sample."""

from __future__ import annotations

import warnings

import numpy as np
import onnx_chainer
import pytest
from models import (
    Generator,
    Inception,
    LanguageModel,
    LeNet,
    NStepLanguageModel,
    ResNet,
    Transformer,
    VGGBlocks,
    images,
    tokens,
)
from running import OPSETS, Apply, check, compare, operators

import chainer
import chainer.distributions as D
import chainer.functions as F
import chainer.links as L

IMAGE_MODELS = {
    "LeNet": (LeNet, images(2, 1, 20, 20)),
    "VGG": (VGGBlocks, images(2, 3, 16, 16)),
    "ResNet": (ResNet, images(2, 3, 10, 10)),
    "Inception": (Inception, images(2, 3, 15, 15)),
    "DCGAN": (Generator, images(2, 5)),
}


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("name", IMAGE_MODELS)
def test_image_models(name, opset):
    make, x = IMAGE_MODELS[name]
    check(make(), x, opset=opset)


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("name", IMAGE_MODELS)
def test_dynamic_batch(name, opset):
    make, x = IMAGE_MODELS[name]
    model = make()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        proto = check(model, x, opset=opset, input_shapes=[("b", *x.shape[1:])])
    assert proto.graph.output[0].type.tensor_type.shape.dim[0].dim_param == "b"
    for n in (1, 5):
        compare(model, (images(n, *x.shape[1:]),), proto)


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("make", [LanguageModel, Transformer])
def test_language_models(make, opset):
    check(make(), tokens(3, 5), opset=opset)


def test_dynamic_batch_and_length():
    model = Transformer()
    x = tokens(2, 4)
    proto = check(model, x, input_shapes=[("batch", "length")])
    dims = proto.graph.output[0].type.tensor_type.shape.dim
    assert [d.dim_param or d.dim_value for d in dims] == ["batch", "length", 11]
    for shape in ((1, 7), (5, 4), (3, 1)):
        compare(model, (tokens(*shape),), proto)


def test_dynamic_batch_of_an_lstm():
    # The states begin as arrays of zeros, which are as long as the batch.
    model = LanguageModel()
    proto = check(model, tokens(2, 3), input_shapes=[("b", 3)])
    compare(model, (tokens(6, 3),), proto)


def test_dynamic_size_of_images():
    def model(x):
        h = F.max_pooling_2d(F.relu(F.convolution_2d(x, W, pad=1)), 2)
        return F.average(h, axis=(2, 3))

    W = images(4, 3, 3, 3)
    proto = check(model, images(1, 3, 8, 8), input_shapes=[("n", 3, "h", "w")])
    compare(Apply(model), (images(3, 3, 12, 6),), proto)


def test_attention_layer_of_the_pack():
    layer = L.TransformerEncoderLayer(8, 2)
    x = images(2, 5, 8)
    for opset in OPSETS:
        check(layer, x, opset=opset)


def test_causal_attention_of_any_length():
    def attend(q):
        return F.scaled_dot_product_attention(q, q, q, causal=True)

    proto = check(attend, images(2, 5, 8), input_shapes=[("b", "t", 8)])
    compare(Apply(attend), (images(1, 9, 8),), proto)


def test_attention_to_a_window_of_cached_keys_of_any_length():
    def attend(q, k):
        return F.scaled_dot_product_attention(q, k, k, causal=True, window=3)

    shapes = [("b", 2, "t", 8), ("b", 1, "s", 8)]
    proto = check(attend, images(2, 2, 5, 8), images(2, 1, 9, 8), input_shapes=shapes)
    compare(Apply(attend), (images(1, 2, 4, 8), images(1, 1, 11, 8)), proto)


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize(
    "name",
    [
        *("NStepLSTM", "NStepBiLSTM", "NStepGRU", "NStepBiGRU"),
        *("NStepRNNTanh", "NStepBiRNNTanh", "NStepRNNReLU", "NStepBiRNNReLU"),
    ],
)
def test_recurrent_links(name, opset):
    model = NStepLanguageModel(cls=getattr(L, name))
    for link in model.links():
        for parameter in link.params(False):
            parameter.array[...] = np.random.RandomState(1).randn(*parameter.shape) * 0.5
    proto = check(model, tokens(4), tokens(4), opset=opset)
    assert len([name for name in operators(proto) if name in ("LSTM", "GRU", "RNN")]) == 2
    # Sequences of several lengths.
    check(model, tokens(2), tokens(5), tokens(3), opset=opset)


def test_states_of_a_recurrent_link():
    link = L.NStepLSTM(2, 3, 4, 0)

    def run(h, c, x1, x2):
        h, c, ys = link(h, c, [x1, x2])
        return (h, c, *ys)

    check(run, images(2, 2, 4), images(2, 2, 4), images(5, 3), images(2, 3))


def test_gru_links():
    check(L.StatelessGRU(3, 4), images(2, 4), images(2, 3))
    check(L.StatelessMGU(3, 4), images(2, 4), images(2, 3))


def test_distributions():
    def densities(x, loc, binary):
        normal = D.Normal(loc, log_scale=loc * 0)
        laplace = D.Laplace(loc, F.exp(loc))
        bernoulli = D.Bernoulli(logit=loc)
        return (
            normal.log_prob(x),
            normal.cdf(x),
            normal.entropy,
            laplace.prob(x),
            laplace.cdf(x),
            bernoulli.log_prob(binary.array),
            D.Categorical(logit=loc).entropy,
        )

    binary = (images(2, 3) > 0.5).astype("f")
    check(densities, images(2, 3), images(2, 3) - 0.5, binary)


@pytest.mark.parametrize(
    ("name", "density"),
    [
        ("Beta", lambda x, a, b: D.Beta(a, b).log_prob(x)),
        ("Categorical", lambda x, a, b: D.Categorical(logit=F.stack([a, b])).log_prob(np.r_[0, 1])),
        ("Cauchy", lambda x, a, b: D.Cauchy(a, b).log_prob(x)),
        ("Chisquare", lambda x, a, b: D.Chisquare(a).log_prob(x)),
        ("Dirichlet", lambda x, a, b: D.Dirichlet(a).log_prob(x / F.sum(x))),
        ("Exponential", lambda x, a, b: D.Exponential(a).log_prob(x)),
        ("Gamma", lambda x, a, b: D.Gamma(a, b).log_prob(x)),
        ("Gamma entropy", lambda x, a, b: D.Gamma(a, b).entropy),
        ("Geometric", lambda x, a, b: D.Geometric(x).log_prob(np.arange(1, 4, dtype="f"))),
        ("Gumbel", lambda x, a, b: D.Gumbel(a, b).log_prob(x)),
        ("KL", lambda x, a, b: chainer.kl_divergence(D.Normal(a, b), D.Normal(b, a))),
        ("LogNormal", lambda x, a, b: D.LogNormal(a, b).log_prob(x)),
        (
            "MultivariateNormal",
            lambda x, a, b: D.MultivariateNormal(
                a, scale_tril=F.broadcast_to(b, (3, 3)) * np.tril(np.ones((3, 3), "f"))
            ).log_prob(x),
        ),
        ("Normal quantile", lambda x, a, b: D.Normal(a, b).icdf(x)),
        ("Normal survival", lambda x, a, b: D.Normal(a, b).log_survival_function(x)),
        (
            "OneHotCategorical",
            lambda x, a, b: D.OneHotCategorical(F.softmax(F.stack([a, b]))).log_prob(
                np.eye(3, dtype="f")[:2]
            ),
        ),
        ("Pareto", lambda x, a, b: D.Pareto(x, b).log_prob(a)),
        ("Poisson", lambda x, a, b: D.Poisson(a).log_prob(np.arange(1, 4, dtype="f"))),
        ("Uniform", lambda x, a, b: D.Uniform(low=x * 0, high=b).log_prob(x * 0.5)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_densities(name, density):
    x = np.array([0.15, 0.6, 0.45], "f")
    a, b = np.array([0.7, 1.4, 1.9], "f"), np.array([1.2, 0.55, 0.9], "f")
    check(density, x, a, b, tolerance=2e-5)


def test_functions_without_gradient_in_a_model():
    check(lambda x: F.sign(x) * F.floor(x * 3) + F.ceil(x) + F.fix(-3 * x), images(2, 3) - 0.5)


def test_weights_used_twice():
    linear = L.Linear(3, 3)

    class Twice(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.linear = linear

        def forward(self, x):
            return self.linear(F.relu(self.linear(x)))

    proto = check(Twice(), images(2, 3))
    assert [t.name for t in proto.graph.initializer] == ["param_linear_W", "param_linear_b"]
    assert operators(proto) == ["Gemm", "Relu", "Gemm"]


@pytest.mark.parametrize("opset", [13, 17, 21])
def test_train_mode(opset):
    model = chainer.Sequential(L.Linear(3, 4), L.BatchNormalization(4))
    x = images(5, 3)
    model(x)
    before = {name: value.copy() for name, value in _persistents(model).items()}
    proto = onnx_chainer.export(model, x, train=True, opset_version=opset)
    for name, value in _persistents(model).items():
        np.testing.assert_array_equal(value, before[name], err_msg=name)
    assert operators(proto) == ["Gemm", "BatchNormalization"]
    from running import run

    with chainer.using_config("train", True):
        expected = model(x).array
    np.testing.assert_allclose(run(proto, {"Input_0": x})[0][0], expected, rtol=1e-4, atol=1e-5)


def _persistents(model):
    bn = model[1]
    return {"mean": bn.avg_mean, "var": bn.avg_var, "N": np.asarray(bn.N)}


def test_dropout():
    model = chainer.Sequential(L.Linear(3, 4), F.dropout)
    x = images(5, 3)
    assert operators(onnx_chainer.export(model, x)) == ["Gemm"]
    for opset in (9, 12, 21):
        proto = onnx_chainer.export(model, x, train=True, opset_version=opset)
        assert operators(proto) == ["Gemm", "Dropout"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["VGG16Layers", "ResNet50Layers", "GoogLeNet"])
def test_full_size(name, tmp_path):
    """Out, in onnxruntime, and in again."""
    np.random.seed(0)
    network = getattr(L, name)(None)
    model = Apply(lambda x: network(x, layers=["prob"])["prob"])
    with model.init_scope():
        model.network = network
    x = images(1, 3, 224, 224)
    path = tmp_path / "model.onnx"
    proto = onnx_chainer.export(model, x, path, input_shapes=("b", 3, 224, 224))
    # Weights at random let rounding errors grow from layer to layer.
    compare(model, (images(2, 3, 224, 224),), proto, tolerance=1e-3)
    loaded = onnx_chainer.load(path)
    with chainer.using_config("train", False):
        np.testing.assert_allclose(loaded(x).array, model(x).array, rtol=1e-3, atol=1e-6)
