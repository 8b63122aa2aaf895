"""Commands that pages and messages print, run in fresh environments with an empty home.

``make test-install`` runs a sample: the demo, an extra of each kind, a plugin of each kind. With
``ARGS=--all`` it runs all. ``make docs`` builds the documentation in an environment of its own.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from chainer.core.installation import name_and_extras, needed_projects, projects
from chainer.plugins import scaffold
from tests.installation.collecting import ROOT, message_requirements, page_commands
from tests.installation.environments import (
    everything,
    make_environment,
    printed_command,
    run,
    skip_without_index,
)

pytestmark = pytest.mark.slow

sample = pytest.mark.skipif(not everything(), reason="make test-install ARGS=--all")

#: Too large for a test: gigabytes. pip resolves their names and downloads nothing.
LARGE = re.compile(r"torch|cuda|cupy|nvidia|pytensor|rdkit|theano")

KNOWN = projects(ROOT)


def test_demo(clone: Path, tmp_path: Path) -> None:
    """The first command of the README, where nothing is installed."""
    output = run("make demo", clone, make_environment(tmp_path / "environment"))
    assert (clone / "result" / "log").exists(), output
    output = run("make demo ARGS=--resume", clone, tmp_path / "environment")


def test_packs_from_wheels(clone: Path, dist: Path, environment: Path) -> None:
    """The command of the README, and what is printed afterwards names the same folder."""
    run('pip install --find-links dist "chainer[onnx,numba]"', clone, environment)
    folder = environment.parent
    output = run("chainer info && chainer plugins && chainer backends", folder, environment)
    assert "onnx" in output
    output = run("chainer launch -n 2 x.py || true", folder, environment)
    command = printed_command(output)
    assert shlex.split(command)[:4] == ["pip", "install", "--find-links", str(dist)]
    run(command, folder, environment)
    (folder / "x.py").write_text(
        "import chainermn; print(chainermn.create_communicator('naive').size)"
    )
    assert run("chainer launch -n 2 x.py", folder, environment).split().count("2") == 2


def test_an_extra_of_third_parties_from_wheels(clone: Path, dist: Path, environment: Path) -> None:
    run("pip install --find-links dist chainer", clone, environment)
    missing = (
        "import chainer, numpy as np; chainer.serializers.save_hdf5('x.h5', chainer.links.Bias())"
    )
    folder = environment.parent
    output = run(f"python -c {shlex.quote(missing)} || true", folder, environment)
    run(printed_command(output), folder, environment)
    run(f"python -c {shlex.quote(missing)}", folder, environment)
    # As pages write it: Chainer is installed, so that pip needs no folder.
    run('pip install "chainer[threads]" && python -c "import threadpoolctl"', folder, environment)


def test_packs_from_a_clone(clone: Path, environment: Path) -> None:
    run("make install EXTRAS=jax", clone, environment)
    code = "import chainer; print(chainer.get_device('@jax:0'))"
    assert "@jax:0" in run(f'python -c "{code}"', environment.parent, environment)
    output = run("chainer launch -n 2 x.py || true", environment.parent, environment)
    assert f"{clone}/packs/chainermn" in printed_command(output)
    run(printed_command(output), environment.parent, environment)


def test_a_clone_without_an_active_environment(clone: Path) -> None:
    skip_without_index()
    output = run("make install", clone, None)
    assert "activate it: . " in output
    run(". .venv/bin/activate && chainer info", clone, None)


def test_a_plugin_of_each_kind(clone: Path, dist: Path, environment: Path) -> None:
    """What ``chainer new-plugin`` prints, in one environment for all kinds."""
    run('pip install --find-links dist "chainer[mpi]"', clone, environment)
    for kind in scaffold.kinds():
        check_plugin(kind, environment.parent, environment)


@sample
@pytest.mark.parametrize("kind", scaffold.kinds())
@pytest.mark.parametrize("way", ["clone", "wheels"])
def test_a_plugin_in_an_environment_of_its_own(
    way: str, kind: str, clone: Path, dist: Path, environment: Path
) -> None:
    # chainermn is not installed: the printed command must say where it is.
    install = "pip install --find-links dist chainer" if way == "wheels" else "pip install ."
    run(install, clone, environment)
    check_plugin(kind, environment.parent, environment)


def check_plugin(kind: str, folder: Path, environment: Path) -> None:
    name = f"chainer-made-{kind}"
    printed = run(f"chainer new-plugin {name} --kind {kind}", folder, environment)
    commands = re.findall(r"^  (\S.*)$", printed.partition("Next:\n")[2], re.MULTILINE)
    assert [line.split()[0] for line in commands] == ["cd", "pip", "pytest", "chainer"]
    # All in one shell, as a user would: the first one changes the folder.
    output = run("\n".join(commands), folder, environment)
    assert re.search(r"^=* ?\d+ passed", output, re.MULTILINE), output
    assert "nothing is wrong" in output or "ok" in output, output


@sample
@pytest.mark.parametrize("requirements", message_requirements(), ids=" ".join)
@pytest.mark.parametrize("way", ["clone", "wheels"])
def test_commands_of_messages(
    way: str, requirements: tuple[str, ...], clone: Path, dist: Path, environment: Path
) -> None:
    folder = environment.parent
    install = "pip install --find-links dist chainer" if way == "wheels" else "pip install -e ."
    run(install, clone, environment)
    words = ", ".join(repr(word) for word in requirements)
    code = f"import chainer; print(chainer.utils.install_command({words}))"
    command = run(f'python -c "{code}"', folder, environment).strip()
    if any(LARGE.search(word) for word in requirements):
        command += " --dry-run --no-deps"
    run(command, folder, environment)


def _installations() -> list[str]:
    """Returns the commands of pages that install something for users of Chainer."""
    found = dict.fromkeys(
        command.line
        for command in page_commands()
        if command.line.startswith(("pip install ", "make install"))
        and " -e " not in command.line  # for those who work on the sources; the tests do it
        and command.line != "pip install ."  # run by the tests of the pages for authors
    )
    return list(found)


@sample
@pytest.mark.parametrize("line", _installations())
def test_commands_of_pages(line: str, clone: Path, dist: Path, environment: Path) -> None:
    if LARGE.search(line) and line.startswith("pip"):
        line += " --dry-run --no-deps"
    elif LARGE.search(line):
        pytest.skip("gigabytes")
    words = [word for word in shlex.split(line)[2:] if re.match(r"\w", word)]
    names = [name_and_extras(word) for word in words if line.startswith("pip")]
    if "chainer" in needed_projects(names, KNOWN) and "--find-links" not in line:
        # Pages that name an extra are read by those who have Chainer.
        run("pip install --find-links dist chainer", clone, environment)
    if "--no-build-isolation" in line:
        # Read by those who have Chainer with this extra, see docs/clients.md.
        run('pip install --find-links dist "chainer[clients]"', clone, environment)
        run('pip install --upgrade pip "setuptools<81" wheel', clone, environment)
    run(line, clone, environment)
