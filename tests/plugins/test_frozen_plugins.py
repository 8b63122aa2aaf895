"""Plugins that were written for the plugin API 1.0 work without a change."""

from __future__ import annotations

import hashlib
import sys
import textwrap
from pathlib import Path

import pytest

from tests.plugins.test_new_plugin import PRINTS, ROOT, USES, run

FROZEN = ROOT / "tests" / "data" / "plugins_of_api_1.0"
KINDS = sorted(path.name.removeprefix("chainer_made_") for path in FROZEN.glob("chainer_made_*"))

#: Digest of the files. Who changes them changes the plugins that the promise is about.
DIGEST = "c616f494ddd277ca"


def _digest() -> str:
    found = hashlib.sha256()
    for path in sorted(FROZEN.rglob("*.py")):
        found.update(path.relative_to(FROZEN).as_posix().encode() + path.read_bytes())
    return found.hexdigest()[:16]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The metadata of the plugins, beside which their packages are."""
    folder = tmp_path_factory.mktemp("frozen")
    for kind in KINDS:
        name = f"chainer_made_{kind}"
        (folder / name).symlink_to(FROZEN / name)
        info = folder / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[chainer]\nmade_{kind} = {name}.pack\n")
    return folder


def test_they_are_frozen() -> None:
    assert _digest() == DIGEST, "plugins of released APIs must not be changed"
    assert len(KINDS) >= 8


@pytest.mark.parametrize("kind", KINDS)
def test_a_frozen_plugin_works(kind: str, site: Path, tmp_path: Path) -> None:
    code = "import numpy as np, chainer\n" + textwrap.dedent(USES[kind])
    command = [sys.executable, "-W", "error", "-c", code]
    assert run(*command, cwd=tmp_path, path=site).strip() == PRINTS[kind]


def test_doctor_finds_all_of_them_sound(site: Path, tmp_path: Path) -> None:
    doctor = [sys.executable, "-m", "chainer.plugins.cli", "doctor"]
    for kind in KINDS:
        assert "error" not in run(*doctor, f"chainer_made_{kind}", cwd=tmp_path, path=site)
