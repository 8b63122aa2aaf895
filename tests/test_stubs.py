"""The committed type stubs are those the generator writes."""

import importlib.util
from pathlib import Path

from chainer import _aliases

ROOT = Path(__file__).parent.parent


def _generator():
    path = ROOT / "scripts" / "make_stubs.py"
    spec = importlib.util.spec_from_file_location("make_stubs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_stubs_are_up_to_date():
    outdated = _generator().differences()
    assert outdated == [], "run: make stubs"


def test_stubs_show_what_there_is():
    stubs = _generator().all_stubs()
    relu = "from chainer.functions.activation.relu import ReLU as ReLU, relu as relu\n"
    assert relu in stubs[Path("chainer/functions/__init__.pyi")]
    assert "    Adam as Adam,\n" in stubs[Path("chainer/training/optimizers/__init__.pyi")]
    optimizers = stubs[Path("chainer/optimizers/__init__.pyi")]
    assert "from chainer.training.optimizers import *\n" in optimizers
    adam = stubs[Path("chainer/optimizers/adam.pyi")]
    assert "from chainer.training.optimizers.adam import *\n" in adam
    # A module below a second name, a package below one, and a second name without any below it.
    for name in ("utils/type_check", "reporter"):
        assert Path(f"chainer/{name}.pyi") in stubs
    front_door = stubs[Path("chainer/__init__.pyi")]
    assert "import Link as Link\n" in front_door
    assert "disable_experimental_feature_warning: bool\n" in front_door


def test_folders_of_stubs_hide_no_module():
    """Python would take a folder without ``__init__.py`` for a package of nothing."""
    for path in _generator().all_stubs():
        parts = path.with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        spec = importlib.util.find_spec(name)
        assert spec.origin is not None or isinstance(spec.loader, _aliases._AliasLoader), name


def test_package_is_marked_as_typed():
    assert (ROOT / "chainer" / "py.typed").exists()
