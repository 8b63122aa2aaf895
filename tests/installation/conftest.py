"""A copy of the clone for each worker, and wheels that one of them builds for all."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.installation import environments
from tests.installation.environments import copy_clone, make_environment, run


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """Returns a folder that all workers of one run of the tests have in common."""
    base = tmp_path_factory.getbasetemp()
    # Each worker of pytest-xdist has a folder of its own in that of the run.
    return base.parent if hasattr(request.config, "workerinput") else base


@pytest.fixture(scope="session", autouse=True)
def one_cache_of_pip(shared: Path) -> Iterator[None]:
    """Lets the environments download each package once.

    pip keeps downloads there, and wheels of released packages that it has built. It never keeps
    what it builds from a folder, so that each test still installs this clone.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(environments.SETTINGS, "PIP_CACHE_DIR", str(shared / "pip-cache"))
        yield


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_clone(tmp_path_factory.mktemp("clone") / "chainer")


@pytest.fixture(scope="session")
def dist(clone: Path, shared: Path) -> Path:
    """Returns the folder of wheels; ``dist`` in the clone of this worker leads there."""
    builder = shared / "builder"
    # A second worker waits until the first one has built them. If that one fails, it tries itself.
    with (shared / "builder.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = builder / "chainer" / "dist"
        done = builder / "done"
        if not done.exists():
            builder.mkdir(exist_ok=True)
            folder = builder / "chainer"
            if not folder.exists():
                copy_clone(folder)
            run("make wheels", folder, make_environment(builder / "environment"))
            done.touch()
    (clone / "dist").symlink_to(found)
    return found


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    return make_environment(tmp_path / "environment")
