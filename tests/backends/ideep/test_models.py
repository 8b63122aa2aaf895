"""Whole models: 20 steps of training give the losses that NumPy gives."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.backends import intel64
from tests.backends.ideep import corners
from tests.backends.ideep.networks import VGG16, LanguageModel, LeNet5, Mixed, ResNet50

STEPS = 20


def train(model_class, optimizer, mode, x, t):
    np.random.seed(0)
    model = model_class()
    with chainer.using_config("use_ideep", mode):
        if mode != "never":
            model.to_device("@ideep")
        optimizer = optimizer().setup(model)
        losses = []
        for _ in range(STEPS):
            loss = F.softmax_cross_entropy(model(x), t)
            model.cleargrads()
            loss.backward()
            optimizer.update()
            losses.append(float(loss.array))
        with chainer.using_config("train", False), chainer.no_backprop_mode():
            losses.append(float(F.softmax_cross_entropy(model(x), t).array))
    return losses, model


IMAGES = np.random.RandomState(1).randn(16, 1, 28, 28).astype("f")
DIGITS = np.random.RandomState(2).randint(0, 10, 16).astype("i")
WORDS = np.random.RandomState(3).randint(0, 50, (8, 10)).astype("i")
COLORED = np.random.RandomState(4).randn(16, 3, 64, 64).astype("f")
# The last number is the relative tolerance: two ways to add up float32 numbers, after 20 steps.
MODELS = [
    (LeNet5, lambda: chainer.optimizers.MomentumSGD(3e-3), IMAGES, DIGITS, 1e-4),
    (Mixed, lambda: chainer.optimizers.Adam(1e-3), IMAGES, DIGITS, 2e-3),
    (VGG16, lambda: chainer.optimizers.MomentumSGD(3e-3), COLORED[..., :32, :32], DIGITS, 1e-4),
    (ResNet50, lambda: chainer.optimizers.MomentumSGD(1e-3), COLORED, DIGITS, 5e-3),
    (LanguageModel, lambda: chainer.optimizers.SGD(0.5), WORDS, WORDS.T.ravel(), 1e-3),
]


@pytest.mark.parametrize(
    ("model", "optimizer", "x", "t", "rtol"), MODELS, ids=[case[0].__name__ for case in MODELS]
)
@pytest.mark.parametrize("mode", ["auto", "always"])
def test_losses(model, optimizer, x, t, rtol, mode):
    expected, _ = train(model, optimizer, "never", x, t)
    got, trained = train(model, optimizer, mode, x, t)
    assert expected[STEPS - 1] < expected[0]
    np.testing.assert_allclose(got[:STEPS], expected[:STEPS], rtol=rtol)
    # A mode of its own: running statistics, dropout left out.
    np.testing.assert_allclose(got[STEPS], expected[STEPS], rtol=2 * rtol)
    assert any(type(p.array) is intel64.mdarray for p in trained.params())


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("model", "size"), [(VGG16, 32), (ResNet50, 64)])
def test_gradients_are_as_exact_as_those_of_numpy(model, size, seed, monkeypatch):
    """Float64 is the judge. It goes the same way at corners, where gradients jump."""

    def gradients(mode, dtype):
        np.random.seed(seed)
        with chainer.using_config("dtype", np.dtype(dtype)):
            net = model()
        for parameter in net.params():
            parameter.array[...] = parameter.array.astype("f")
        if mode != "never":
            net.to_device("@ideep")
        net.cleargrads()
        with chainer.using_config("use_ideep", mode):
            F.softmax_cross_entropy(
                net(COLORED[..., :size, :size].astype(dtype)), DIGITS
            ).backward()
        return {name: np.asarray(p.grad, "d") for name, p in net.namedparams()}

    def errors(mode):
        with monkeypatch.context() as patches:
            recorder = corners.Recorder(patches)
            found = gradients(mode, "f")
        with monkeypatch.context() as patches:
            judge = corners.Follower(patches, recorder.ways)
            exact = gradients("never", "d")
        # Rounding may carry an element across a corner only from right beside it.
        assert judge.margin < 1e-4
        norm = np.linalg.norm
        return np.array([norm(found[n] - exact[n]) / norm(exact[n]) for n in exact])

    ours, numpys = errors("auto"), errors("never")
    assert np.median(ours) < 5 * np.median(numpys)
    assert max(ours) < 20 * max(numpys)


def test_layouts_last_from_layer_to_layer():
    np.random.seed(0)
    with chainer.using_config("use_ideep", "auto"):
        x = F.convolution_2d(IMAGES, np.ones((16, 1, 3, 3), "f"), pad=1)
        assert not x.array.layout.dense
        for function in (
            F.relu,
            F.sigmoid,
            F.elu,
            lambda x: F.max_pooling_2d(x, 2),
            lambda x: F.average_pooling_2d(x, 2),
            lambda x: F.batch_normalization(x, np.ones(16, "f"), np.ones(16, "f")),
            lambda x: F.dropout(x, 0.5),
            lambda x: x + x,
        ):
            assert not function(x).array.layout.dense


def test_optimizer_state_is_saved_and_loaded(tmp_path):
    _, model = train(LeNet5, lambda: chainer.optimizers.Adam(), "auto", IMAGES, DIGITS)
    rule = model.fc3.W.update_rule
    path = str(tmp_path / "rule.npz")
    chainer.serializers.save_npz(path, rule)
    fresh = chainer.optimizers.Adam().create_update_rule()
    chainer.serializers.load_npz(path, fresh)
    for name in ("m", "v"):
        np.testing.assert_array_equal(fresh.state[name], np.asarray(rule.state[name]))
    model.fc3.W.update_rule = fresh
    model.fc3.W.grad = intel64.mdarray(np.ones(model.fc3.W.shape, "f"))
    fresh.update(model.fc3.W)
    assert fresh.t == rule.t + 1


SCRIPT = """
    import multiprocessing
    import numpy as np
    import chainer
    import chainer.functions as F
    import chainer.links as L

    def compute(seed):
        with chainer.using_config("use_ideep", "auto"):
            x = np.random.RandomState(seed).randn(4, 8, 12, 12).astype("f")
            W = np.random.RandomState(0).randn(16, 8, 3, 3).astype("f")
            return float(F.sum(F.relu(F.convolution_2d(x, W))).array)

    if __name__ == "__main__":
        here = [compute(i) for i in range(4)]
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert np.allclose(pool.map(compute, range(4)), here)
        assert np.allclose([compute(i) for i in range(4)], here)
        data = chainer.datasets.TupleDataset(np.ones((8, 3), "f"))
        for batch in chainer.iterators.MultiprocessIterator(data, 2, repeat=False, n_processes=2):
            compute(0)
        print("done")
"""


def test_other_processes(tmp_path):
    script = tmp_path / "forks.py"
    script.write_text(textwrap.dedent(SCRIPT))
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "done"
