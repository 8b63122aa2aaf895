"""Captured steps and static chains while iDeep's kernels are in use."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.backends import intel64


class Images(chainer.Chain):
    """Convolutions with batch normalization and a residual sum, as ResNet has them."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.c1 = L.Convolution2D(3, 8, 3, pad=1, nobias=True)
            self.b1 = L.BatchNormalization(8)
            self.c2 = L.Convolution2D(8, 8, 3, pad=1)
            self.b2 = L.BatchNormalization(8)
            self.last = L.Linear(8 * 16, 10)

    def features(self, x):
        h = F.relu(self.b1(self.c1(x)))
        h = F.relu(self.b2(self.c2(h)) + h)
        return F.max_pooling_2d(h, 2)

    def forward(self, x):
        # iDeep has no softplus: its input becomes a NumPy array.
        return self.last(F.dropout(F.softplus(self.features(x)), 0.25))


def training(captured, entry, value, steps=5):
    """Returns the losses and the persistent values of a training."""
    chainer.utils.seed(0)
    model = L.Classifier(Images())
    optimizer = chainer.optimizers.Adam().setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.01))

    def step(x, t):
        optimizer.update(model, x, t)
        return model.loss, model.y

    run = chainer.capture(step, model, optimizer, on_failure="error") if captured else step
    rng = np.random.default_rng(1)
    found = []
    with chainer.using_config(entry, value):
        for _ in range(steps):
            x, t = rng.standard_normal((4, 3, 8, 8), "f"), rng.integers(0, 10, 4).astype("i")
            found += [np.array(y.array) for y in run(x, t)]
    serializer = chainer.serializers.DictionarySerializer()
    serializer.save(model)
    if captured:
        assert "in use" in chainer.explain(run)
    found += [serializer.target[name] for name in sorted(serializer.target)]
    return found


@pytest.mark.parametrize(("entry", "value"), [("use_ideep", "auto"), ("accelerate", "auto")])
def test_captured_training_has_the_bits_of_the_step_as_written(entry, value):
    written, recorded = (training(captured, entry, value) for captured in (False, True))
    for expected, actual in zip(written, recorded, strict=True):
        np.testing.assert_array_equal(actual, expected)


