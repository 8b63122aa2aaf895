"""Programs with copies of equations, evaluated as loops, against the same programs as they are."""

from __future__ import annotations

import chainer
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from chainer_jax.loops import with_loops

STEPS, SIZE = 12, 5


def values(*shape):
    return np.random.uniform(-0.7, 0.7, shape).astype(np.float32)


def evaluate(function, *arrays):
    """Compares a program with what it becomes, and returns the text of that."""
    program = jax.make_jaxpr(function)(*arrays)
    evaluation = with_loops(program.jaxpr, program.consts)
    expected = jax.jit(function)(*arrays)
    for actual, y in zip(jax.jit(evaluation)(*arrays), jax.tree.leaves(expected), strict=True):
        assert actual.dtype == y.dtype
        np.testing.assert_allclose(actual, y, rtol=2e-5, atol=1e-5)
    return len(program.jaxpr.eqns), jax.make_jaxpr(evaluation)(*arrays).jaxpr


def names(program):
    return [equation.primitive.name for equation in program.eqns]


def recurrence(x, h, W, U):
    total, outputs = 0.0, []
    for i in range(STEPS):
        z = x[i] @ W + h @ U
        h = jnp.tanh(z) * jax.nn.sigmoid(z)
        total += (jnp.exp(h) * 0.1).sum()
        outputs.append(h)
    return total, outputs


def arrays():
    return values(STEPS, 3, SIZE), values(3, SIZE), values(SIZE, SIZE), values(SIZE, SIZE)


def test_recurrence():
    before, program = evaluate(recurrence, *arrays())
    assert names(program).count("scan") == 1
    # One product of all inputs with W, not one for each.
    assert names(program).count("dot_general") <= 4
    assert len(program.eqns) < before / 2


def test_gradients():
    """Those of weights are one product over all copies."""

    def loss(*arguments):
        return recurrence(*arguments)[0]

    before, program = evaluate(jax.grad(loss, (1, 2, 3)), *arrays())
    assert names(program).count("scan") >= 2
    assert len(program.eqns) < before / 2


def two_before(x, h, W, U):
    """The third copy reads the first, and so on."""
    before = h
    for i in range(STEPS):
        h, before = jnp.tanh(h @ W + before * x[i]) + jnp.cos(before), h
        h = h * 1.5 - jnp.sin(h) / 3
    return h, before


def sums(x, h, W, U):
    """Sums of rows that numbers select, of products, and of elements."""
    rows, product, elements, seen = jnp.zeros((9, SIZE)), jnp.zeros((SIZE, SIZE)), 0.0, []
    for i in range(STEPS):
        y = jnp.sin(x[i]) * 2 + h
        indices = jnp.abs(y[:, 0] * 5).astype("i")
        rows = rows + jnp.zeros((9, SIZE)).at[indices].add(y)
        product = product + (y.T @ jnp.cos(y)).T
        elements = elements + y.sum() * 0.5
        seen.append(elements)  # each of them, not only the last
    return rows, product, elements, seen


def backwards(x, h, W, U):
    for i in reversed(range(STEPS)):
        h = jnp.tanh(h @ W) * jnp.exp(x[i]) + lax.slice(x[i], (0, 0), (3, SIZE)) * 0.5 - h / 3
    return h


def other_elements_of_what_is_carried(x, h, W, U):
    h = jnp.tile(h.reshape(-1), 2)
    for i in range(STEPS):
        h = jnp.tanh(h * 1.1 + h[i]) - jnp.cos(h) * 0.1 + jnp.exp(-h) / 7
    return h


def other_numbers(x, h, W, U):
    for i in range(STEPS):
        h = jnp.tanh(h * (1 + i / 7)) + jnp.cos(h * i) * 0.1 - jnp.sin(h) / 3
    return h


def first_and_last_differ(x, h, W, U):
    h = h @ U
    for i in range(STEPS):
        h = jnp.tanh(h) * 0.3 + jnp.sin(h + (x[i] if i else 1.0)) * jnp.cos(h / 2) - h / 9
    return jnp.exp(h) @ W


@pytest.mark.parametrize(
    "function",
    [
        two_before,
        sums,
        backwards,
        other_elements_of_what_is_carried,
        other_numbers,
        first_and_last_differ,
    ],
)
def test_programs(function):
    evaluate(function, *arrays())
    loops = {two_before: 1, sums: 1, backwards: 1, first_and_last_differ: 1}
    if function in loops:
        _, program = evaluate(function, *arrays())
        assert names(program).count("scan") >= loops[function]


def test_layers_with_weights_of_their_own_stay():
    """To stack their weights would take more than it saves."""
    weights = [values(60, 60) for _ in range(STEPS)]

    def function(h, *weights):
        for W in weights:
            h = jnp.tanh(h @ W) * 0.5 + jnp.cos(h) * jnp.sin(h) - h / 3
        return h

    _, program = evaluate(function, values(2, 60), *weights)
    assert "scan" not in names(program)
    assert names(program).count("dot_general") == STEPS


def test_what_was_written_is_read_without_the_writes():
    def function(x, y, z):
        x = lax.dynamic_update_slice(x, y, (0, 0))
        x = lax.dynamic_update_slice(x, z, (2, 1))
        parts = [x[0:1], x[2:4, 1:3], x[2:3, 2:3], x[3:4, 0:1], x[1:3]]
        return [part * 2 for part in parts]

    _, program = evaluate(function, values(4, 3), values(2, 3), values(2, 2))
    # Only the last part contains elements of several writes.
    assert names(program).count("dynamic_update_slice") == 2
    assert [e.invars[0] in program.invars for e in program.eqns if e.primitive.name == "mul"][1]


def test_writes_beyond_the_end_are_kept():
    """XLA moves them into the array."""

    def function(x, y):
        return lax.dynamic_update_slice(x, y, (3, 0))[3:4]

    evaluate(function, values(4, 3), values(2, 3))


def test_language_model(device):
    """A captured step of a recurrent network, word by word, against the step as written."""
    import chainer.functions as F
    import chainer.links as L

    class Words(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.embed, self.lstm, self.out = L.EmbedID(9, 6), L.LSTM(6, 6), L.Linear(6, 9)

        def forward(self, x, t):
            self.lstm.reset_state()
            steps = [self.out(self.lstm(self.embed(x[i]))) for i in range(len(x))]
            return sum(F.softmax_cross_entropy(y, t[i]) for i, y in enumerate(steps))

    def train(captured):
        np.random.seed(0)
        model = Words()
        model.to_device(device)
        optimizer = chainer.optimizers.MomentumSGD(0.05).setup(model)

        def step(x, t):
            optimizer.update(model, x, t)
            return model(x, t)

        call = chainer.capture(step, model, optimizer, on_failure="error") if captured else step
        random = np.random.RandomState(1)
        return [
            float(call(*device.send([random.randint(0, 9, (STEPS, 4)) for _ in "xt"])).array)
            for _ in range(10)
        ]

    np.testing.assert_allclose(train(True), train(False), rtol=1e-4)
