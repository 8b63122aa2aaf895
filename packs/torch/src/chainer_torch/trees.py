"""Arguments and results that hold tensors or Variables at any depth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def map_leaves(function: Callable[[Any], Any], tree: Any) -> Any:
    """Returns a tree with each leaf replaced.

    Args:
        function: Makes the new leaf. Its argument is what is not a list, a tuple or a mapping.
        tree: Nested lists, tuples, named tuples and mappings.
    """
    if isinstance(tree, Mapping):
        items = {key: map_leaves(function, value) for key, value in tree.items()}
        try:
            # The results of transformers are dicts with attributes.
            return type(tree)(**items)  # type: ignore[call-arg]
        except TypeError:
            return items
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*[map_leaves(function, value) for value in tree])
    if isinstance(tree, (list, tuple)):
        return type(tree)([map_leaves(function, value) for value in tree])
    return function(tree)
