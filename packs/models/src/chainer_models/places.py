"""Links of a model by their paths."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import chainer
import chainer.links as L


def link_at(model: Any, path: str) -> Any:
    """Returns the link at a path."""
    return next(link for name, link in model.namedlinks() if name == path)


def linear_paths(
    model: Any,
    pattern: str | re.Pattern[str],
    kinds: type[chainer.Link] | tuple[type[chainer.Link], ...],
    more: Collection[str] = (),
) -> list[str]:
    """Returns the sorted paths of linear layers in which a regular expression is found.

    Args:
        model: The model.
        pattern: The regular expression.
        kinds: Classes of linear layers.
        more: Paths of embeddings that count as linear layers.

    Raises:
        TypeError: If the pattern is no text.
        ValueError: If there is none.
    """
    if not isinstance(pattern, (str, re.Pattern)):
        raise TypeError(
            f"pattern must be a regular expression, such as r'/attn/(q|v)$', got {pattern!r}"
        )
    every = [
        path
        for path, link in model.namedlinks()
        if isinstance(link, kinds) or (path in more and isinstance(link, L.EmbedID))
    ]
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
    if isinstance(owner, chainer.ChainList):
        # Links of a list have no attributes, and a Sequential has functions between them.
        old = link_at(model, path)
        index = next(i for i in range(len(owner)) if owner[i] is old)
        owner[index] = new
        return
    delattr(owner, name)
    with owner.init_scope():
        setattr(owner, name, new)
