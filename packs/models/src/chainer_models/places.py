"""Links of a model by their paths."""

from __future__ import annotations

import re
from typing import Any

import chainer


def link_at(model: Any, path: str) -> Any:
    """Returns the link at a path."""
    return next(link for name, link in model.namedlinks() if name == path)


def linear_paths(
    model: Any, pattern: str, kinds: type[chainer.Link] | tuple[type[chainer.Link], ...]
) -> list[str]:
    """Returns the sorted paths of linear layers in which a regular expression is found.

    Args:
        model: The model.
        pattern: The regular expression.
        kinds: Classes of linear layers.

    Raises:
        ValueError: If there is none.
    """
    every = [path for path, link in model.namedlinks() if isinstance(link, kinds)]
    found = sorted([path for path in every if re.search(pattern, path)])
    if not found:
        raise ValueError(
            f"pattern must match a linear layer, got {pattern!r}; layers are {', '.join(every[:8])}"
        )
    return found


def replace_link(model: Any, path: str, new: chainer.Link) -> None:
    """Puts another link in the place of one."""
    parent, _, name = path.rpartition("/")
    owner = link_at(model, parent or "/")
    delattr(owner, name)
    with owner.init_scope():
        setattr(owner, name, new)
