"""Commands on pages, in docstrings and in messages name what exists."""

from __future__ import annotations

import re
import shlex
import tomllib

import pytest

from chainer.core.installation import name_and_extras, needed_projects, normalized, projects
from chainer.plugins.cli import main
from tests.installation.collecting import (
    ROOT,
    Command,
    docstring_commands,
    literal_commands,
    message_requirements,
    page_commands,
)

KNOWN = projects(ROOT)
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))

#: Strings with commands that no function can make: attributes of classes, for libraries that are
#: not of this repository, and ideep4py, which does not import chainer.
LITERAL = {
    # Of another Python, or of a file of requirements.
    "chainer/testing/certification/array_api.py",
    "chainer/testing/certification/opinfo/exporting.py",
    "chainer/functions/_documentation.py",
    "packs/array-api/src/chainer_array_api/libraries/strict.py",
    "packs/array-api/src/chainer_array_api/libraries/torch.py",
    "packs/ideep4py/src/ideep4py/_core/layout.py",
    "packs/ideep4py/src/ideep4py/_core/library.py",
    "packs/ideep4py/src/ideep4py/threads.py",
    "packs/jax/src/chainer_jax/backend.py",
}


def of(*programs: str) -> list[Command]:
    return [c for c in [*page_commands(), *docstring_commands()] if c.line.startswith(programs)]


def test_commands_are_found() -> None:
    found = {str(command) for command in page_commands()}
    assert 'README.md: pip install --find-links dist "chainer[plot,jax]"' in found
    assert "README.md: make demo" in found
    assert ("chainer[plot]",) in message_requirements()


@pytest.mark.parametrize("command", of("make "), ids=str)
def test_targets_of_make_exist(command: Command) -> None:
    words = shlex.split(command.line)[1:]
    targets = [word for word in words if "=" not in word]
    assert targets, command
    assert set(targets) <= TARGETS, f"{command}: there are {sorted(TARGETS)}"
    for word in words:
        if word.startswith("EXTRAS="):
            check_extras("chainer", word.removeprefix("EXTRAS=").split(","))


@pytest.mark.parametrize("command", of("pip install "), ids=str)
def test_distributions_of_pip_exist(command: Command) -> None:
    line = command.line.split(" && ")[0]
    words = [word for word in shlex.split(line)[2:] if not word.startswith("-")]
    for word in words:
        if word.startswith((".", "/", "dist")):
            folder, _, _ = word.partition("[")
            assert folder in (".", "dist") or (ROOT / folder / "pyproject.toml").exists(), command
            continue
        name, extras = name_and_extras(word)
        if name not in KNOWN:
            continue
        check_extras(name, extras)
        # Nothing of ours is on an index before the release. Chainer itself is installed there.
        needed = set(needed_projects([(name, extras)], KNOWN)) - {"chainer"}
        after_release = command.source == "docs/releasing.md"
        assert not needed or "--find-links" in line or after_release, (
            f"{command}: pip finds {', '.join(needed)} in no index; write make install EXTRAS=..."
        )


@pytest.mark.parametrize("requirements", message_requirements(), ids=" ".join)
def test_distributions_of_messages_exist(requirements: tuple[str, ...]) -> None:
    for requirement in requirements:
        name, extras = name_and_extras(requirement)
        if name in KNOWN:
            check_extras(name, extras)


def check_extras(name: str, extras: tuple[str, ...] | list[str]) -> None:
    there = {normalized(e) for e in KNOWN[name][1].get("optional-dependencies", {})}
    assert {normalized(extra) for extra in extras} <= there, f"{name} has {sorted(there)}"


def test_messages_let_the_function_make_commands() -> None:
    found = [text for text in literal_commands() if text.partition(":")[0] not in LITERAL]
    assert not found, "use chainer.utils.install_command:\n" + "\n".join(found)


@pytest.mark.parametrize("command", of("chainer "), ids=str)
def test_subcommands_exist(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(command.line)
    if words[0] != "chainer" or not re.fullmatch(r"[a-z-]+", words[1]):
        return  # prose
    with pytest.raises(SystemExit) as stopped:
        main([words[1], "--help"])
    assert stopped.value.code == 0, command
    text = capsys.readouterr().out
    for option in (word.split("=")[0] for word in words[2:] if word.startswith("-")):
        assert option in text, f"{command}: no option {option}"


def test_each_pack_says_how_it_is_installed() -> None:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for extra, requirements in table["optional-dependencies"].items():
        packs = [n for n, _ in map(name_and_extras, requirements) if n in KNOWN and n != "chainer"]
        if len(requirements) == 1 and packs:
            page = (KNOWN[packs[0]][0] / "README.md").read_text("utf-8")
            folder = KNOWN[packs[0]][0].relative_to(ROOT)
            assert f"EXTRAS={extra}" in page or f"pip install ./{folder}" in page, folder
