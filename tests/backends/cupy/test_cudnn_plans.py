"""The real cuDNN plans our graphs for an H200, on a machine that need not have a GPU.

Plans are made, nothing is computed: this tells that signatures are right and which engine serves
them. Needs nvidia-cudnn-frontend and nvidia-cudnn-cu13 (or -cu12), half a gigabyte, which the
extra ``test`` leaves out.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.backends.cupy import driver_stub

ROOT = Path(__file__).resolve().parents[3]

pytestmark = [
    pytest.mark.cudnn,
    pytest.mark.skipif(
        importlib.util.find_spec("cudnn") is None,
        reason="nvidia-cudnn-frontend is not installed",
    ),
    pytest.mark.skipif(
        not sys.platform.startswith("linux") or driver_stub.compiler() is None,
        reason="no C compiler for Linux",
    ),
]


def planned(what, folder, loads):
    """Returns what the program prints, a dictionary for each plan."""
    finished = subprocess.run(
        [sys.executable, "-m", "tests.backends.cupy.plan_without_gpu", what],
        env=driver_stub.environment(folder, loads),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    lines = [json.loads(line) for line in finished.stdout.splitlines() if line.startswith("{")]
    if not lines:
        last = (finished.stderr.strip().splitlines() or ["no output"])[-1]
        pytest.skip(f"cuDNN does not plan on this machine: {last}")
    assert finished.returncode == 0, finished.stderr[-2000:]
    return lines[1:]


@pytest.fixture(scope="module")
def plans(tmp_path_factory):
    return planned("convolutions", tmp_path_factory.mktemp("stub"), loads=False)


def of(plans, **wanted):
    found = [p for p in plans if all(p[key] == value for key, value in wanted.items())]
    assert found
    return found


def engines(plans, **wanted):
    """Returns (case, dtype, layout, computation) -> engine."""
    return {
        (p["case"], p["dtype"], p["layout"], p["what"]): p["engine"] for p in of(plans, **wanted)
    }


def test_every_call_has_a_plan(plans):
    failed = [plan for plan in plans if "error" in plan]
    assert not failed, failed[:3]
    assert len(plans) > 1000


def test_batch_normalization(tmp_path):
    """There are plans, and their workspaces are far smaller than an image."""
    plans = planned("normalizations", tmp_path, loads=True)
    failed = [plan for plan in plans if "error" in plan]
    assert not failed, failed[:3]
    assert len(plans) == 30
    for plan in of(plans, case="(64, 64, 112, 112)"):
        assert plan["workspace"] < 1 << 20


def test_workspace_is_within_the_limit(plans):
    for plan in plans:
        if plan["settings"] != "narrow":
            assert plan["workspace"] <= plan["limit"], plan


def test_default_limit_leaves_room_for_tensor_cores(plans):
    """The engines of half precision are those that the most generous limit would give."""
    default = engines(plans, dtype="float16", settings="default", case="spatial")
    assert default == engines(plans, dtype="float16", settings="always", case="spatial")
    never = engines(plans, dtype="float16", settings="never", case="spatial")
    assert all(default[key] != never[key] for key in default)


def test_float32_is_not_rounded_by_default(plans):
    default = engines(plans, dtype="float32", settings="default", case="last")
    rounded = engines(plans, dtype="float32", settings="always", case="last")
    assert all(default[key] != rounded[key] for key in default)


def test_deterministic_engines_are_others(plans):
    some = engines(plans, dtype="float32", settings="default")
    deterministic = engines(plans, dtype="float32", settings="deterministic")
    assert any(some[key] != deterministic[key] for key in deterministic)
