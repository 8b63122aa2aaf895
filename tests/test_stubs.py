"""The committed type stubs are those the generator writes."""

import importlib.util
from pathlib import Path

from chainer import _aliases

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "stubs" / "chainer-stubs"


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
    stubs = {
        path.relative_to("stubs/chainer-stubs").as_posix(): text
        for path, text in _generator().all_stubs().items()
    }
    relu = "from chainer.functions.activation.relu import ReLU as ReLU, relu as relu\n"
    assert relu in stubs["functions/__init__.pyi"]
    assert "    Adam as Adam,\n" in stubs["training/optimizers/__init__.pyi"]
    assert "from chainer.training.optimizers import *\n" in stubs["optimizers/__init__.pyi"]
    assert "from chainer.training.optimizers.adam import *\n" in stubs["optimizers/adam.pyi"]
    # A module below a second name, a second name of a module, and one of a module below a package.
    assert {"utils/type_check.pyi", "reporter.pyi", "links/connection/gru.pyi"} <= set(stubs)
    assert "import LinkTestCase as LinkTestCase\n" in stubs["testing/__init__.pyi"]
    assert "import Link as Link\n" in stubs["__init__.pyi"]
    assert "disable_experimental_feature_warning: bool\n" in stubs["__init__.pyi"]


def test_no_stubs_beside_the_code():
    """Pyright would ignore them, because there is a partial stub package."""
    assert list((ROOT / "chainer").rglob("*.pyi")) == []


def test_stubs_hide_no_code():
    """A stub belongs to a second name or to a module with lazy attributes, which are all packages.

    Everything else is read from the code.
    """
    assert (PACKAGE / "py.typed").read_text() == "partial\n"
    for path in PACKAGE.rglob("*.pyi"):
        code = (ROOT / "chainer" / path.relative_to(PACKAGE)).with_suffix(".py")
        if path.name == "__init__.pyi" and code.exists():
            assert "lazy_module" in code.read_text(), path
        else:
            assert not code.exists(), path
            parts = path.relative_to(PACKAGE).with_suffix("").parts
            name = ".".join(("chainer", *(part for part in parts if part != "__init__")))
            canonical = _aliases.AliasFinder(_aliases.ALIASES).canonical_name(name)
            assert canonical is not None, name
            assert importlib.util.find_spec(canonical) is not None, name


def test_package_is_marked_as_typed():
    assert (ROOT / "chainer" / "py.typed").exists()
