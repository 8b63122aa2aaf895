"""Snapshots of whole trainers written by upstream 4.3.1 and 7.8.1 (see data/make_snapshot.py)."""

from __future__ import annotations

import importlib.util
import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from chainer.links.serializers.npz import load_npz, save_npz
from tests.earlier_releases import run, skip_without

DATA = Path(__file__).parent / "data"
ROOT = Path(__file__).resolve().parents[2]
RELEASES = ("4.3.1", "7.8.1")

_spec = importlib.util.spec_from_file_location("make_snapshot", DATA / "make_snapshot.py")
make_snapshot = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(make_snapshot)


def close(one, other):
    assert one.keys() == other.keys()
    for key in one.keys() - {"elapsed_time"}:
        assert one[key] == pytest.approx(other[key], rel=1e-4, abs=1e-6), key


def same_logs(ones, others):
    for one, other in zip(ones, others, strict=True):
        # Upstream does not save what ParameterStatistics and MicroAverage have accumulated, so that
        # their first means after the snapshot are others.
        drop = lambda entry: {
            k: v for k, v in entry.items() if k != "ratio" and not k.startswith("None/")
        }
        for entry, expected in zip(one, other, strict=True):
            close(drop(entry), drop(expected))


# Release 4 does not save whether a schedule is finished, nor the triggers of best values.
@pytest.mark.filterwarnings("ignore:the snapshot has no entry")
@pytest.mark.parametrize("release", RELEASES)
def test_resumed_training_goes_on(release, tmp_path):
    trainer = make_snapshot.make_trainer(str(tmp_path), (4, "epoch"))
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        load_npz(DATA / f"v{release}.npz", trainer)
    # Release 4 does not save the position of the trigger "max", nor whether a schedule is finished.
    missing = {
        "4.3.1": ["finished", "previous_epoch_detail", "previous_iteration"],
        "7.8.1": [],
    }
    assert sorted(str(each.message).split("'")[1] for each in warned) == missing[release]
    assert trainer.updater.iteration == 5
    trainer.run()
    expected = json.loads((DATA / f"v{release}.json").read_text())
    weights = trainer.updater.get_optimizer("main").target.W.array
    np.testing.assert_allclose(weights, expected["weights"], rtol=1e-4)
    same_logs(make_snapshot.result(trainer)["logs"], expected["logs"])
    assert not (tmp_path / "cg.dot").exists() or release == "4.3.1"


@pytest.mark.parametrize("release", RELEASES)
def test_ours_have_all_entries_of_theirs(release, tmp_path):
    trainer = make_snapshot.make_trainer(str(tmp_path), (2, "epoch"))
    trainer.run()
    save_npz(tmp_path / "ours", trainer)
    with np.load(tmp_path / "ours") as ours, np.load(DATA / f"v{release}.npz") as theirs:
        assert set(theirs.files) <= set(ours.files)
        for key in theirs.files:
            if "_summaries" not in key:  # sums of integers are floats in ours, which load there
                assert ours[key].dtype.kind == theirs[key].dtype.kind, key
            if ours[key].dtype.kind != "U":
                assert ours[key].shape == theirs[key].shape, key


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_ours_are_resumed_there(release, tmp_path):
    python = skip_without(int(release[0]))
    trainer = make_snapshot.make_trainer(str(tmp_path), (2, "epoch"))
    trainer.run()

    def resumed(snapshot):
        return json.loads(
            run(python, DATA / "make_snapshot.py", "resume", snapshot).splitlines()[-1]
        )

    # As from a snapshot of that release, with what it forgets.
    ours, theirs = resumed(tmp_path / "snapshot"), resumed(DATA / f"v{release}.npz")
    np.testing.assert_allclose(ours["weights"], theirs["weights"], rtol=1e-4)
    same_logs(ours["logs"], theirs["logs"])
