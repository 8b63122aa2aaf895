"""Writes the files of a new plugin (``chainer new-plugin``).

The templates are in ``chainer/plugins/templates``: a folder for each kind of plugin, and ``common``
for the files that all plugins have. A file ``name.template`` becomes ``name``. In its text,
placeholders such as ``${module}`` are replaced by names of the plugin (:class:`string.Template`).
In the names of files and folders they are written ``__module__``, and a leading ``dot_`` becomes a
full stop. A file of a kind whose name begins with ``_`` does not become a file: its text is the
value of a placeholder in the files of ``common``, such as ``${usage}`` for ``_usage.md.template``.
"""

from __future__ import annotations

import datetime
import os
import shutil
import string
import tempfile
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from chainer.core.version import __version__
from chainer.plugins.api_version import API_VERSION
from chainer.plugins.plugin_names import PluginNames

_SUFFIX = ".template"
_NO_KINDS = ("common", "licenses")

LICENSES = ("MIT", "BSD-3-Clause", "none")
"""The licenses to choose from; the first is the default."""


def kinds() -> list[str]:
    """Returns the kinds of plugins that have templates, sorted."""
    return sorted(
        entry.name
        for entry in _templates().iterdir()
        if entry.is_dir() and entry.name not in _NO_KINDS and not entry.name.startswith("_")
    )


def about(kind: str) -> str:
    """Returns one line about what the plugin of a kind contains.

    Args:
        kind: One of :func:`kinds`.
    """
    text = _read(_templates() / kind / ("_about.txt" + _SUFFIX))
    # An example, which may be installed: plugin_names() would refuse it then.
    names = PluginNames("chainer-mine", "chainer_mine", "mine", "Mine")
    return _fill(text, _values(kind, names, "none", "")).strip()


def render(
    kind: str, names: PluginNames, license: str = LICENSES[0], author: str = ""
) -> dict[str, str]:
    """Returns the files of a plugin.

    Args:
        kind: One of :func:`kinds`.
        names: Names of the plugin.
        license: One of :data:`LICENSES`.
        author: Holder of the copyright; by default "the authors of" the distribution.

    Returns:
        dict: Path within the project, with slashes -> text.
    """
    values = _values(kind, names, license, author or f"the authors of {names.distribution}")
    folder = _templates() / kind
    for entry in folder.iterdir():
        if entry.name.startswith("_") and entry.is_file():
            fragment = entry.name[1:].partition(".")[0]
            values[fragment] = _fill(_read(entry), values).strip()
    files: dict[str, str] = {}
    for place in (_templates() / "common", folder):
        for path, entry in _walk(place):
            if not path.startswith("_"):
                files[_target(path, values)] = _fill(_read(entry), values)
    if license != "none":
        files["LICENSE"] = _fill(_read(_templates() / "licenses" / (license + _SUFFIX)), values)
    return dict(sorted(files.items()))


def write(files: dict[str, str], folder: Path) -> None:
    """Writes files into a new folder, all of them or none.

    Args:
        files: Path within the folder -> text.
        folder: The folder. Its parents are created if they do not exist.

    Raises:
        FileExistsError: If something of that name exists.
        OSError: If the files cannot be written; those written so far are removed.
    """
    if os.path.lexists(folder):
        raise FileExistsError(f"{folder} exists already; nothing was written")
    missing = [parent for parent in folder.absolute().parents if not parent.exists()]
    folder.parent.mkdir(parents=True, exist_ok=True)
    # The project is written to a temporary folder and renamed when it is complete.
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    done = False
    try:
        # A subfolder, because the folder that mkdtemp makes may be entered by its owner only.
        project = draft / folder.name
        for path, text in files.items():
            file = project / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
        project.rename(folder)
        done = True
    finally:
        shutil.rmtree(draft)
        if not done:
            _remove_empty(missing)


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:  # innermost first
        try:
            folder.rmdir()
        except OSError:
            return  # not empty: another process has created something there meanwhile


def _templates() -> Traversable:
    return resources.files("chainer.plugins").joinpath("templates")


def _read(entry: Traversable) -> str:
    return entry.read_text(encoding="utf-8")


def _walk(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        path = prefix + entry.name
        if entry.is_dir():
            yield from _walk(entry, path + "/")
        elif path.endswith(_SUFFIX):
            yield path, entry


def _target(path: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        path = path.replace(f"__{name}__", value)
    parts = path.removesuffix(_SUFFIX).split("/")
    return "/".join("." + part[4:] if part.startswith("dot_") else part for part in parts)


def _fill(text: str, values: dict[str, str]) -> str:
    return string.Template(text).substitute(values)


def _values(kind: str, names: PluginNames, license: str, author: str) -> dict[str, str]:
    return {
        "api_version": str(API_VERSION),
        "author": author,
        "camel": names.camel,
        "chainer_version": __version__,
        "distribution": names.distribution,
        "kind": kind,
        "license_line": "" if license == "none" else f'license = "{license}"\n',
        "license_sentence": (
            "No license is chosen yet. Without one, others are not allowed to use this."
            if license == "none"
            else f"{license}; see [LICENSE](LICENSE)."
        ),
        "module": names.module,
        "next_major": str(int(__version__.partition(".")[0]) + 1),
        "plugin": names.plugin,
        # A kind whose tests need more has a file _test_requires.txt.template.
        "test_requires": '"pytest>=8"',
        "year": str(datetime.date.today().year),
    }
