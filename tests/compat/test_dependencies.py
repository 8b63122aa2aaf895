"""The import error of packages that Chainer up to release 7 installed."""

from __future__ import annotations

import importlib.util
import pathlib
import re
import subprocess
import sys
import tomllib
from importlib.machinery import ModuleSpec

import pytest

from chainer.compat import dependencies
from chainer.utils import install_command


@pytest.fixture
def without_six(monkeypatch):
    """An environment without six: the other finders do not find it."""
    monkeypatch.delitem(sys.modules, "six", raising=False)
    install_command("chainer")  # which imports modules at its first call
    finder = next(f for f in sys.meta_path if isinstance(f, dependencies.MissingDependencyFinder))
    monkeypatch.setattr(sys, "meta_path", [finder])


def test_import_error_names_the_extra(without_six):
    with pytest.raises(
        ModuleNotFoundError, match=re.escape(install_command("chainer[clients]"))
    ) as raised:
        import six  # noqa: F401  # pyright: ignore[reportMissingModuleSource]
    assert raised.value.name == "six"
    with pytest.raises(ModuleNotFoundError, match="No module named 'six'"):
        importlib.import_module("six")


@pytest.mark.parametrize(("name", "extra"), [("chainermn", "mpi"), ("onnx_chainer", "onnx")])
def test_packs_that_release_7_contains(without_six, monkeypatch, name, extra):
    monkeypatch.delitem(sys.modules, name, raising=False)
    command = install_command(f"chainer[{extra}]")
    with pytest.raises(ModuleNotFoundError, match=re.escape(command)):
        importlib.import_module(name)


#: A program in an environment without a distribution: no finder of modules finds it.
WITHOUT = """
import sys
import chainer

class Hiding:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        return None if name == {name!r} else self.finder.find_spec(name, path, target)

    def __getattr__(self, attribute):  # finders also find metadata of distributions
        return getattr(self.finder, attribute)

sys.meta_path[:-1] = map(Hiding, sys.meta_path[:-1])
import {name}
"""


@pytest.mark.parametrize(("name", "extra"), [("chainermn", "mpi"), ("onnx_chainer", "onnx")])
def test_programs_without_a_pack(name, extra):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(name=name)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"ModuleNotFoundError: No module named {name!r}; Chainer 7 contained it, now it is a "
        f"distribution of its own: {install_command(f'chainer[{extra}]')}"
    )


def test_other_modules(without_six):
    with pytest.raises(ModuleNotFoundError, match="^No module named 'no_such_module'$"):
        importlib.import_module("no_such_module")


def test_find_spec_finds_nothing(without_six):
    assert importlib.util.find_spec("six") is None


def test_later_finders_come_first(without_six):
    class Finder:
        @staticmethod
        def find_spec(name, path, target=None):
            return ModuleSpec(name, None, is_package=True) if name == "six" else None

    sys.meta_path.append(Finder())
    try:
        assert importlib.import_module("six").__name__ == "six"
    finally:
        sys.modules.pop("six", None)


def test_installed_once():
    dependencies.install()
    found = [f for f in sys.meta_path if isinstance(f, dependencies.MissingDependencyFinder)]
    assert len(found) == 1


def test_extra_has_them():
    root = pathlib.Path(__file__).parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    extra = " ".join(project["optional-dependencies"]["clients"])
    # The distribution protobuf contains google.protobuf, setuptools contains pkg_resources.
    for module in dependencies.MODULES - {"pkg_resources"}:
        assert module.removeprefix("google.") in extra
