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
    second = Path("stubs/chainer-stubs")
    optimizers = stubs[second / "optimizers/__init__.pyi"]
    assert "from chainer.training.optimizers import *\n" in optimizers
    adam = stubs[second / "optimizers/adam.pyi"]
    assert "from chainer.training.optimizers.adam import *\n" in adam
    # A module below a second name, a package below one, and a second name without any below it.
    for name in ("utils/type_check", "reporter"):
        assert second / f"{name}.pyi" in stubs
    testing = stubs[Path("chainer/testing/__init__.pyi")]
    assert "from chainer.testing.link_case import LinkTestCase as LinkTestCase\n" in testing
    front_door = stubs[Path("chainer/__init__.pyi")]
    assert "import Link as Link\n" in front_door
    assert "disable_experimental_feature_warning: bool\n" in front_door


def test_stubs_beside_the_code_belong_to_a_module():
    """A folder with stubs alone would look like a package to readers, and to Python."""
    for path in (ROOT / "chainer").rglob("*.pyi"):
        assert path.with_suffix(".py").exists(), path


def test_stub_package_contains_second_names_only():
    """A stub of a module that has code at the same path would hide the code from type checkers."""
    package = ROOT / "stubs" / "chainer-stubs"
    assert (package / "py.typed").read_text() == "partial\n"
    for path in package.rglob("*.pyi"):
        code = ROOT / "chainer" / path.relative_to(package)
        assert not code.with_suffix(".py").exists(), path
        parts = path.relative_to(package).with_suffix("").parts
        name = ".".join(("chainer", *(part for part in parts if part != "__init__")))
        canonical = _aliases.AliasFinder(_aliases.ALIASES).home(name)
        assert canonical is not None, name
        assert importlib.util.find_spec(canonical) is not None, name


def test_package_is_marked_as_typed():
    assert (ROOT / "chainer" / "py.typed").exists()
