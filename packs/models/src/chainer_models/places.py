"""Links of a model by their paths."""

from __future__ import annotations

from typing import Any

import chainer


def link_at(model: Any, path: str) -> Any:
    """Returns the link at a path."""
    return next(link for name, link in model.namedlinks() if name == path)


def replace_link(model: Any, path: str, new: chainer.Link) -> None:
    """Puts another link in the place of one."""
    parent, _, name = path.rpartition("/")
    owner = link_at(model, parent or "/")
    delattr(owner, name)
    with owner.init_scope():
        setattr(owner, name, new)
