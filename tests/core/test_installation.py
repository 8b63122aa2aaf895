"""The commands that messages print, for each way in which Chainer can be installed."""

import itertools
import json
import shlex
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from chainer.core import installation
from chainer.core.installation import Installation, name_and_extras, needed_projects, projects
from chainer.utils import install_command

ROOT = Path(__file__).parents[2]
PIP = ["pip", "install"]


@pytest.fixture
def activated(monkeypatch):
    """A shell in which ``pip`` is the one of this interpreter."""
    monkeypatch.setattr("shutil.which", lambda name: str(Path(sys.executable).parent / name))


@pytest.fixture
def clone(tmp_path):
    """A source tree with two packs, of which one needs the other."""
    root = tmp_path / "a clone"
    write(root, "chainer", [], {"jax": ["chainer-jax>=1"], "plot": ["matplotlib"]})
    write(root / "packs" / "arrays", "chainer_array.api", ["chainer>=8"], {})
    write(root / "packs" / "jax", "chainer-jax", ["chainer>=8", "Chainer-Array-API"], {"test": []})
    return root


def write(folder, name, dependencies, extras):
    folder.mkdir(parents=True)
    text = f"[project]\nname = {json.dumps(name)}\ndependencies = {json.dumps(dependencies)}\n"
    text += "[project.optional-dependencies]\n"
    text += "".join(f"{key} = {json.dumps(value)}\n" for key, value in extras.items())
    (folder / "pyproject.toml").write_text(text)


@pytest.mark.parametrize(
    ("requirement", "words"),
    [
        ("chainer", ["{root}"]),
        ("chainer[plot]", ["{root}[plot]"]),
        ("chainer[jax,plot]", ["{root}[jax,plot]", "{root}/packs/arrays", "{root}/packs/jax"]),
        ("chainer-jax", ["{root}/packs/jax", "{root}/packs/arrays"]),
        ("Chainer_JAX[test]>=1", ["{root}/packs/jax[test]", "{root}/packs/arrays"]),
        ("matplotlib>=3", ["matplotlib>=3"]),
    ],
)
def test_checkout(activated, clone, requirement, words):
    command = Installation("checkout", clone).command(requirement)
    assert shlex.split(command) == PIP + [word.format(root=clone) for word in words]


def test_editable_checkout(activated, clone):
    command = Installation("checkout", clone, editable=True).command("chainer-jax", "scipy")
    paths = ["-e", f"{clone}/packs/jax", "scipy", "-e", f"{clone}/packs/arrays"]
    assert shlex.split(command) == PIP + paths


def test_wheels(activated, tmp_path):
    (tmp_path / "chainer_jax-1.0.0-py3-none-any.whl").touch()
    installed = Installation("wheels", tmp_path)
    assert shlex.split(installed.command("chainer-jax")) == [
        *PIP, "--find-links", str(tmp_path), "chainer-jax",
    ]  # fmt: skip
    assert installed.command("scipy") == "pip install scipy"


def test_index(activated):
    installed = Installation("index")
    assert installed.command("chainer[plot]") == 'pip install "chainer[plot]"'
    assert installed.command("scipy>=1", "--upgrade") == 'pip install "scipy>=1" --upgrade'


@pytest.mark.parametrize(
    ("requirements", "error", "text"),
    [
        ((), TypeError, "needs at least one requirement"),
        (("scipy", 1), TypeError, "requirement 2 must be a string .* got int"),
        ((["scipy"],), TypeError, "requirement 1 must be a string .* got list"),
        ((None,), TypeError, "got NoneType"),
        ((b"scipy",), TypeError, "got bytes"),
        (("",), ValueError, "must start with a name, got ''"),
    ],
)
def test_what_is_no_requirement(requirements, error, text):
    with pytest.raises(error, match=text):
        install_command(*requirements)


def test_another_pip_on_the_path(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/pip")
    command = Installation("index").command("scipy", python="/some where/bin/python")
    assert command == '"/some where/bin/python" -m pip install scipy'
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert Installation("index").command("x", python="/a/../b/python") == (
        "/b/python -m pip install x"
    )


@pytest.mark.parametrize("word", ["plain", "two words", 'a"b', "$PATH", "a`b", "end\\", "x[y]"])
def test_quoting(word):
    assert shlex.split(installation.quoted(word)) == [word]


def test_this_one():
    assert installation.installation().kind == "checkout"
    assert str(ROOT) in install_command("chainer[plot]")


def distribution(monkeypatch, text):
    class Fake:
        def read_text(self, name):
            return text if name == "direct_url.json" else None

    monkeypatch.setattr("importlib.metadata.distribution", lambda name: Fake())


def test_how_pip_installed_it(monkeypatch, clone, tmp_path):
    origin = {"url": clone.as_uri(), "dir_info": {"editable": True}}
    distribution(monkeypatch, json.dumps(origin))
    assert installation.installation() == Installation("checkout", clone, editable=True)
    distribution(monkeypatch, json.dumps(origin | {"dir_info": {}}))
    assert installation.installation() == Installation("checkout", clone)

    # A package in site-packages, as pip puts it there from a wheel.
    package = tmp_path / "site-packages" / "chainer"
    (package / "core").mkdir(parents=True)
    monkeypatch.setattr(installation, "__file__", str(package / "core" / "installation.py"))
    # The clone is gone.
    gone = {"url": (tmp_path / "gone").as_uri(), "dir_info": {}}
    distribution(monkeypatch, json.dumps(gone))
    assert installation.installation() == Installation("index")
    distribution(monkeypatch, None)
    assert installation.installation() == Installation("index")

    dist = tmp_path / "dist"
    (package / installation.WHEELS_RECORD).write_text(f"{dist}\n", encoding="utf-8")
    assert installation.installation() == Installation("index")  # the folder is gone
    dist.mkdir()
    (dist / "chainer-8.0.0-py3-none-any.whl").touch()
    assert installation.installation() == Installation("wheels", dist)


def test_broken_project_files_are_left_out(clone):
    (clone / "packs" / "jax" / "pyproject.toml").write_text("[project")
    assert set(projects(clone)) == {"chainer", "chainer-array-api"}
    assert not installation.is_source_tree(clone / "packs" / "jax")


def test_names():
    assert name_and_extras("A_b[x, y] >=1; python_version>'3'") == ("a-b", ("x", "y"))
    with pytest.raises(ValueError, match=r"must start with a name, got '\[x\]'"):
        name_and_extras("[x]")


def test_the_packs_of_this_repository():
    """Each pack is named by an extra of chainer, and found as the requirement of others."""
    known = projects(ROOT)
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = tuple(table["optional-dependencies"])
    reached = needed_projects([("chainer", extras)], known)
    assert set(known) == set(reached)
    assert reached.index("chainer-array-api") < reached.index("chainer-jax")


def test_requirements_between_packs_are_met():
    """The version of each pack is in the ranges that other packs ask for."""
    # The release that the sources become: packs may ask for it before.
    version = Version(__import__("chainer").__version__).base_version
    known = projects(ROOT)
    versions = {name: project.get("version", version) for name, (_, project) in known.items()}
    for name, (_, project) in known.items():
        optional = project.get("optional-dependencies", {})
        for text in itertools.chain(project.get("dependencies", ()), *optional.values()):
            requirement = Requirement(text)
            needed = versions.get(installation.normalized(requirement.name))
            if needed is not None:
                assert requirement.specifier.contains(needed, prereleases=True), (
                    f"{name}: {text}, have {needed}"
                )
                other = known[installation.normalized(requirement.name)][1]
                assert requirement.extras <= set(other.get("optional-dependencies", {})), text