class Upsampled(chainer.Chain):
    """A deconvolution, whose bias has the sum of a gradient in blocks as its gradient."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.c1 = L.Convolution2D(3, 16, 3, pad=1)
            self.up = L.Deconvolution2D(16, 32, 2, 2)
            self.c2 = L.Convolution2D(32, 4, 3, pad=1)

    def forward(self, x, t):
        return F.softmax_cross_entropy(self.c2(F.relu(self.up(F.relu(self.c1(x))))), t)


def test_sums_of_blocks_have_the_bits_of_the_step_as_written():
    rng = np.random.default_rng(0)
    x, t = rng.standard_normal((4, 3, 16, 16), "f"), rng.integers(0, 4, (4, 32, 32)).astype("i")

    def parameters(captured):
        chainer.utils.seed(0)
        model = Upsampled()
        optimizer = chainer.optimizers.MomentumSGD(0.1).setup(model)

        def step(x, t):
            optimizer.update(model, x, t)

        run = chainer.capture(step, model, optimizer, on_failure="error") if captured else step
        with chainer.using_config("accelerate", "auto"):
            for _ in range(5):
                run(x, t)
        return [p.array for _, p in sorted(model.namedparams())]

    for expected, actual in zip(parameters(False), parameters(True), strict=True):
        np.testing.assert_array_equal(actual, expected)


def test_layouts_are_kept_from_kernel_to_kernel(monkeypatch):
    model = Images()
    x = np.random.rand(4, 3, 8, 8).astype("f")
    dense = []
    original = intel64.ideep.ops.dense
    with chainer.using_config("accelerate", "auto"), chainer.no_backprop_mode():
        run = chainer.capture(lambda x: model.features(x), model, on_failure="error")
        for _ in range(4):
            run(x)
        expected = np.array(model.features(x).array)
        noting = lambda array: dense.append(array) or original(array)
        monkeypatch.setattr(intel64.ideep.ops, "dense", noting)
        y = run(x).array
    assert type(y) is np.ndarray
    np.testing.assert_array_equal(y, expected)
    assert len(dense) <= 1  # the result alone is brought into NumPy's layout


def test_its_arrays_in_a_recorded_step_behave_as_arrays():
    W = np.random.rand(8, 8, 3, 3).astype("f")

    def step(x):
        y = F.convolution_2d(x, W).array
        assert (y.ndim, y.size, len(y), y.nbytes) == (4, 4 * 8 * 36, 4, 4 * 4 * 8 * 36)
        total = (
            y.sum()
            + np.exp(y * 0.01).mean()
            + (2 - y / 2)[0, 0, 0, 0]
            + np.concatenate([y, y])[5].max()
        )
        y += y
        return chainer.Variable(y[1:3].reshape(2, -1).T * total + (-y).transpose()[0, 0].mean())

    arrays = [np.random.rand(4, 8, 8, 8).astype("f") for _ in range(4)]
    with chainer.using_config("accelerate", "auto"):
        run = chainer.capture(step, on_failure="error")
        for x in arrays:
            np.testing.assert_allclose(run(x).array, step(x).array, rtol=1e-6)
        assert "in use" in chainer.explain(run)


def test_gradients_are_converted_into_planned_memory(monkeypatch):
    rng = np.random.default_rng(0)
    x, t = rng.standard_normal((2, 32, 8, 8), "f"), rng.integers(0, 32, (2, 8, 8)).astype("i")
    model = L.Classifier(L.Convolution2D(32, 32, 3, pad=1))
    optimizer = chainer.optimizers.Adam().setup(model)
    converted = []
    original = type(chainer.get_device("@intel64").backend).copy_to_xp

    def noting(self, array, out):
        original(self, array, out)
        converted.append(out.shape)

    with chainer.using_config("accelerate", "auto"):
        step = lambda x, t: optimizer.update(model, x, t)
        run = chainer.capture(step, model, optimizer, on_failure="error")
        monkeypatch.setattr(type(chainer.get_device("@intel64").backend), "copy_to_xp", noting)
        for _ in range(4):
            run(x, t)
        converted.clear()
        run(x, t)
    assert converted.count((32, 32, 3, 3)) == 1


@pytest.mark.parametrize("view", [lambda a: a, lambda a: np.empty((*a.shape, 2), "f")[..., 0]])
def test_arrays_in_blocks_are_copied_to_numpy_arrays(view):
    backend = chainer.get_device("@intel64").backend
    x = np.random.default_rng(0).standard_normal((2, 16, 5, 5), "f")
    blocked = intel64.ideep.ops.relu(
        intel64.ideep.ops.convolution(x, np.eye(16, dtype="f").reshape(16, 16, 1, 1))
    )
    assert not blocked.layout.dense
    for array in (blocked, x):
        out = view(np.zeros_like(x))
        backend.copy_to_xp(array, out)
        np.testing.assert_array_equal(out, backend.to_host(array))
    assert not blocked.layout.dense


def test_products_are_written_into_planned_memory(monkeypatch):
    rng = np.random.default_rng(0)
    x, t = rng.standard_normal((64, 800), "f"), rng.integers(0, 10, 64).astype("i")
    ops = intel64.ideep.ops
    names = ("linear", "linear_backward_data", "linear_backward_weights")
    given = []

    def noting(name, original):
        def called(*args, out=None):
            given.append((name, out is not None))
            return original(*args, out=out)

        return called

    def trained(captures):
        chainer.utils.seed(0)
        layers = [L.Linear(800, 900), F.relu, L.Linear(900, 900), F.relu, L.Linear(900, 10)]
        model = L.Classifier(chainer.Sequential(*layers))
        optimizer = chainer.optimizers.Adam().setup(model)
        step = lambda x, t: optimizer.update(model, x, t)
        if captures:
            step = chainer.capture(step, model, optimizer, on_failure="error")
        with chainer.using_config("accelerate", "auto"):
            for i in range(5):
                if captures and i == 4:
                    for name in names:
                        monkeypatch.setattr(ops, name, noting(name, getattr(ops, name)))
                step(x, t)
        return [p.array.copy() for _, p in sorted(model.namedparams())]

    for expected, actual in zip(trained(False), trained(True), strict=True):
        np.testing.assert_array_equal(actual, expected)
    assert {name for name, _ in given} == set(names)
    assert all([is_given for _, is_given in given])
