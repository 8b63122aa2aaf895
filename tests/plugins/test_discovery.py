from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from chainer.plugins import discovery
from chainer.plugins.discovery import FoundPack, discover, normalize, parse_entry_points


def test_entry_points_of_the_group_are_found(site: Any) -> None:
    site.add("Chainer-Swish", "1.2", entry_points={"swish": "chainer_swish.pack"})
    folder = site.path / "Chainer_Swish-1.2.dist-info"
    assert discover([str(site.path)]) == [
        FoundPack("swish", "chainer_swish.pack", "Chainer-Swish", "1.2", str(folder))
    ]


def test_other_groups_do_not_count(site: Any) -> None:
    site.add("tool", entry_points={})
    (site.path / "tool-1.0.dist-info" / "entry_points.txt").write_text(
        "[console_scripts]\ntool = tool:main\n[chainer.other]\nx = y\n"
    )
    assert discover([str(site.path)]) == []


def test_first_distribution_of_a_name_counts(tmp_path: Path, site: Any) -> None:
    older = type(site)(tmp_path / "older")
    site.add("a-pack", "2.0", entry_points={"a": "a_new"})
    older.add("A.Pack", "1.0", entry_points={"a": "a_old"})
    found = discover([str(site.path), str(older.path)])
    assert [(pack.version, pack.target) for pack in found] == [("2.0", "a_new")]
    found = discover([str(older.path), str(site.path)])
    assert [(pack.version, pack.target) for pack in found] == [("1.0", "a_old")]


def test_a_shadowing_distribution_needs_no_entry_points(tmp_path: Path, site: Any) -> None:
    older = type(site)(tmp_path / "older").add("pack", "1.0", entry_points={"a": "a_old"})
    (site.path / "pack-2.0.dist-info").mkdir()
    assert discover([str(site.path), str(older.path)]) == []


def test_egg_info_folders_are_read(site: Any) -> None:
    site.add("develop", "3.0", entry_points={"dev": "develop"})
    info = site.path / "develop-3.0.dist-info"
    info.rename(site.path / "develop.egg-info")
    (site.path / "develop.egg-info" / "METADATA").rename(
        site.path / "develop.egg-info" / "PKG-INFO"
    )
    (pack,) = discover([str(site.path)])
    assert (pack.name, pack.distribution, pack.version) == ("dev", "develop", "3.0")


def test_zipped_distributions_are_read(site: Any, tmp_path: Path) -> None:
    site.add("zipped", "1.5", entry_points={"z": "zipped"})
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in site.path.rglob("*"):
            file.write(path, path.relative_to(site.path))
    (pack,) = discover([str(archive)])
    assert (pack.name, pack.distribution, pack.version) == ("z", "zipped", "1.5")


def test_places_that_cannot_be_read_are_passed_over(site: Any, tmp_path: Path) -> None:
    site.add("good", entry_points={"good": "good"})
    text = tmp_path / "notes.txt"
    text.write_text("no archive")
    odd = [str(tmp_path / "missing"), str(text), "\0", 7, None, str(site.path), str(site.path)]
    assert [pack.name for pack in discover(odd)] == ["good"]


def test_an_empty_path_is_the_current_folder(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    site.add("here", entry_points={"here": "here"})
    monkeypatch.chdir(site.path)
    assert [pack.name for pack in discover([""])] == ["here"]


def test_what_was_read_is_remembered_until_the_folder_changes(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.add("one", entry_points={"one": "one"})
    assert len(discover([str(site.path)])) == 1
    with monkeypatch.context() as patch:
        patch.setattr(discovery, "_read_place", lambda place: pytest.fail(f"read {place} again"))
        assert len(discover([str(site.path)])) == 1
    site.add("two", entry_points={"two": "two"})
    later = site.path.stat().st_mtime_ns + 10**9
    os.utime(site.path, ns=(later, later))
    assert [pack.name for pack in discover([str(site.path)])] == ["one", "two"]
    shutil.rmtree(site.path)
    assert discover([str(site.path)]) == []


def test_malformed_lines_are_reported_not_lost() -> None:
    text = (
        "[other]\nx = y\n\n[chainer]\n# a comment\nbroken\nbad = not a module\nok = a.b:c [extra]\n"
    )
    assert parse_entry_points(text) == [
        ("bad", "not a module", "entry point 'bad' must point to 'module' or 'module:object', got "
         "'not a module'"),
        ("broken", "", "entry_points.txt has a line that is not 'name = target': 'broken'"),
        ("ok", "a.b:c", ""),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["My.Pack", "my-pack", "MY__pack", "my_-.pack"])
def test_normalized_names(name: str) -> None:
    assert normalize(name) == "my-pack"
