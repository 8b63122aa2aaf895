"""Networks of the benchmarks of captured steps, written by hand for JAX with optax."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import optax
from step_rows import with_data

INPUTS, LABELS = 7, 11


def random(*shape, seed=0):
    return jnp.asarray(np.random.RandomState(seed).randn(*shape).astype(np.float32))


def integers(high, *shape, seed=0):
    return jnp.asarray(np.random.RandomState(seed).randint(0, high, shape).astype(np.int32))


def _linear(state, inputs, outputs):
    weight = state.randn(inputs, outputs) / np.sqrt(inputs)
    return {"W": jnp.asarray(weight, jnp.float32), "b": jnp.zeros(outputs, jnp.float32)}


def _apply(layer, x):
    return x @ layer["W"] + layer["b"]


def _cross_entropy(logits, t):
    return optax.softmax_cross_entropy_with_integer_labels(logits, t).mean()


def mlp(units):
    state = np.random.RandomState(0)
    params = [_linear(state, *size) for size in ((784, units), (units, units), (units, 10))]

    def loss(params, x, t):
        for layer in params[:-1]:
            x = jax.nn.relu(_apply(layer, x))
        return _cross_entropy(_apply(params[-1], x), t)

    return params, loss


def lenet():
    state = np.random.RandomState(0)
    params = {
        "c1": random(20, 1, 5, 5) / 5,
        "b1": jnp.zeros((1, 20, 1, 1)),
        "c2": random(50, 20, 5, 5) / 22,
        "b2": jnp.zeros((1, 50, 1, 1)),
        "l1": _linear(state, 800, 500),
        "l2": _linear(state, 500, 10),
    }

    def block(x, weight, bias):
        x = jax.lax.conv(x, weight, (1, 1), "VALID") + bias
        window = (1, 1, 2, 2)
        return jax.lax.reduce_window(jax.nn.relu(x), -jnp.inf, jax.lax.max, window, window, "VALID")

    def loss(params, x, t):
        x = block(x, params["c1"], params["b1"])
        x = block(x, params["c2"], params["b2"])
        h = jax.nn.relu(_apply(params["l1"], x.reshape(len(x), -1)))
        return _cross_entropy(_apply(params["l2"], h), t)

    return params, loss


def language_model(words=1000, units=200):
    """An LSTM by ``lax.scan``, the output layer on all words at once."""
    state = np.random.RandomState(0)
    params = {
        "embed": random(words, units),
        "lstm": _linear(state, 2 * units, 4 * units),
        "out": _linear(state, units, words),
    }

    def loss(params, x, t):
        from_inputs = params["embed"][x] @ params["lstm"]["W"][:units] + params["lstm"]["b"]
        recurrent = params["lstm"]["W"][units:]

        def step(carry, given):
            c, h = carry
            a, i, f, o = jnp.split(given + h @ recurrent, 4, axis=1)
            c = jnp.tanh(a) * jax.nn.sigmoid(i) + jax.nn.sigmoid(f) * c
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (c, h), h

        zeros = jnp.zeros((x.shape[1], units), jnp.float32)
        _, hs = jax.lax.scan(step, (zeros, zeros), from_inputs)
        return _cross_entropy(_apply(params["out"], hs), t) * len(x)

    return params, loss


def transformer(words=1000, units=64, heads=4, length=32):
    state = np.random.RandomState(0)

    def encoder():
        norm = {"g": jnp.ones(units), "b": jnp.zeros(units)}
        return {
            "qkv": _linear(state, units, 3 * units),
            "out": _linear(state, units, units),
            "inner": _linear(state, units, 4 * units),
            "outer": _linear(state, 4 * units, units),
            "norm1": norm,
            "norm2": jax.tree.map(jnp.copy, norm),
        }

    params = {
        "embed": random(words, units),
        "position": random(length, units),
        "layers": [encoder(), encoder()],
        "out": _linear(state, units, words),
    }

    def normalize(norm, x):
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-6) * norm["g"] + norm["b"]

    def encode(layer, x):
        batch, length, units = x.shape
        split = _apply(layer["qkv"], x).reshape(batch, length, 3, heads, units // heads)
        q, k, v = jnp.moveaxis(split, (2, 3), (0, 2))
        scores = jax.nn.softmax(q @ jnp.swapaxes(k, 2, 3) * (units // heads) ** -0.5)
        mixed = jnp.swapaxes(scores @ v, 1, 2).reshape(x.shape)
        x = normalize(layer["norm1"], x + _apply(layer["out"], mixed))
        h = jax.nn.relu(_apply(layer["inner"], x))
        return normalize(layer["norm2"], x + _apply(layer["outer"], h))

    def loss(params, x, t):
        h = params["embed"][x] + params["position"]
        for layer in params["layers"]:
            h = encode(layer, h)
        return _cross_entropy(_apply(params["out"], h), t)

    return params, loss


_NETS = {
    "MLP b32": lambda: mlp(50),
    "wide MLP b100": lambda: mlp(1000),
    "LeNet b64": lenet,
    "LSTM 35x20": language_model,
    "Transformer 16x32": transformer,
}

#: Name -> network, what makes inputs of a number, what makes labels of a number.
NETS = with_data(_NETS, random, integers)


class Training:
    """A jitted step of optax's Adam, whose state is donated."""

    def __init__(self, name, nets=NETS):
        network, inputs, labels = nets[name]
        params, loss_of = network()
        optimizer = optax.adam(1e-3)
        self.state = params, optimizer.init(params)
        self.xs = [inputs(n) for n in range(INPUTS)]
        self.ts = [labels(n) for n in range(LABELS)]
        self.calls = 0

        def step(state, x, t):
            params, moments = state
            loss, gradients = jax.value_and_grad(loss_of)(params, x, t)
            updates, moments = optimizer.update(gradients, moments, params)
            return (optax.apply_updates(params, updates), moments), loss

        self.step = jax.jit(step, donate_argnums=0)

    def __call__(self):
        n = self.calls
        self.calls += 1
        self.state, loss = self.step(self.state, self.xs[n % INPUTS], self.ts[n % LABELS])
        self.loss = loss.block_until_ready()

    def result(self):
        return [float(self.loss)]
