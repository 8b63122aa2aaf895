"""Captured steps on JAX as files: the bits in another process, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys

import chainer
import chainer.functions as F
import chainer.links as L
import chainer_step_player
import numpy as np
import pytest

X = np.linspace(-1, 1, 80, dtype="f").reshape(8, 10)
T = np.arange(8, dtype="i") % 3

#: Goes on from a file, without the code of the model.
ELSEWHERE = """
import sys
import numpy as np
import chainer

folder = sys.argv[1]
step = chainer.load_step(folder + "/step.npz")
step.hyperparameters["alpha"] = 0.02
with np.load(folder + "/batch.npz") as batch:
    x, t = batch["arr_0"], batch["arr_1"]
losses = [chainer.get_device("@numpy").send(step(x, t).array) for _ in range(100)]
np.save(folder + "/losses.npy", np.array(losses))
np.savez(folder + "/model.npz", **step.snapshot(0))
np.savez(folder + "/optimizer.npz", **step.snapshot(1))
"""


def training(keep_grads=False):
    np.random.seed(0)
    device = chainer.get_device("@jax:0")
    layers = (L.Linear(10, 6), L.BatchNormalization(6), F.relu, F.dropout, L.Linear(6, 3))
    model = L.Classifier(chainer.Sequential(*layers))
    model.to_device(device)
    optimizer = chainer.optimizers.Adam().setup(model)

    def step(x, t):
        loss = model(x, t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    captured = chainer.capture(step, model, optimizer, on_failure="error", keep_grads=keep_grads)
    return model, optimizer, captured, device.send(X), device.send(T)


def entries(target):
    serializer = chainer.serializers.DictionarySerializer()
    serializer.save(target)
    return {key: on_host(value).tobytes() for key, value in serializer.target.items()}


def on_host(value):
    return np.asarray(chainer.get_device("@numpy").send(value))


def saved(folder, **options):
    model, optimizer, step, x, t = training(**options)
    for _ in range(4):
        step(x, t)
    step.save(folder / "step.npz")
    return model, optimizer, step, x, t


def test_another_process_goes_on_with_the_same_bits(tmp_path):
    model, optimizer, step, x, t = saved(tmp_path)
    np.savez(tmp_path / "batch.npz", X, T)
    subprocess.run([sys.executable, "-c", ELSEWHERE, str(tmp_path)], check=True)
    optimizer.alpha = 0.02
    losses = np.array([on_host(step(x, t).array) for _ in range(100)])
    assert np.load(tmp_path / "losses.npy").tobytes() == losses.tobytes()
    for target, name in ((model, "model"), (optimizer, "optimizer")):
        with np.load(tmp_path / f"{name}.npz") as file:
            assert {key: file[key].tobytes() for key in file.files} == entries(target)


def test_arrays_of_both_kinds(tmp_path):
    _, _, step, x, t = saved(tmp_path, keep_grads=True)
    loaded = chainer.load_step(tmp_path / "step.npz")
    y = loaded(chainer.Variable(x), T)
    assert chainer.backend.get_device_from_array(y.array) == chainer.get_device("@jax:0")
    assert on_host(y.array) == on_host(step(x, t).array)
    assert loaded.gradients["predictor/0/W"].shape == (6, 10)
    assert "one program" in loaded.explain()
    loaded.save(tmp_path / "later.npz")
    later = chainer.load_step(tmp_path / "later.npz")
    assert later.counters == loaded.counters
    assert on_host(later(X, T).array) == on_host(loaded(X, T).array)


def test_what_is_refused(tmp_path):
    saved(tmp_path)
    file = tmp_path / "step.npz"
    with pytest.raises(chainer_step_player.StepFileError, match="backend 'jax', not calls of Num"):
        chainer_step_player.load(file)
    with pytest.raises(ValueError, match=r"takes \(float32\[8, 10\], int32\[8\]\), got"):
        chainer.load_step(file)(X[:4], T)
    with np.load(file) as old:
        arrays = dict(old)
    header = json.loads(arrays.pop("step").tobytes())
    header["programs"][0]["backend"] = "cloud"
    chainer_step_player.write(tmp_path / "other.npz", header, arrays)
    with pytest.raises(ValueError, match="a program of the backend 'cloud'"):
        chainer.load_step(tmp_path / "other.npz")
    header["programs"][0]["backend"] = "jax"
    arrays[f"memory{header['programs'][0]['program'][0]}"][:50] = 7
    chainer_step_player.write(tmp_path / "damaged.npz", header, arrays)
    with pytest.raises(ValueError, match=r"damaged\.npz: the step is a program of the backend"):
        chainer.load_step(tmp_path / "damaged.npz")
