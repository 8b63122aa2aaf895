"""Two distributions whose plugins are modules of one name."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.conftest import ROOT, Site

SAME = """
def chainer_functions(registry):
    registry.register("contested", "math:{}")
"""


@pytest.fixture
def same(tmp_path: Path) -> list[Site]:
    """Two folders, each with a distribution whose plugin is the module ``same``."""
    sites = [Site(tmp_path / "z"), Site(tmp_path / "a")]
    for site, name, function in zip(sites, ("a-pack", "b-pack"), ("sin", "cos"), strict=True):
        site.add(name, entry_points={name: "same"}, modules={"same": SAME.format(function)})
    return sites


def doctor(first: Site, second: Site, *arguments: str, **environment: str) -> Any:
    path = os.pathsep.join([str(first.path), str(second.path), str(ROOT)])
    done = first.run(
        *("-m", "chainer.plugins.cli", "doctor", *arguments, "--json"),
        **environment,
        PYTHONPATH=path,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("order", [1, -1])
def test_one_module_in_two_distributions(same: list[Site], order: int) -> None:
    first, second = same[::order]
    found = first.value(
        f"""
        import json, sys, warnings
        sys.path.insert(1, {str(second.path)!r})
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            import chainer.functions as F
            print(json.dumps([hasattr(F, "contested"), "same" in sys.modules,
                              [str(w.message) for w in caught]]))
        """
    )
    assert found[:2] == [False, False]
    assert len(found[2]) == 2
    for text, here in zip(sorted(found[2]), ("a-pack", "b-pack"), strict=True):
        there = {"a-pack": "b-pack", "b-pack": "a-pack"}[here]
        assert text.startswith(f"plugin {here!r} of {here} 1.0")
        assert f"plugin {there!r} of {there} 1.0 both have a module 'same'" in text
        assert f"CHAINER_DISABLE_PLUGINS={there}" in text
    (report,) = doctor(first, second, "a-pack")["reports"]
    assert [finding["cause"] for finding in report["findings"]] == ["shared_module"]


@pytest.mark.parametrize("order", [1, -1])
def test_one_of_two_is_switched_off(same: list[Site], order: int) -> None:
    """The other one serves only if Python imports its module."""
    first, second = same[::order]
    off, on = ("b-pack", "a-pack")
    text = str(doctor(first, second, on, CHAINER_DISABLE_PLUGINS=off))
    if order == 1:
        assert "registered 1 function" in text and "shared_module" not in text
    else:
        assert "uninstall b-pack" in text and "registered" not in text


def test_one_file_of_two_distributions(tmp_path: Path) -> None:
    """The distribution that was installed later has replaced the file of the other."""
    site = Site(tmp_path / "site")
    for name in ("a-pack", "b-pack"):
        site.add(name, entry_points={name: "same"}, modules={"same": SAME.format("sin")})
    assert str(doctor(site, site)).count("both have a module 'same'") == 2
    # A name that a distribution has given up: its entry point refers to the module of the other.
    (site.path / "a_pack-1.0.dist-info" / "RECORD").write_text("a_pack-1.0.dist-info/RECORD,,\n")
    assert "both have a module" not in str(doctor(site, site))


def test_file_before_the_module(tmp_path: Path) -> None:
    site, other = Site(tmp_path / "site"), Site(tmp_path / "other")
    site.add("a-pack", entry_points={"a-pack": "same"}, modules={"same": SAME.format("sin")})
    (other.path / "same.py").write_text(SAME.format("cos"))
    text = str(doctor(other, site, "a-pack"))
    assert f"its module was imported from {other.path / 'same.py'}" in text
    assert "its module was imported from" not in str(doctor(site, other, "a-pack"))
