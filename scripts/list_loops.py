"""Lists the functions that ``chainer.vmap`` applies to one sample after the other.

    python scripts/list_loops.py            # functions of Chainer and of installed packs
    python scripts/list_loops.py --module chainer.functions.math

The list comes from the registry of functions: each name is imported, and the nodes of all loaded
modules that neither define ``batched`` nor declare how they treat samples are printed. A node that
defines ``batched`` may still refuse some arguments, and a function that reads values in Python is
called for each sample whatever its node says.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.registry import registries


def nodes_of(base: type[FunctionNode]) -> Iterator[type[FunctionNode]]:
    """Returns all subclasses of a class of nodes that are loaded.

    Args:
        base: The class.
    """
    for node in base.__subclasses__():
        yield node
        yield from nodes_of(node)


def has_rule(node: type[FunctionNode]) -> bool:
    """Returns whether a class of nodes says how it computes all samples at once.

    Args:
        node: The class.
    """
    declares = node.is_elementwise or node.is_pointwise or node.batch_inputs
    return bool(declares) or node.batched is not FunctionNode.batched


def without_rule(module: str = "") -> list[str]:
    """Returns the dotted names of nodes without a rule, in order.

    Classes without ``forward`` are left out, since only their subclasses can be applied.

    Args:
        module: Beginning of the names of modules; all by default.
    """
    failures = []
    for name in registries.functions.names():
        # Importing a function loads the module of its node.
        try:
            registries.functions.get(name)
        except ImportError as error:
            failures.append(f"{name}: {error}")
    if failures:
        print("not imported:", *failures, sep="\n  ")
    nodes = {node for node in nodes_of(FunctionNode) if node.forward is not FunctionNode.forward}
    names = [f"{node.__module__}.{node.__qualname__}" for node in nodes if not has_rule(node)]
    return sorted(name for name in set(names) if name.startswith(module))


def main() -> None:
    """Prints the list."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--module", default="", help="beginning of the names of modules")
    print(*without_rule(parser.parse_args().module), sep="\n")


if __name__ == "__main__":
    main()
