"""Random runs of a trainer: order of calls and final state are those of release 7.8.1."""

import json
import warnings

import pytest

from tests.comparison.stored import load_runs
from tests.comparison.trainer_runs import run

RUNS = load_runs()


@pytest.mark.parametrize("first", range(0, len(RUNS), 20))
def test_runs(first, capsys):
    for number, expected in enumerate(RUNS[first : first + 20], first):
        if expected.get("error") == "initialize":
            # Here the extensions are finalized when one of them cannot be initialized.
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = json.loads(json.dumps(run(number)))
        assert found == expected, f"run {number}"


def test_runs_are_of_many_kinds():
    assert len(RUNS) == 100
    errors = {expected.get("error") for expected in RUNS}
    assert errors >= {None, "update", "call", "trigger", "initialize"}
    assert any("refused" in expected for expected in RUNS)
