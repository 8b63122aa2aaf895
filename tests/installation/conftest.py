"""A copy of the clone and the wheels that ``make wheels`` builds in it, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.installation.environments import copy_clone, make_environment, run


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_clone(tmp_path_factory.mktemp("clone") / "chainer")


@pytest.fixture(scope="session")
def dist(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    environment = make_environment(tmp_path_factory.mktemp("builder") / "environment")
    run("make wheels", clone, environment)
    return clone / "dist"


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    return make_environment(tmp_path / "environment")
