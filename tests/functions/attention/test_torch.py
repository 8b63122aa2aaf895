"""The same numbers as PyTorch, where it is installed."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
T = torch.nn.functional


def _arrays(*shapes):
    random = np.random.default_rng(0)
    return [random.standard_normal(shape).astype("f") for shape in shapes]


def _compare(ours, theirs, arrays, rtol=1e-4, atol=1e-5):
    variables = [chainer.Variable(a) for a in arrays]
    tensors = [torch.tensor(a, requires_grad=True) for a in arrays]
    y, expected = ours(*variables), theirs(*tensors)
    np.testing.assert_allclose(y.array, expected.detach().numpy(), rtol=rtol, atol=atol)
    gy = np.random.default_rng(1).standard_normal(y.shape).astype("f")
    y.grad = gy
    y.backward()
    expected.backward(torch.tensor(gy))
    for v, t in zip(variables, tensors, strict=True):
        np.testing.assert_allclose(v.grad, t.grad.numpy(), rtol=10 * rtol, atol=10 * atol)


_CASES = {
    "gelu": (F.gelu, T.gelu, [(4, 50)]),
    "gelu tanh": (
        lambda x: F.gelu(x, approximate=True),
        lambda x: T.gelu(x, approximate="tanh"),
        [(4, 50)],
    ),
    "silu": (F.silu, T.silu, [(4, 50)]),
    "mish": (F.mish, T.mish, [(4, 50)]),
    "hard_swish": (lambda x: F.hard_swish(x * 2), lambda x: T.hardswish(x * 2), [(4, 50)]),
    "glu": (lambda x: F.glu(x, axis=-1), T.glu, [(2, 3, 8)]),
    "group_normalization": (
        lambda x, g, b: F.group_normalization(x, 3, g, b),
        lambda x, g, b: T.group_norm(x, 3, g, b),
        [(4, 6, 5, 3), (6,), (6,)],
    ),
    "instance_normalization": (
        F.instance_normalization,
        lambda x, g, b: T.instance_norm(x, weight=g, bias=b),
        [(4, 6, 5, 3), (6,), (6,)],
    ),
    "rms_normalization": (
        F.rms_normalization,
        lambda x, g: T.rms_norm(x, (8,), g, eps=1e-6),
        [(4, 5, 8), (8,)],
    ),
    "adaptive_average_pooling_2d": (
        lambda x: F.adaptive_average_pooling_2d(x, (3, 4)),
        lambda x: T.adaptive_avg_pool2d(x, (3, 4)),
        [(2, 3, 7, 9)],
    ),
}


@pytest.mark.parametrize("name", _CASES)
def test_function(name):
    ours, theirs, shapes = _CASES[name]
    _compare(ours, theirs, _arrays(*shapes))


@pytest.mark.parametrize(
    "mode", ["plain", "causal", "bool mask", "float mask", "scale", "long", "long causal"]
)
def test_attention(mode):
    m, n, kwargs, torch_kwargs = 5, 7, {}, {}
    if "long" in mode:
        m = n = 300
    if "causal" in mode:
        kwargs["causal"] = torch_kwargs["is_causal"] = True
    if mode == "scale":
        kwargs["scale"] = torch_kwargs["scale"] = 0.7
    if mode == "bool mask":
        mask = np.random.default_rng(2).uniform(size=(2, 1, m, n)) < 0.6
        mask[..., 0] = True  # PyTorch gives NaN where nothing is seen
        kwargs["mask"], torch_kwargs["attn_mask"] = mask, torch.tensor(mask)
    arrays = _arrays((2, 3, m, 8), (2, 3, n, 8), (2, 3, n, 6))
    if mode == "float mask":
        arrays += _arrays((3, m, n))
    _compare(
        lambda q, k, v, *mask: F.scaled_dot_product_attention(q, k, v, *mask, **kwargs),
        lambda q, k, v, *mask: T.scaled_dot_product_attention(q, k, v, *mask, **torch_kwargs),
        arrays,
    )


@pytest.mark.parametrize("reduce", ["mean", "no"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.7])
def test_label_smoothing(smoothing, reduce):
    t = np.array([[0, 2], [-1, 1], [3, 3]], np.int32)
    _compare(
        lambda x: F.label_smoothed_cross_entropy(x, t, smoothing, reduce=reduce),
        lambda x: T.cross_entropy(
            x,
            torch.tensor(t).long(),
            label_smoothing=smoothing,
            ignore_index=-1,
            reduction="none" if reduce == "no" else "mean",
        ),
        _arrays((3, 4, 2)),
    )


def _copy_linear(link, module):
    link.W.array[...] = module.weight.detach().numpy()
    link.b.array[...] = module.bias.detach().numpy()


def _copy_norm(link, module):
    link.gamma.array[...] = module.weight.detach().numpy()
    link.beta.array[...] = module.bias.detach().numpy()


def _copy_attention(link, module):
    weights = module.in_proj_weight.detach().numpy().reshape(3, link.size, link.size)
    biases = module.in_proj_bias.detach().numpy().reshape(3, link.size)
    for child, W, b in zip((link.query, link.key, link.value), weights, biases, strict=True):
        if child.W.array is None:
            child.W.initialize(W.shape)
        child.W.array[...], child.b.array[...] = W, b
    _copy_linear(link.output, module.out_proj)


def _randomize(module):
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.3)


def test_multi_head_attention():
    module = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    _randomize(module)
    link = L.MultiHeadAttention(2, 8)
    _copy_attention(link, module)
    padded = np.array([[0, 0, 0, 1, 1], [0, 0, 0, 0, 0]], bool)
    _compare(
        lambda q, k: link(q, k, mask=~padded[:, None, None]),
        lambda q, k: module(q, k, k, key_padding_mask=torch.tensor(padded))[0],
        _arrays((2, 3, 8), (2, 5, 8)),
    )


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("activation", ["gelu", "relu"])
def test_encoder_layer(norm_first, activation):
    module = torch.nn.TransformerEncoderLayer(
        8, 2, 16, 0.0, activation, batch_first=True, norm_first=norm_first
    )
    _randomize(module)
    link = L.TransformerEncoderLayer(
        8, 2, 16, dropout=0.0, activation=getattr(F, activation), norm_first=norm_first
    )
    _copy_attention(link.attention, module.self_attn)
    for name in ("norm1", "norm2"):
        _copy_norm(link[name], getattr(module, name))
    for name in ("linear1", "linear2"):
        _copy_linear(link[name], getattr(module, name))
    _compare(link, module, _arrays((2, 5, 8)))
    future = torch.triu(torch.full((5, 5), float("-inf")), diagonal=1)
    _compare(
        lambda x: link(x, causal=True), lambda x: module(x, src_mask=future), _arrays((2, 5, 8))
    )


@pytest.mark.parametrize("norm_first", [True, False])
def test_decoder_layer(norm_first):
    module = torch.nn.TransformerDecoderLayer(
        8, 2, 16, 0.0, "gelu", batch_first=True, norm_first=norm_first
    )
    _randomize(module)
    link = L.TransformerDecoderLayer(8, 2, 16, dropout=0.0, norm_first=norm_first)
    _copy_attention(link.attention, module.self_attn)
    _copy_attention(link.cross_attention, module.multihead_attn)
    for name in ("norm1", "norm2", "norm3"):
        _copy_norm(link[name], getattr(module, name))
    for name in ("linear1", "linear2"):
        _copy_linear(link[name], getattr(module, name))
    future = torch.triu(torch.full((5, 5), float("-inf")), diagonal=1)
    padded = np.array([[0, 0, 1], [0, 0, 0]], bool)
    _compare(
        lambda x, e: link(x, e, encoded_mask=~padded[:, None, None]),
        lambda x, e: module(x, e, tgt_mask=future, memory_key_padding_mask=torch.tensor(padded)),
        _arrays((2, 5, 8), (2, 3, 8)),
    )
