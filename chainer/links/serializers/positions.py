"""Positions of links in a Sequential, whose names are in another order.

A :class:`~chainer.Sequential` of three links names them 0, 2, 1 in the order of their calls, as in
releases 4 to 7, whose files it has to load. A table of names that counts the links from 0 would put
values of equal shapes into the wrong links.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import Any

from chainer.core.warnings import MisuseWarning
from chainer.links.link import Link

_POSITION = re.compile(r"\[(\d+)\]")


def resolve_positions(obj: Any, names: Mapping[str, str]) -> dict[str, str]:
    """Returns names of entries without positions, after a check of their order.

    Args:
        obj: Object to be loaded.
        names: Name in the object -> name in the file. ``[1]`` in a name denotes the second layer of
            a Sequential in the order of calls.

    Raises:
        ValueError: If a position does not exist, or names of the links of a Sequential are in the
            order of the file, but the links are not.
    """
    resolved = {_resolved(obj, own): theirs for own, theirs in names.items()}
    if isinstance(obj, Link):
        for path, link in obj.namedlinks():
            order = call_order(link)
            if order is not None and order != sorted(order, key=int):
                _check_order(path.strip("/"), order, resolved)
    return resolved


def call_order(link: Link) -> list[str] | None:
    """Returns the names of the links of a Sequential in the order of calls; None for others."""
    from chainer.links.sequential import Sequential

    if not isinstance(link, Sequential):
        return None
    return list(dict.fromkeys(str(layer.name) for layer in link if isinstance(layer, Link)))


def _resolved(obj: Any, name: str) -> str:
    parts: list[str] = []
    for part in name.split("/"):
        match = _POSITION.fullmatch(part)
        if match is not None:
            layers = list(obj) if hasattr(obj, "__iter__") else []
            i = int(match[1])
            if i >= len(layers) or not isinstance(layers[i], Link):
                raise ValueError(
                    f"names has {name!r}, but {type(obj).__name__} has no link at position {i}"
                )
            obj = layers[i]
            part = str(obj.name)
        else:
            obj = getattr(obj, part, None) if not part.isdigit() else _child(obj, part)
        parts.append(part)
    return "/".join(parts)


def _child(obj: Any, name: str) -> Any:
    children = obj.children() if isinstance(obj, Link) else ()
    return next((child for child in children if child.name == name), None)


def _check_order(path: str, order: list[str], names: Mapping[str, str]) -> None:
    """Raises if names count the links of a Sequential by the order in the file."""
    prefix = f"{path}/" if path else ""
    theirs: dict[str, str] = {}
    for own, name in names.items():
        head, _, _ = own.removeprefix(prefix).partition("/")
        if own.startswith(prefix) and head in order:
            theirs.setdefault(head, name)
    given = [name for name in order if name in theirs]
    by_file = sorted(given, key=lambda name: _natural(theirs[name]))
    if by_file != given and by_file == sorted(given, key=int):
        raise ValueError(
            f"names counts the links of the Sequential {path or '/'!r} as {', '.join(by_file)}, "
            f"but it calls them in the order {', '.join(order)}: write positions in brackets, "
            f"such as {prefix + '[1]/W'!r} for its second layer"
        )


def _natural(text: str) -> list[tuple[int, str]]:
    """Returns a key with which ``layer.2`` precedes ``layer.10``."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", text)]


def warn_of_position(obj: Any, path: str) -> None:
    """Warns if a link is loaded from a path that has the name of another link of its Sequential.

    ``load_npz(file, model[1], path='1/')`` would load the last link of a Sequential that was saved.
    A :class:`~chainer.ChainList` counts its links, and its file may be loaded into a Sequential:
    the values are loaded as the path says.

    Args:
        obj: Object to be loaded.
        path: The path in the file.
    """
    last = path.rstrip("/").rpartition("/")[2]
    name = obj.name if isinstance(obj, Link) else None
    if isinstance(name, str) and name.isdigit() and last.isdigit() and name != last:
        warnings.warn(
            f"path is {path!r}, but the link has the name {name!r} in the Sequential or list "
            "that it belongs to. A Sequential names its first link 0 and the others in "
            f"reverse: if such a model was saved, write path={f'{name}/'!r}",
            MisuseWarning,
            stacklevel=3,
        )
