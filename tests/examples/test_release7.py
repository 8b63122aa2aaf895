"""The programs for release 7 run, and their losses are those of release 7.8.1."""

from __future__ import annotations

import json
import math
import os
import subprocess

import pytest

from tests.earlier_releases import RELEASE_7, needs_release_7
from tests.examples.programs import EXAMPLES, run

#: Losses of the first and the tenth step, computed by Chainer 7.8.1 in Python 3.7 (--small).
LOSSES = {
    "train_mnist": (2.1761234, 0.0622778),
    "train_mnist_custom_loop": (2.1761234, 0.0652400),
    "train_cifar": (2.8877916, 1.9795986),
    "train_dcgan": (1.3791406, 1.4148304),
    "train_vae": (49.3983764, 46.7014504),
    "train_sentiment": (1.6213235, 0.2109501),
    "train_dqn": (0.5666581, 0.5077472),
    "train_text": (0.7075740, 0.6978804),
    "train_ptb": (2.4550607, 2.5388272),
    "train_seq2seq": (2.3050752, 2.3168128),
    "train_word2vec": (2.5054941, 2.5275483),
    "static_graph": (2.1761234, 1.5342990),
    "serialization": (2.4080827, 2.0325341),
}


def losses(folder):
    log = json.loads((folder / "result" / "log").read_text())
    return [entry["main/loss"] for entry in log[:10]]


def run_here(name, folder, *options):
    run(f"release7/{name}.py", "--small", *options, cwd=folder)
    return losses(folder)


@pytest.mark.parametrize("name", LOSSES)
def test_losses(tmp_path, name):
    found = run_here(name, tmp_path)
    assert len(found) == 10
    assert all(math.isfinite(loss) for loss in found)
    # Sums in another order differ in the last digits, and ten steps magnify that.
    assert (found[0], found[9]) == pytest.approx(LOSSES[name], rel=1e-4)


@needs_release_7
@pytest.mark.parametrize("name", LOSSES)
def test_same_program_on_release_7(tmp_path, name):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    found = run_here(name, here)
    subprocess.run(
        [str(RELEASE_7), "-W", "ignore", str(EXAMPLES / "release7" / f"{name}.py"), "--small"],
        cwd=there,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"},
        check=True,
        capture_output=True,
        timeout=120,
    )
    assert found == pytest.approx(losses(there), rel=1e-4)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("train_mnist", ["--profile"]),
        ("train_dcgan", ["--spectral"]),
        ("train_text", ["--model", "cnn"]),
        ("train_word2vec", ["--model", "cbow", "--output", "hsm"]),
        ("train_word2vec", ["--output", "ns"]),
    ],
)
def test_options(tmp_path, name, options):
    assert len(run_here(name, tmp_path, *options)) == 10


@pytest.mark.parametrize("name", ["train_sentiment", "train_text"])
def test_data_are_needed(tmp_path, name):
    out = run(f"release7/{name}.py", cwd=tmp_path, expect=2)
    assert "--train is needed, or --small" in out


def test_translations_are_needed(tmp_path):
    out = run("release7/train_seq2seq.py", "--source", "a.txt", cwd=tmp_path, expect=2)
    assert "--source and --target are needed, or --small" in out


def test_files(tmp_path):
    (tmp_path / "trees.txt").write_text("(1 (1 good) (0 bad))\n(0 bad)\n" * 3)
    run("release7/train_sentiment.py", "--train", "trees.txt", "-e", 2, cwd=tmp_path)
    (tmp_path / "texts.tsv").write_text("a\tone two two\nb\tthree four\n" * 20)
    run("release7/train_text.py", "--train", "texts.tsv", "-e", 1, "-u", 5, cwd=tmp_path)
    assert losses(tmp_path)
    (tmp_path / "source.txt").write_text("a b c\nb a\n" * 10)
    (tmp_path / "target.txt").write_text("x y z\ny x\n" * 10)
    run(
        *("release7/train_seq2seq.py", "--source", "source.txt", "--target", "target.txt"),
        *("-e", 1, "-u", 5, "-b", 4),
        cwd=tmp_path,
    )
    assert losses(tmp_path)
