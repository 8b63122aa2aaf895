"""Captured steps as files: bits, names, snapshots, and what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
import chainer_step_player
from chainer.training.capturing.capture import CaptureError

X = np.linspace(-1, 1, 80, dtype=np.float32).reshape(8, 10)
T = np.arange(8, dtype=np.int32) % 3


def training_step(model, optimizer, **options):
    def step(x, t):
        loss = model(x, t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    return chainer.capture(step, model, optimizer, on_failure="error", **options)


def perceptron(optimizer=None, *layers):
    np.random.seed(0)
    layers = layers or (L.Linear(10, 6), F.tanh)
    model = L.Classifier(chainer.Sequential(*layers, L.Linear(None, 3)))
    optimizer = (optimizer or chainer.optimizers.Adam()).setup(model)
    return model, optimizer, training_step(model, optimizer)


def saved(step, path, args=(X, T), calls=4):
    for _ in range(calls):
        step(*args)
    file = path / "step.npz"
    step.save(file)
    return file


def entries(target):
    serializer = chainer.serializers.DictionarySerializer()
    serializer.save(target)
    return {key: np.asarray(value).tobytes() for key, value in serializer.target.items()}


def in_bytes(snapshot):
    return {key: value.tobytes() for key, value in snapshot.items()}


def edited(file, change):
    """Writes a file again with another header."""
    with np.load(file, allow_pickle=False) as old:
        arrays = dict(old)
    header = json.loads(arrays.pop("step").tobytes())
    change(header)
    chainer_step_player.write(file, header, arrays)
    return file


# -- bits -----------------------------------------------------------------------------------------

#: Runs the player alone: an import of Chainer would be an error.
ALONE = """
import sys
sys.modules["chainer"] = None
sys.path.insert(0, sys.argv[1])
import numpy, chainer_step_player
assert chainer_step_player.__file__.startswith(sys.argv[1])
step = chainer_step_player.load(sys.argv[1] + "/step.npz")
with numpy.load(sys.argv[1] + "/batch.npz") as batch:
    x, t = batch["arr_0"], batch["arr_1"]
