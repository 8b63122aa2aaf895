"""A test suite in the style of Chainer 7's projects has the same results under both releases."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.earlier_releases import skip_without

ROOT = Path(__file__).parents[2]
SUITE = Path(__file__).with_name("suite_of_release_7.py")


def run_suite(python, folder, **environment):
    """Runs a copy of the suite and returns the outcome of each test by name, and the output."""
    path = folder / "test_suite.py"
    shutil.copy(SUITE, path)
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "CHAINER_"))}
    result = subprocess.run(
        [
            *(python, "-m", "pytest", "-q", "-W", "ignore", "-p", "no:cacheprovider"),
            *("-m", "not gpu and not chainerx", "--junitxml=report.xml", path.name),
        ],
        cwd=folder,
        env={**clean, "CHAINER_TEST_GPU_LIMIT": "0", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    outcomes = {}
    for case in ElementTree.parse(folder / "report.xml").iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        outcomes[name] = case[0].tag if len(case) else "passed"
    return outcomes, result.stdout


def test_under_this_release(tmp_path):
    outcomes, output = run_suite(sys.executable, tmp_path, PYTHONPATH=str(ROOT))
    assert {"failure", "error"} & set(outcomes.values()) == set(), output
    assert len(outcomes) == 89


@pytest.mark.slow
def test_under_release_7(tmp_path):
    """The same text passes under 7.8.1: the suite asks for nothing that only ours has."""
    release_7 = skip_without(7)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    theirs, output = run_suite(str(release_7), tmp_path / "a")
    assert {"failure", "error"} & set(theirs.values()) == set(), output
    ours, _ = run_suite(sys.executable, tmp_path / "b", PYTHONPATH=str(ROOT))
    # Ours also tests labels of functions, and gives tests without a configuration a class whose
    # name says so.
    same = {
        name.replace("_other_tests", ""): outcome
        for name, outcome in ours.items()
        if not name.endswith("test_label")
    }
    assert same == theirs
