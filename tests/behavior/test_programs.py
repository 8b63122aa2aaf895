"""Programs in the style of 2017 to 2020 print what they print under release 7.8.1.

The programs run unchanged in Python 3.7 with release 7.8.1. What they print there is in the text
files beside them.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.earlier_releases import RELEASE_7, needs_release_7

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted((Path(__file__).parent / "programs").glob("[!_]*.py"))

NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")
#: Lines of release 7.8.1 that differ here on purpose, by program.
INTENDED = {
    # load_npz() warns of entries that the link does not have.
    "data_iterators": {"load nonstrict | None": "load nonstrict | None | W UserWarning"},
    # Layer normalization takes any number of leading axes.
    "links_members": {
        "ln | ! Exception": "ln | ((2, 3, 4), V:float32(2, 3)[[#, #, #], [#, #, #]], "
        "float32(3,)[#, #, #])"
    },
    # Hyperparameters that no training can have.
    "training_optimizers": {
        line: f"{line} | W UserWarning"
        for line in (
            "pos AdaBound | {alpha: 1, beta1: 2, beta2: 3, eps: 6, eta: 7, weight_decay_rate: 0, "
            "amsgrad: False, adabound: True, final_lr: 4, gamma: 5}",
            "pos RMSprop | {lr: 1, alpha: 2, eps: 3, eps_inside_sqrt: True}",
            "pos MSVAG | {lr: 1, beta: 2, eta: 3, weight_decay_rate: 4}",
        )
    },
}
#: Control sequences with which release 7 moves the cursor in tables.
CURSOR = re.compile("\x1b\\[J")


def printed(python, program, folder):
    """Runs a program and returns its lines with single spaces."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "CHAINER"))}
    environment.update(MPLBACKEND="Agg", OMP_NUM_THREADS="1", PYTHONPATH=str(ROOT))
    # Without Graphviz: release 7 printed the texts on a machine that did not have it.
    environment["PATH"] = os.path.dirname(python)
    if python != sys.executable:
        del environment["PYTHONPATH"]
    done = subprocess.run(
        [python, "-W", "ignore", str(program)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return lines_of(done.stdout)


def lines_of(text):
    return [" ".join(line.split()) for line in CURSOR.sub("", text).splitlines()]


def assert_same(found, expected):
    """Compares lines: texts exactly, fractions with a tolerance for sums in other orders."""
    assert [NUMBER.sub("#", line) for line in found] == [NUMBER.sub("#", x) for x in expected]
    for one, other in zip(found, expected, strict=True):
        numbers = [float(number) for number in NUMBER.findall(other)]
        # Programs round what they print, so that a digit more or less may be the last one.
        assert [float(number) for number in NUMBER.findall(one)] == pytest.approx(
            numbers, rel=2e-4, abs=2e-4
        ), one


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_output(program, tmp_path):
    for package in ("PIL", "h5py", "matplotlib"):
        if re.search(rf"\b{package}\b|hdf5" if package == "h5py" else package, program.read_text()):
            pytest.importorskip(package)
    expected = lines_of(program.with_suffix(".txt").read_text())
    changed = INTENDED.get(program.stem, {})
    assert set(changed) <= set(expected)
    found = printed(sys.executable, program, tmp_path)
    for place, line in enumerate(expected):
        if line in changed:
            assert NUMBER.sub("#", found[place]) == changed[line]
            found[place] = line
    assert_same(found, expected)


@pytest.mark.slow
@needs_release_7
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_output_of_release_7(program, tmp_path):
    """The stored outputs are those of release 7.8.1."""
    expected = lines_of(program.with_suffix(".txt").read_text())
    assert_same(printed(str(RELEASE_7), program, tmp_path), expected)


def test_comparison_can_fail():
    with pytest.raises(AssertionError):
        assert_same(["loss 0.5"], ["loss 0.501"])
    with pytest.raises(AssertionError):
        assert_same(["loss 0.5"], ["cost 0.5"])
    with pytest.raises(AssertionError):
        assert_same(["3 [1, 2]"], ["3 [1, 3]"])
    assert_same(["loss 0.50001"], ["loss 0.5"])
