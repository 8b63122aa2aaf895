"""The pages of configuration, environment variables and command line have everything there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("griffe", reason="needs the extra docs")
pytest.importorskip("latex2mathml", reason="needs the extra docs")

import griffe

from chainer.core import typing
from chainer.core.config.entries import declared
from chainer.plugins import commands
from scripts.site.settings import command_line, configuration, environment, link_targets, types

ROOT = Path(__file__).resolve().parents[2]

#: Set by the code itself for its child processes.
INTERNAL = {
    "CHAINER_ARRAY_API_DEVICE",
    "CHAINER_OPINFO_SAMPLES",
    "CHAINER_SEED_DRAWN_BY",
    "CHAINERMN_LAUNCHER",
}
#: Beginning of those that ``chainer certify`` sets for its worker processes.
OF_WORKERS = "CHAINER_CERTIFY_"


def test_every_configuration_entry_is_described() -> None:
    page = configuration()
    for name, entry in declared.items():
        assert entry.about.endswith("."), f"{name} has no text"
        assert (f"## chainer.config.{name} " in page) is not name.startswith("_")


def test_every_variable_that_the_sources_read_is_described() -> None:
    files = [*ROOT.glob("chainer/**/*.py"), *ROOT.glob("packs/*/src/**/*.py")]
    pattern = re.compile(r"\b(?:CHAINER|CHAINERMN|IDEEP4PY)_[A-Z0-9_]+\b")
    read = {name for path in files for name in pattern.findall(path.read_text(encoding="utf-8"))}
    page = environment()
    assert len(read) > 20
    public = sorted(n for n in read - INTERNAL if not n.startswith(OF_WORKERS))
    missing = [name for name in public if f"`{name}`" not in page]
    assert missing == []


def test_variables_and_entries_lead_to_each_other() -> None:
    assert "(environment-variables.md#CHAINER_DEBUG)" in configuration()
    assert "(configuration.md#chainer.config.debug)" in environment()
    targets = link_targets()
    assert {"CHAINER_DEBUG", "chainer.config.debug", "chainer.Variable"} <= set(targets)


def test_every_command_and_option_is_there() -> None:
    page = command_line()
    for name in commands.find():
        assert f"## chainer {name} " in page
    assert "`--port PORT`" in page and "usage: chainer board" in page
    assert not re.search(r"^\| [^|]+ \|  \|$", page, re.MULTILINE), "an option has no help"


def test_every_type_is_described() -> None:
    page, module = types(), griffe.load(typing.__name__)
    for name in typing.__all__:
        # Signatures link to the heading that this makes.
        assert f"\n::: chainer.core.typing.{name}\n" in page
        docstring = module[name].docstring
        assert docstring is not None and docstring.value.endswith("."), f"{name} has no text"