losses = [step(x, t) for _ in range(100)]
numpy.savez(sys.argv[1] + "/model.npz", **step.snapshot(0))
numpy.savez(sys.argv[1] + "/optimizer.npz", **step.snapshot(1))
numpy.save(sys.argv[1] + "/losses.npy", numpy.array(losses))
"""


def test_numpy_alone_goes_on_with_the_same_bits(tmp_path):
    dropout = (L.Linear(10, 6), L.BatchNormalization(6), F.relu, F.dropout)
    model, optimizer, step = perceptron(chainer.optimizers.AdamW(), *dropout)
    for _ in range(4):
        step(X, T)
    step.save(tmp_path / "step.npz", player=True)
    np.savez(tmp_path / "batch.npz", X, T)
    subprocess.run([sys.executable, "-I", "-c", ALONE, str(tmp_path)], check=True)
    losses = np.array([step(X, T).array for _ in range(100)])
    assert np.load(tmp_path / "losses.npy").tobytes() == losses.tobytes()
    other, other_optimizer, _ = perceptron(chainer.optimizers.AdamW(), *dropout)
    chainer.serializers.load_npz(tmp_path / "model.npz", other)
    chainer.serializers.load_npz(tmp_path / "optimizer.npz", other_optimizer)
    assert entries(other) == entries(model)
    assert entries(other_optimizer) == entries(optimizer)


@pytest.mark.parametrize(
    "name", ["SGD", "MomentumSGD", "Adam", "AMSBound", "NAdam", "Muon", "LAMB", "RMSprop", "Lion"]
)
def test_optimizers(tmp_path, name):
    model, optimizer, step = perceptron(getattr(chainer.optimizers, name)())
    loaded = chainer.load_step(saved(step, tmp_path))
    for _ in range(20):
        assert loaded(X, T).array.tobytes() == step(X, T).array.tobytes()
    assert in_bytes(loaded.snapshot(0)) == entries(model)
    assert in_bytes(loaded.snapshot(1)) == entries(optimizer)


def test_hooks_of_optimizers(tmp_path):
    _, optimizer, step = perceptron(chainer.optimizers.MomentumSGD())
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(0.1))
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(1e-2))
    loaded = chainer.load_step(saved(step, tmp_path))
    for _ in range(10):
        assert loaded(X, T).array.tobytes() == step(X, T).array.tobytes()


def test_kernels_of_chainer(tmp_path):
    def pooled(x):
        return F.max_pooling_2d(x, 2)

    _, _, step = perceptron(None, L.Convolution2D(1, 2, 3), F.relu, pooled)
    x = np.linspace(-1, 1, 8 * 64, dtype=np.float32).reshape(8, 1, 8, 8)
    file = saved(step, tmp_path, (x, T))
    loaded = chainer.load_step(file)
    for _ in range(5):
        assert loaded(x, T).array.tobytes() == step(x, T).array.tobytes()
    with pytest.raises(ValueError, match="a kernel of Chainer; load it by chainer.load_step"):
        chainer_step_player.load(file)
    edited(file, lambda header: header.update(chainer="8.0.0a1"))
    with pytest.raises(ValueError, match="calls kernels of Chainer 8.0.0a1, and this is Chainer"):
        chainer.load_step(file)


def test_state_that_passes_from_call_to_call(tmp_path):
    np.random.seed(0)
    link = L.StatefulGRU(10, 4)
    step = chainer.capture(lambda x: link(x), link)
    link(X)
    loaded = chainer.load_step(saved(step, tmp_path, (X,)))
    for _ in range(5):
        assert loaded(X).array.tobytes() == step(X).array.tobytes()
    assert loaded.states["h"].tobytes() == link.h.array.tobytes()


def test_several_signatures_share_parameters(tmp_path):
    _, _, step = perceptron()
    for _ in range(4):
        step(X, T)
    loaded = chainer.load_step(saved(step, tmp_path, (X[:5], T[:5])))
    for n in (5, 8, 5, 8):
        assert loaded(X[:n], T[:n]).array.tobytes() == step(X[:n], T[:n]).array.tobytes()


def test_results_reports_and_gradients(tmp_path):
    np.random.seed(0)
    link = L.Linear(10, 3)

    def step(x, *, scale):
        y = link(x["x"]) * scale
        chainer.report({"sum": F.sum(y)}, link)
        link.cleargrads()
        F.sum(y).backward()
        return {"y": y, "again": [y, y.array], "constant": np.ones(2, "f")}

    captured = chainer.capture(step, link, keep_grads=True, on_failure="error")
    reporter = chainer.Reporter()
    reporter.add_observer("link", link)
    with reporter.scope({}):
        for _ in range(4):
            captured({"x": X}, scale=2.0)
        captured.save(tmp_path / "step.npz")
        expected = captured({"x": X}, scale=2.0)
    loaded = chainer.load_step(tmp_path / "step.npz")
    observation = {}
    with reporter.scope(observation):
        result = loaded({"x": chainer.Variable(X)}, scale=2.0)
    assert list(result) == ["y", "again", "constant"]
    assert result["again"][0] is result["y"]
    assert isinstance(result["y"], chainer.Variable)
    assert isinstance(result["again"][1], np.ndarray)
    assert result["y"].array.tobytes() == expected["y"].array.tobytes()
    np.testing.assert_array_equal(result["constant"], 1)
    assert observation["link/sum"].array == np.float32(F.sum(expected["y"]).array)
    assert loaded.gradients["W"].tobytes() == link.W.grad.tobytes()
    with pytest.raises(RuntimeError, match="has no graph"):
        result["y"].backward()
    with pytest.raises(ValueError, match=r"the step takes \(float32\[8, 10\], 2.0\)"):
        loaded({"x": X}, scale=3.0)


def test_learning_rate_is_changed(tmp_path):
    _, optimizer, step = perceptron(chainer.optimizers.Adam(alpha=0.01))
    loaded = chainer.load_step(saved(step, tmp_path))
    assert loaded.hyperparameters == {"alpha": 0.01}
    loaded.hyperparameters["alpha"] = optimizer.alpha = 0.5
    for _ in range(3):
        assert loaded(X, T).array.tobytes() == step(X, T).array.tobytes()


def test_hyperparameter_of_one_parameter(tmp_path):
    model, _, step = perceptron(chainer.optimizers.SGD(0.1))
    model.predictor[0].b.update_rule.hyperparam.lr = 0.3
    loaded = chainer.load_step(saved(step, tmp_path))
    assert loaded.hyperparameters == {"lr": 0.1, "predictor/0/b/lr": 0.3}
    for _ in range(3):
        assert loaded(X, T).array.tobytes() == step(X, T).array.tobytes()


def test_two_models(tmp_path):
    np.random.seed(0)
    links = L.Linear(10, 4), L.Linear(4, 2)
    optimizers = [chainer.optimizers.SGD(0.1 + i).setup(link) for i, link in enumerate(links)]

    def step(x):
        loss = F.sum(links[1](F.tanh(links[0](x))) ** 2)
        for link in links:
            link.cleargrads()
        loss.backward()
        for optimizer in optimizers:
            optimizer.update()
        return loss

    step = chainer.capture(step, *optimizers, on_failure="error")
    loaded = chainer.load_step(saved(step, tmp_path, (X,)))
    assert sorted(loaded.states) == ["0/W", "0/b", "1/W", "1/b"]
    assert loaded.hyperparameters == {"optimizer0/lr": 0.1, "optimizer1/lr": 1.1}
    for _ in range(3):
        assert loaded(X).array.tobytes() == step(X).array.tobytes()
    assert in_bytes(loaded.snapshot(1)) == entries(optimizers[1])


def test_it_is_saved_again(tmp_path):
    _, _, step = perceptron(None, L.Linear(10, 6), F.dropout)
    loaded = chainer.load_step(saved(step, tmp_path))
    for _ in range(5):
        loaded(X, T)
        step(X, T)
    loaded.save(tmp_path / "later.npz")
    later = chainer.load_step(tmp_path / "later.npz")
    for _ in range(5):
        assert later(X, T).array.tobytes() == step(X, T).array.tobytes()
    assert later.counters["t"] == 14


def test_the_captured_step_is_not_changed(tmp_path):
    model, optimizer, step = perceptron()
    loaded = chainer.load_step(saved(step, tmp_path))
    before = entries(model), entries(optimizer)
    random = np.random.get_state()[2]
    loaded(X, T)
    assert (entries(model), entries(optimizer)) == before
    assert np.random.get_state()[2] == random


def test_states_are_changed_in_place(tmp_path):
    model, _, step = perceptron(chainer.optimizers.SGD())
    loaded = chainer.load_step(saved(step, tmp_path))
    loaded.states["predictor/0/W"][...] = 0
    model.predictor[0].W.array[...] = 0
    assert loaded(X, T).array.tobytes() == step(X, T).array.tobytes()


def test_copy_to_another_model(tmp_path):
    model, optimizer, step = perceptron()
    loaded = chainer.load_step(saved(step, tmp_path))
    loaded(X, T)
    step(X, T)
    other, other_optimizer, _ = perceptron()
    other(X, T)
    loaded.copy_to(other, other_optimizer)
    assert entries(other) == entries(model)
    assert entries(other_optimizer) == entries(optimizer)
    with pytest.raises(IndexError, match="the step has 2 targets, got number 2"):
        loaded.snapshot(2)


def test_calls_of_several_threads(tmp_path):
    link = L.Linear(10, 4)
    step = chainer.capture(lambda x: F.tanh(link(x)), link)
    loaded = chainer.load_step(saved(step, tmp_path, (X,)))
    expected = {i: loaded(X * i).array.tobytes() for i in range(4)}
    wrong = []

    def work(i):
        wrong.extend([1 for _ in range(50) if loaded(X * i).array.tobytes() != expected[i]])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# -- the command line -----------------------------------------------------------------------------


def test_command_line(tmp_path, capsys):
    model, _, step = perceptron()
    file = saved(step, tmp_path)
    np.savez(tmp_path / "batch.npz", X, T)
    arguments = [str(file), str(tmp_path / "batch.npz"), "--steps", "3", "--save", str(file)]
    assert chainer_step_player.main([*arguments, "--snapshot", "0", str(tmp_path / "m.npz")]) == 0
    for _ in range(3):
        loss = step(X, T)
    assert capsys.readouterr().out.strip() == str(loss.array)
    other, *_ = perceptron()
    chainer.serializers.load_npz(tmp_path / "m.npz", other)
    assert entries(other) == entries(model)
    assert chainer_step_player.main([str(file)]) == 0
    assert "takes (float32[8, 10], int32[8])" in capsys.readouterr().out
    np.savez(tmp_path / "batch.npz", X[:2], T[:2])
    assert chainer_step_player.main(arguments) == 1
    assert "got (float32[2, 10], int32[2])" in capsys.readouterr().err


# -- what is refused ------------------------------------------------------------------------------


def test_other_shapes_and_dtypes(tmp_path):
    _, _, step = perceptron()
    loaded = chainer.load_step(saved(step, tmp_path))
    with pytest.raises(ValueError, match=r"takes \(float32\[8, 10\], int32\[8\]\), got \(float32"):
        loaded(X[:3], T[:3])
    with pytest.raises(ValueError, match="got .float64"):
        loaded(X.astype("d"), T)
    with pytest.raises(TypeError, match="arguments must be arrays, numbers and texts, got object"):
        loaded(object(), T)


def negated(times):
    return 1 if times == 0 else ["neg", negated(times - 1)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h.update(version=2), "has version 2 of the format, and this player reads"),
        (lambda h: h.update(format="other"), "not the file of a captured step"),
        (lambda h: h.update(byteorder="other"), "written on a other-endian CPU"),
        (lambda h: h["programs"][0]["calls"][0].__setitem__(1, "ufunc:frompyfunc"), "not known"),
        (lambda h: h["programs"][0]["calls"][0].__setitem__(1, "function:load"), "not known"),
        (lambda h: h["programs"][0]["calls"][0].__setitem__(1, "method:tofile"), "not known"),
        (lambda h: h["programs"][0]["calls"][0].__setitem__(1, "os:system"), "not known"),
        (lambda h: h["programs"][0]["calls"][0].__setitem__(0, "EXEC"), "not known"),
        (lambda h: h["programs"][0]["numbers"][0].__setitem__(0, ["eval", 1]), "not known"),
        (lambda h: h["programs"][0]["numbers"][0].__setitem__(0, ["counter", "a"]), "not known"),
        (lambda h: h["programs"][0]["outputs"][0].__setitem__(4, "|O"), "dtype object"),
        (lambda h: h["programs"][0]["outputs"][0].__setitem__(2, [1000]), "damaged"),
        (lambda h: h["programs"][0]["outputs"][0].__setitem__(0, 1000), "damaged"),
        (lambda h: h["programs"][0].pop("calls"), "damaged"),
        # What only a call, a snapshot or a message reads.
        (lambda h: h.pop("chainer"), "damaged .KeyError.'chainer'"),
        (lambda h: h.update(chainer=8), "chainer must be a version, got 8"),
        (lambda h: h.pop("numpy"), "damaged"),
        (lambda h: h["snapshots"][0].update(new=["counter", "other"]), "damaged"),
        (lambda h: h["snapshots"][0].update(new=["array", [0, 0, [10**6], [4], "<f4"]]), "damaged"),
        (lambda h: h["programs"][0].pop("variables"), "damaged"),
        (lambda h: h["programs"][0].update(variables=[]), "1 results, and 0 kinds of them"),
        (lambda h: h["programs"][0].update(results=10**12), "results, and 1 kinds of them"),
        (lambda h: h["programs"][0]["counters"].append(["other", 1]), "damaged"),
        (lambda h: h["programs"][0].update(repeated={"0": 0}), "repeats another one"),
        (lambda h: h["programs"][0].update(gradients=["W"]), "outputs do not fit the results"),
        (lambda h: h["programs"][0].update(result={"tuple": [{"array": 0}] * 2}), "StopIteration"),
        (lambda h: h["programs"][0].update(signature={"array": ["x", []]}), "damaged"),
        # More memory than any machine has, numbers that NumPy cannot hold, deep formulas.
        (lambda h: h["programs"][0].update(scratch=10**17), "damaged"),
        (lambda h: h["programs"][0]["outputs"][0].__setitem__(1, 10**19), "damaged"),
        (lambda h: h["programs"][0].update(scalars=[negated(800)]), "damaged"),
    ],
)
def test_damaged_headers(tmp_path, change, message):
    _, _, step = perceptron()
    file = edited(saved(step, tmp_path), change)
    for load in (chainer.load_step, chainer_step_player.load):
        with pytest.raises(ValueError, match=message):
            load(file)


def test_unknown_operation_and_class():
    kernels = chainer.training.capturing.loaded_step._Kernels()
    with pytest.raises(ValueError, match="operation 'other', which is not known here"):
        kernels.method("other", "forward")
    with pytest.raises(ValueError, match="'embedding' has no method '__init__'"):
        kernels.method("embedding", "__init__")
    for name in ("poolings.Other", "poolings.PoolingND", "other.A", "..os.A", "poolings"):
        with pytest.raises(ValueError, match="is not known"):
            kernels.record(name)


def test_other_files(tmp_path):
    file = tmp_path / "model.npz"
    chainer.serializers.save_npz(file, L.Linear(2, 3))
    with pytest.raises(ValueError, match="not the file of a captured step"):
        chainer.load_step(file)
    file.write_bytes(b"text")
    with pytest.raises(ValueError, match="not the file of a captured step"):
        chainer.load_step(file)
    with pytest.raises(FileNotFoundError):
        chainer.load_step(tmp_path / "missing.npz")


def test_files_that_were_cut_off(tmp_path):
    _, _, step = perceptron()
    file = saved(step, tmp_path)
    data = file.read_bytes()
    for part in (0.2, 0.9, 0.999):
        file.write_bytes(data[: int(len(data) * part)])
        with pytest.raises(ValueError, match="not the file of a captured step"):
            chainer.load_step(file)


def test_pickled_objects_are_not_read(tmp_path):
    file = tmp_path / "step.npz"
    np.savez(file, step=np.array([{"format": "chainer step"}], object))
    with pytest.raises(ValueError, match="not the file of a captured step"):
        chainer.load_step(file)


def test_old_file_stays_if_writing_fails(tmp_path, monkeypatch):
    _, _, step = perceptron()
    file = saved(step, tmp_path)
    before = file.read_bytes()

    def fail(*args):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space left"):
        step.save(file)
    assert file.read_bytes() == before
    assert os.listdir(tmp_path) == ["step.npz"]


def test_steps_that_are_not_recorded(tmp_path):
    _, _, step = perceptron()
    with pytest.raises(CaptureError, match="no program that would run now; call the step 3 times"):
        step.save(tmp_path / "step.npz")
    link = L.Linear(10, 3)
    refused = chainer.capture(lambda x: link(x) * float(x[0, 0]), link)
    refused(X)
    with pytest.warns(UserWarning, match="cannot be captured"):
        refused(X)
    with pytest.raises(CaptureError, match="cannot be saved: the value of an array is read"):
        refused.save(tmp_path / "step.npz")
    assert not os.listdir(tmp_path)


def test_record_that_does_not_hold_any_more(tmp_path):
    model, _, step = perceptron()
    saved(step, tmp_path)
    model.predictor[0].W.array = model.predictor[0].W.array.copy()
    with pytest.raises(CaptureError, match="no program that would run now"):
        step.save(tmp_path / "step.npz")


def test_number_without_a_formula(tmp_path):
    class Warm(chainer.optimizer.DeclaredOptimizer):
        lr: float = chainer.optimizer.hyperparameter(default=0.1, varies=True)

        @classmethod
        def scalars(cls, hyperparam, rule):
            return (
                super().scalars(hyperparam, rule)._replace(lr=hyperparam.lr if rule.t > 3 else 0.0)
            )

        @staticmethod
        def step(xp, param, grad, state, scalars):
            return param - scalars.lr * grad

    _, _, step = perceptron(Warm())
    with pytest.raises(CaptureError, match="computes 'lr' in a way that no formula tells"):
        saved(step, tmp_path)


def test_function_without_a_name(tmp_path):
    _, _, step = perceptron(chainer.optimizers.Adafactor())
    with pytest.raises(CaptureError, match="which a file cannot name"):
        saved(step, tmp_path)


def test_arrays_of_python_objects_and_enums(tmp_path):
    import enum

    link = L.Linear(10, 3)
    mode = enum.Enum("Mode", "A B")
    step = chainer.capture(lambda x, m: link(x), link)
    with pytest.raises(CaptureError, match="an argument or a result is of the class Mode"):
        saved(step, tmp_path, (X, mode.A))


def test_empty_arrays(tmp_path):
    link = L.Linear(10, 3)
    step = chainer.capture(lambda x: link(x), link)
    loaded = chainer.load_step(saved(step, tmp_path, (X[:0],)))
    assert loaded(X[:0]).shape == (0, 3)
