"""The commands that messages print to install something, right for the way Chainer was installed.

A command that names distributions works for a Chainer from a package index. A clone of the
repository has the packs in a folder, and ``make wheels`` puts wheels of all of them into another
one: pip must be told where they are. Public as :func:`chainer.utils.install_command`.

The module imports the standard library alone, and most of it at the first call only, because
``scripts/install.py`` uses it before anything is installed.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # "import chainer" reads this module, and the import of pathlib takes milliseconds.
    from pathlib import Path
    from typing import Literal

#: File in the package that ``make wheels`` writes: the folder with the wheels of all packs.
WHEELS_RECORD = "wheels_folder.txt"

#: Words that every shell passes on as they are.
_PLAIN_WORD = re.compile(r"[\w@%+=:,./-]+", re.ASCII)
#: Words that are safe between double quotes, which Windows knows as well.
_QUOTABLE = re.compile(r"[^\"$`!%\n]+")

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[([^\]]*)\])?")


@dataclass(frozen=True)
class Installation:
    """How Chainer got into an environment.

    Attributes:
        kind: ``'checkout'`` (a source tree), ``'wheels'`` (a folder of wheels made by ``make
            wheels``) or ``'index'``.
        folder: The source tree or the folder of wheels; None for an index.
        editable: Whether changes of the source tree are seen without a new installation.
    """

    kind: Literal["checkout", "wheels", "index"]
    folder: Path | None = None
    editable: bool = False

    def command(self, *requirements: str, python: str | None = None) -> str:
        """Returns the command that installs distributions; see :func:`install_command`."""
        words = self.arguments(*requirements)
        return " ".join([pip_of(python or sys.executable), "install", *map(quoted, words)])

    def arguments(self, *requirements: str) -> list[str]:
        """Returns the arguments of ``pip install``, not quoted."""
        if self.folder is None or not any(
            name_and_extras(r)[0] in self._own_names() for r in requirements
        ):
            return list(requirements)
        if self.kind == "wheels":
            return ["--find-links", str(self.folder), *requirements]
        return list(self._paths(requirements))

    def extra_arguments(self, requirements: Iterable[str]) -> list[str]:
        """Returns what must stand beside a project of another author in ``pip install``.

        Args:
            requirements: Requirements of the project, with the requirements of its extras.

        Returns:
            list: The paths of the packs among them, for a source tree; the folder of the wheels; or
            nothing for an index. Chainer itself is installed.
        """
        if self.folder is None:
            return []
        if self.kind == "wheels":
            return ["--find-links", str(self.folder)]
        known = projects(self.folder)
        names = [name_and_extras(requirement) for requirement in requirements]
        folders = [known[n][0] for n in needed_projects(names, known) if n != "chainer"]
        option = ["-e"] if self.editable else []
        return [word for folder in folders for word in (*option, str(folder))]

    def _own_names(self) -> Iterable[str]:
        assert self.folder is not None
        if self.kind == "checkout":
            return projects(self.folder)
        return {normalized(file.name.split("-")[0]) for file in self.folder.glob("*.whl")}

    def _paths(self, requirements: Iterable[str]) -> Iterator[str]:
        """Yields a path for each distribution that is in the source tree, and for what it needs.

        pip looks for a requirement of a pack in the index, unless the same command names its path.
        """
        assert self.folder is not None
        known = projects(self.folder)
        option = ["-e"] if self.editable else []
        wanted = [name_and_extras(r) for r in requirements]
        for requirement, (name, extras) in zip(list(requirements), wanted, strict=True):
            if name not in known:
                yield requirement
                continue
            folder, _ = known[name]
            yield from option
            yield str(folder) + (f"[{','.join(extras)}]" if extras else "")
        named = {name for name, _ in wanted}
        for name in needed_projects(wanted, known):
            # Chainer itself is installed, or it is found as the requirement of a pack.
            if name not in named and name != "chainer":
                yield from option
                yield str(known[name][0])


def install_command(*requirements: str) -> str:
    """Returns the command that installs distributions beside this Chainer.

    Error messages print it. It names paths for a Chainer that was installed from a clone of the
    repository, the folder of the wheels for one that was installed from wheels of ``make wheels``,
    and names for one from a package index. Distributions that are not part of the repository are
    always named. Where ``pip`` is not the one of this interpreter, the command starts with the
    interpreter's path.

    Args:
        requirements (str): Distributions as pip names them, such as ``'chainer[plot]'``,
            ``'chainer-jax'`` or ``'scipy>=1.11'``, and options of pip.

    Returns:
        str: A command line, quoted for a shell.

    Raises:
        TypeError: If a requirement is not a string, or there is none.
        ValueError: If a requirement does not start with the name of a distribution.

    .. admonition:: Example

        >>> chainer.utils.install_command("scipy>=1.11").endswith('install "scipy>=1.11"')
        True
    """
    if not requirements:
        raise TypeError("install_command needs at least one requirement, such as 'chainer[plot]'")
    for number, requirement in enumerate(requirements, 1):
        if not isinstance(requirement, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            kind = type(requirement).__name__
            raise TypeError(
                f"requirement {number} must be a string such as 'chainer[plot]', got {kind}"
            )
    return installation().command(*requirements)


def installation() -> Installation:
    """Returns how the running Chainer was installed."""
    import json
    from importlib import metadata
    from pathlib import Path
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    package = Path(__file__).resolve().parents[1]
    try:
        origin = json.loads(metadata.distribution("chainer").read_text("direct_url.json") or "null")
    except (metadata.PackageNotFoundError, ValueError):
        origin = None
    if origin and "dir_info" in origin:
        folder = Path(url2pathname(urlsplit(str(origin["url"])).path))
        if is_source_tree(folder):
            return Installation("checkout", folder, bool(origin["dir_info"].get("editable")))
    # On PYTHONPATH, without an installation.
    if is_source_tree(package.parent):
        return Installation("checkout", package.parent)
    record = package / WHEELS_RECORD
    if record.exists():
        wheels = Path(record.read_text(encoding="utf-8").strip())
        # The folder may be gone, or the wheel may have been carried to another machine.
        if any(wheels.glob("chainer-*.whl")):
            return Installation("wheels", wheels)
    return Installation("index")


def is_source_tree(folder: Path) -> bool:
    """Returns whether a folder is a clone of the repository, or its source archive unpacked."""
    return normalized(str(_project(folder).get("name", ""))) == "chainer"


def projects(root: Path) -> dict[str, tuple[Path, Mapping[str, Any]]]:
    """Returns the distributions of a source tree.

    Args:
        root: The source tree.

    Returns:
        dict: Normalized name -> folder and table ``[project]`` of its pyproject.toml.
    """
    found: dict[str, tuple[Path, Mapping[str, Any]]] = {}
    for folder in (root, *sorted(path.parent for path in root.glob("packs/*/pyproject.toml"))):
        project = _project(folder)
        if "name" in project:
            found[normalized(project["name"])] = (folder, project)
    return found


def needed_projects(
    wanted: Iterable[tuple[str, Iterable[str]]],
    known: Mapping[str, tuple[Path, Mapping[str, Any]]],
) -> list[str]:
    """Returns distributions of a source tree and those that they need, the needed ones first.

    Args:
        wanted: Normalized names and extras.
        known: Result of :func:`projects`.
    """
    order: list[str] = []
    visited: set[tuple[str, tuple[str, ...]]] = set()

    def visit(name: str, extras: Iterable[str]) -> None:
        key = (name, tuple(extras))
        if name not in known or key in visited:
            return
        visited.add(key)
        project = known[name][1]
        optional = {normalized(k): v for k, v in project.get("optional-dependencies", {}).items()}
        needed = list(project.get("dependencies", ()))
        for extra in extras:
            needed += optional.get(normalized(extra), ())
        for requirement in needed:
            visit(*name_and_extras(requirement))
        if name not in order:
            order.append(name)

    for name, extras in wanted:
        visit(name, extras)
    return order


def name_and_extras(requirement: str) -> tuple[str, tuple[str, ...]]:
    """Returns the normalized name and the extras of a requirement.

    .. admonition:: Example

        >>> from chainer.core.installation import name_and_extras
        >>> name_and_extras("onnx-chainer[onnxruntime]>=8")
        ('onnx-chainer', ('onnxruntime',))
    """
    if requirement.startswith("-"):
        return "", ()  # an option of pip
    match = _REQUIREMENT.match(requirement)
    if match is None:
        raise ValueError(f"requirement must start with a name, got {requirement!r}")
    extras = tuple(extra.strip() for extra in (match[2] or "").split(",") if extra.strip())
    return normalized(match[1]), extras


def normalized(name: str) -> str:
    """Returns the name of a distribution as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pip_of(python: str) -> str:
    """Returns the command that runs the pip of an interpreter.

    It is ``pip`` if that is what a shell finds, and otherwise the interpreter with ``-m pip``: a
    program that runs in an environment which is not activated must not name the pip of another one.
    """
    import shutil

    # Without "..", but with links: a virtual environment's interpreter is one.
    python = os.path.abspath(python)
    pip = shutil.which("pip")
    if pip is not None and os.path.dirname(pip) == os.path.dirname(python):
        return "pip"
    return f"{quoted(python)} -m pip"


def quoted(word: str) -> str:
    """Returns a word as shells read it."""
    if _PLAIN_WORD.fullmatch(word):
        return word
    # Backslashes are folders on Windows, and change the next character elsewhere.
    if _QUOTABLE.fullmatch(word) and (os.name == "nt" or "\\" not in word):
        return f'"{word}"'
    import shlex

    return shlex.quote(word)


def _project(folder: Path) -> Mapping[str, Any]:
    import tomllib

    try:
        with open(folder / "pyproject.toml", "rb") as file:
            return tomllib.load(file).get("project", {})
    except (OSError, tomllib.TOMLDecodeError):
        return {}
