"""Whole models: 20 steps of training give the losses that NumPy gives."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.backends import intel64

STEPS = 20


class LeNet5(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(1, 6, 5, pad=2)
            self.conv2 = L.Convolution2D(6, 16, 5)
            self.fc3 = L.Linear(400, 120)
            self.fc4 = L.Linear(120, 10)

    def forward(self, x):
        h = F.max_pooling_2d(F.relu(self.conv1(x)), 2)
        h = F.local_response_normalization(F.max_pooling_2d(F.relu(self.conv2(h)), 2))
        return self.fc4(F.relu(self.fc3(h)))


class Residual(chainer.Chain):
    def __init__(self, channels):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(channels, channels, 3, pad=1, nobias=True)
            self.norm = L.BatchNormalization(channels)

    def forward(self, x):
        return F.relu(x + self.norm(self.conv(x)))


class SmallVGG(chainer.Chain):
    """Convolutions, batch normalisation, a residual block, concatenation, dropout."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(1, 16, 3, pad=1)
            self.norm1 = L.BatchNormalization(16)
            self.block = Residual(16)
            self.up = L.Deconvolution2D(16, 8, 2, stride=2)
            self.conv2 = L.Convolution2D(24, 16, 3, pad=1)
            self.fc = L.Linear(16, 10)

    def forward(self, x):
        h = F.relu(self.norm1(self.conv1(x)))
        low = F.relu(self.up(F.max_pooling_2d(self.block(h), 2)))
        h = F.leaky_relu(self.conv2(F.dropout(F.concat([h, low]), 0.2)))
        return self.fc(F.average_pooling_2d(h, h.shape[2:]))


class LanguageModel(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(50, 128)
            self.rnn = L.NStepLSTM(1, 128, 128, 0.0)
            self.cell = L.LSTM(128, 128)
            self.out = L.Linear(128, 50)

    def forward(self, words):
        _, _, ys = self.rnn(None, None, list(F.separate(self.embed(words), axis=0)))
        self.cell.reset_state()
        hs = [self.cell(h) for h in F.separate(F.stack(ys), axis=1)]
        return self.out(F.concat(hs, axis=0))


def train(model_class, optimizer, mode, x, t):
    np.random.seed(0)
    model = model_class()
    with chainer.using_config("use_ideep", mode):
        if mode != "never":
            model.to_intel64()
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
MODELS = [
    (LeNet5, lambda: chainer.optimizers.MomentumSGD(0.01), IMAGES, DIGITS),
    (SmallVGG, lambda: chainer.optimizers.Adam(1e-3), IMAGES, DIGITS),
    (LanguageModel, lambda: chainer.optimizers.SGD(0.5), WORDS, WORDS.T.ravel()),
]


@pytest.mark.parametrize(
    ("model", "optimizer", "x", "t"), MODELS, ids=lambda v: getattr(v, "__name__", "")
)
@pytest.mark.parametrize("mode", ["auto", "always"])
def test_losses(model, optimizer, x, t, mode):
    expected, _ = train(model, optimizer, "never", x, t)
    got, trained = train(model, optimizer, mode, x, t)
    assert expected[-1] < expected[0]
    np.testing.assert_allclose(got, expected, rtol=2e-3)
    assert any(type(p.array) is intel64.mdarray for p in trained.params())


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
