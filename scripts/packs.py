"""The distributions of this repository, for the other scripts, before anything is installed.

``python scripts/packs.py`` prints their names and folders.
"""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def installation() -> ModuleType:
    """Returns chainer/core/installation.py, imported without chainer, which needs NumPy."""
    path = ROOT / "chainer" / "core" / "installation.py"
    spec = importlib.util.spec_from_file_location("chainer_installation", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def folders() -> dict[str, Path]:
    """Returns normalized name -> folder of chainer and of all packs, the needed ones first."""
    module = installation()
    known = module.projects(ROOT)
    every = [
        (name, project.get("optional-dependencies", {})) for name, (_, project) in known.items()
    ]
    order = module.needed_projects([("chainer", ()), *every], known)
    return {name: known[name][0] for name in order}


def settings(folder: Path) -> dict[str, Any]:
    """Returns the pyproject.toml of a distribution."""
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))


if __name__ == "__main__":
    for name, folder in folders().items():
        print(f"{name:20} {folder.relative_to(ROOT)}")
