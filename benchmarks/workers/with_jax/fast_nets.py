"""Networks of the benchmark ``fast``, written by hand for JAX.

Images are in NHWC, the layout that XLA's convolutions on CPUs take without transpositions.
"""

from __future__ import annotations

import capture_nets
import jax
import jax.numpy as jnp
import numpy as np
from capture_nets import _apply, _cross_entropy, _linear, integers, random
from step_rows import CLASSES, EDGES, PENALTY, RESNET50, UNET, UNITS, VGG16, with_data
from jax import lax


def _conv(inputs, outputs, size, seed=0):
    return random(size, size, inputs, outputs, seed=seed) / np.float32(size * inputs**0.5)


def _convolve(x, weight, stride=1, pad="SAME"):
    pads = pad if isinstance(pad, str) else [(pad, pad)] * 2
    names = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, weight, (stride, stride), pads, dimension_numbers=names)


def _pool(x, size=2, stride=2, pad=0):
    pads = ((0, 0), (pad, pad), (pad, pad), (0, 0))
    window, strides = (1, size, size, 1), (1, stride, stride, 1)
    return lax.reduce_window(x, -jnp.inf, lax.max, window, strides, pads)


def _norm(channels):
    return {"g": jnp.ones(channels), "b": jnp.zeros(channels)}


