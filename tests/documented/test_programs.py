"""The complete programs of the documentation run, on small files in the documented formats."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

PROGRAMS = pathlib.Path(__file__).parent / "programs"


@pytest.fixture
def environment(tmp_path):
    env = dict(os.environ, CHAINER_DATASET_ROOT=str(tmp_path / "dataset"), MPLBACKEND="Agg")
    env.pop("PYTHONWARNINGS", None)
    return env


def run(program, cwd, env, replace=()):
    text = (PROGRAMS / program).read_text()
    for old, new in replace:
        assert old in text
        text = text.replace(old, new)
    path = cwd / program
    path.write_text(text)
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:chainer", str(path)],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def write_mushrooms(path, n=600):
    """A table of letters in the format of the Kaggle data; the class follows from two columns."""
    random = np.random.RandomState(0)
    features = random.choice(list("abcdef"), (n, 22))
    poisonous = (features[:, 4] < "d") ^ (features[:, 7] == "a")
    rows = ["class," + ",".join(f"feature-{i}" for i in range(22))]
    for label, row in zip(poisonous, features, strict=True):
        rows.append(("p" if label else "e") + "," + ",".join(row))
    path.write_text("\n".join(rows) + "\n")


def test_mushrooms(tmp_path, environment):
    write_mushrooms(tmp_path / "mushrooms.csv")
    # Two plots after each epoch take a third of a second.
    shorter = [("updater, (50, 'epoch')", "updater, (20, 'epoch')")]
    out = run("program-mushrooms.py", tmp_path, environment, shorter)
    lines = out.strip().splitlines()
    assert lines[0].split() == [
        "epoch",
        "main/loss",
        "validation/main/loss",
        "main/accuracy",
        "validation/main/accuracy",
        "elapsed_time",
    ]
    assert len(lines) == 1 + 20 + 1
    assert lines[-1].startswith("Predicted ")
    first, last = (float(lines[i].split()[1]) for i in (1, 20))
    assert last < first
    result = tmp_path / "result"
    for name in ("log", "loss.png", "accuracy.png", "cg.dot"):
        assert (result / name).stat().st_size > 0
    assert sorted(path.name for path in result.glob("snapshot_iter_*"))


def write_mnist(root):
    """The cache of get_mnist with few images: a class is a bright row."""
    random = np.random.RandomState(0)
    directory = root / "pfnet" / "chainer" / "mnist"
    directory.mkdir(parents=True)
    for name, n in (("train", 1000), ("test", 256)):
        labels = random.randint(0, 10, n).astype(np.uint8)
        images = random.randint(0, 60, (n, 28, 28)).astype(np.uint8)
        images[np.arange(n), 2 * labels + 3] += 150
        np.savez_compressed(directory / f"{name}.npz", x=images.reshape(n, 784), y=labels)


# The programs say: "set gpu_id to -1 for CPU".
ON_CPU = [("gpu_id = 0 ", "gpu_id = -1 ")]


def test_mnist_trainer(tmp_path, environment):
    write_mnist(tmp_path / "dataset")
    out = run("program-mnist-trainer.py", tmp_path, environment, ON_CPU)
    rows = [line.split() for line in out.splitlines()]
    table = [row for row in rows if row and row[0].isdigit()]
    assert [int(row[0]) for row in table] == list(range(1, 11))
    assert float(table[-1][4]) > 0.9, out
    assert "predicted_label:" in out
    images = ("loss.png", "accuracy.png")
    for name in ("model_epoch-10", "snapshot_epoch-10", *images, "cg.dot", "log"):
        assert (tmp_path / "mnist_result" / name).stat().st_size > 0


def test_mnist_manual_loop(tmp_path, environment):
    write_mnist(tmp_path / "dataset")
    out = run("program-mnist-manual-loop.py", tmp_path, environment, ON_CPU)
    lines = [line for line in out.splitlines() if line.startswith("epoch:")]
    assert len(lines) == 10
    assert float(lines[-1].rpartition("val_accuracy:")[2]) > 0.9, out
    assert "(784,) -> (1, 784)" in out
    assert (tmp_path / "my_mnist.model").exists()
    assert (tmp_path / "7.png").stat().st_size > 0