def _normalize(norm, x, axes):
    mean = x.mean(axes, keepdims=True)
    variance = jnp.square(x - mean).mean(axes, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * norm["g"] + norm["b"]


def _batch_norm(norm, x):
    return _normalize(norm, x, (0, 1, 2))


def _images(x):
    return x.transpose(0, 2, 3, 1)


def cnn():
    state = np.random.RandomState(0)
    sizes = ((3, 64), (64, 64), (64, 64))
    params = {
        "blocks": [{"conv": _conv(a, b, 3), "norm": _norm(b)} for a, b in sizes],
        "out": _linear(state, 64 * 16, 10),
    }

    def loss(params, x, t):
        x = _images(x)
        for block in params["blocks"]:
            x = _pool(jax.nn.relu(_batch_norm(block["norm"], _convolve(x, block["conv"]))))
        return _cross_entropy(_apply(params["out"], x.reshape(len(x), -1)), t)

    return params, loss


def vgg16():
    state = np.random.RandomState(0)
    groups, before = [], 3
    for group in VGG16:
        layers = []
        for size in group:
            layers.append({"W": _conv(before, size, 3), "b": jnp.zeros(size)})
            before = size
        groups.append(layers)
    params = {"groups": groups, "l1": _linear(state, 2048, 512), "l2": _linear(state, 512, 10)}

    def loss(params, x, t):
        x = _images(x)
        for group in params["groups"]:
            for layer in group:
                x = jax.nn.relu(_convolve(x, layer["W"]) + layer["b"])
            x = _pool(x)
        h = jax.nn.relu(_apply(params["l1"], x.reshape(len(x), -1)))
        return _cross_entropy(_apply(params["l2"], h), t)

    return params, loss


def resnet50():
    state = np.random.RandomState(0)
    blocks, strides, before = [], [], 64
    for stage, (middle, count) in enumerate(RESNET50):
        for index in range(count):
            after = 4 * middle
            sizes = ((before, middle, 1), (middle, middle, 3), (middle, after, 1))
            block = {"convs": [_conv(*s) for s in sizes], "norms": [_norm(s[1]) for s in sizes]}
            strides.append(2 if index == 0 and stage > 0 else 1)
            if before != after:
                block["shortcut"] = _conv(before, after, 1), _norm(after)
            blocks.append(block)
            before = after
    params = {
        "conv": _conv(3, 64, 7),
        "norm": _norm(64),
        "blocks": blocks,
        "out": _linear(state, before, 100),
    }

    def residual(block, stride, x):
        h = x
        for n, (conv, norm) in enumerate(zip(block["convs"], block["norms"])):
            h = _batch_norm(norm, _convolve(h, conv, stride if n == 0 else 1))
            h = jax.nn.relu(h) if n < 2 else h
        if "shortcut" in block:
            conv, norm = block["shortcut"]
            x = _batch_norm(norm, _convolve(x, conv, stride))
        return jax.nn.relu(h + x)

    def loss(params, x, t):
        h = jax.nn.relu(_batch_norm(params["norm"], _convolve(_images(x), params["conv"], 2, 3)))
        h = _pool(h, 3, 2, 1)
        for block, stride in zip(params["blocks"], strides):
            h = residual(block, stride, h)
        return _cross_entropy(_apply(params["out"], h.mean((1, 2))), t)

    return params, loss


def decoder_layer(units=768, heads=12):
    state = np.random.RandomState(0)
    params = {
        "qkv": _linear(state, units, 3 * units),
        "out": _linear(state, units, units),
        "inner": _linear(state, units, 4 * units),
        "outer": _linear(state, 4 * units, units),
        "norm1": _norm(units),
        "norm2": _norm(units),
    }

    def loss(params, x, t):
        length = len(x)
        h = _normalize(params["norm1"], x, -1)
        q, k, v = jnp.moveaxis(_apply(params["qkv"], h).reshape(length, 3, heads, -1), (1, 2), (0, 1))
        scores = q @ jnp.swapaxes(k, 1, 2) * (units // heads) ** -0.5
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -jnp.inf)
        mixed = jnp.swapaxes(jax.nn.softmax(scores) @ v, 0, 1).reshape(length, units)
        h = x + _apply(params["out"], mixed)
        inner = jax.nn.gelu(_apply(params["inner"], _normalize(params["norm2"], h, -1)))
        return jnp.mean(jnp.square(h + _apply(params["outer"], inner) - t))

    return params, loss


def graph_network(nodes=1000):
    state = np.random.RandomState(0)
    source, target = integers(nodes, 2, EDGES, seed=1)
    params = {
        "layers": [[_linear(state, UNITS, UNITS) for _ in range(2)] for _ in range(2)],
        "out": _linear(state, UNITS, CLASSES),
    }

    def loss(params, x, t):
        for own, sent in params["layers"]:
            x = jax.nn.relu(_apply(own, x).at[target].add(_apply(sent, x)[source]))
        return _cross_entropy(_apply(params["out"], x), t)

    return params, loss


def unet(classes=4):
    a, b, c = UNET

    def convolutions(inputs, outputs):
        sizes = (inputs, outputs), (outputs, outputs)
        return [(_conv(*size, 3), _norm(outputs)) for size in sizes]

    params = {
        "down1": convolutions(3, a),
        "down2": convolutions(a, b),
        "bottom": convolutions(b, c),
        "up2": (_conv(c, b, 2), jnp.zeros(b)),
        "merge2": convolutions(2 * b, b),
        "up1": (_conv(b, a, 2), jnp.zeros(a)),
        "merge1": convolutions(2 * a, a),
        "out": (_conv(a, classes, 1), jnp.zeros(classes)),
    }

    def run(layers, x):
        for conv, norm in layers:
            x = jax.nn.relu(_batch_norm(norm, _convolve(x, conv)))
        return x

    def grow(layer, x):
        names = ("NHWC", "HWIO", "NHWC")
        return lax.conv_transpose(x, layer[0], (2, 2), "VALID", dimension_numbers=names) + layer[1]

    def loss(params, x, t):
        first = run(params["down1"], _images(x))
        second = run(params["down2"], _pool(first))
        h = run(params["bottom"], _pool(second))
        h = run(params["merge2"], jnp.concatenate((grow(params["up2"], h), second), -1))
        h = run(params["merge1"], jnp.concatenate((grow(params["up1"], h), first), -1))
        return _cross_entropy(_convolve(h, params["out"][0]) + params["out"][1], t)

    return params, loss


def critic():
    params = {
        "c1": (_conv(3, 16, 4), jnp.zeros(16)),
        "c2": (_conv(16, 32, 4), jnp.zeros(32)),
        "out": _linear(np.random.RandomState(0), 32 * 6 * 6, 1),
    }

    def score(params, x):
        for weight, bias in (params["c1"], params["c2"]):
            x = jax.nn.leaky_relu(_convolve(x, weight, 2, 1) + bias, 0.2)
        return _apply(params["out"], x.reshape(len(x), -1))

    def loss(params, x, t):
        x, t = _images(x), _images(t)
        gradient = jax.grad(lambda mixed: score(params, mixed).sum())(0.5 * (x + t))
        penalty = jnp.mean((jnp.sqrt(jnp.square(gradient).sum((1, 2, 3))) - 1) ** 2)
        return score(params, t).mean() - score(params, x).mean() + PENALTY * penalty

    return params, loss


def gated_units(words=1000, units=200):
    """A GRU by ``lax.scan``, the output layer on all words at once."""
    state = np.random.RandomState(0)
    params = {
        "embed": random(words, units),
        "inputs": _linear(state, units, 3 * units),
        "gates": _linear(state, units, 2 * units),
        "candidate": _linear(state, units, units),
        "out": _linear(state, units, words),
    }

    def loss(params, x, t):
        from_inputs = _apply(params["inputs"], params["embed"][x])

        def step(h, given):
            gates = given[:, : 2 * units] + _apply(params["gates"], h)
            r, z = jnp.split(jax.nn.sigmoid(gates), 2, axis=1)
            h_bar = jnp.tanh(given[:, 2 * units :] + _apply(params["candidate"], r * h))
            h = (1 - z) * h + z * h_bar
            return h, h

        _, hs = lax.scan(step, jnp.zeros((x.shape[1], units), jnp.float32), from_inputs)
        return _cross_entropy(_apply(params["out"], hs), t) * len(x)

    return params, loss


_NETS = {
    "CNN 64 b64": cnn,
    "VGG16 b8": vgg16,
    "ResNet50 b8": resnet50,
    "GRU 35x20": gated_units,
    "NStepLSTM 35x20": capture_nets.language_model,
    "GPT-2 layer 1x128": decoder_layer,
    "graph network": graph_network,
    "U-Net b4": unet,
    "WGAN-GP b16": critic,
}

NETS = {**capture_nets.NETS, **with_data(_NETS, random, integers)}
