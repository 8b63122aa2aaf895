"""Changes source code so that removed names are looked up in tables.

``np.int`` becomes ``__chainer_look_up__(np, "int")``. The object on the left stays what it is, so
that ``xp is numpy`` keeps its meaning, and it does not matter how the code came by the module:
``self.xp.int`` is found, too.
"""

from __future__ import annotations

import ast
from types import CodeType
from typing import Any

from chainer.compat.clients import lookup, numpy_names

#: Global variable of the changed modules: the function that looks up attributes.
LOOKUP = "__chainer_look_up__"

#: Global variable of the changed modules: the function that does the same for ``from ... import``.
LOOKUP_IMPORT = "__chainer_look_up_import__"

#: Global variable of the changed modules: the function that calls ``float(x)`` and ``int(x)``.
CONVERT = "__chainer_convert__"

#: The globals that changed code needs.
GLOBALS = {
    LOOKUP: lookup.look_up,
    LOOKUP_IMPORT: lookup.look_up_import,
    CONVERT: numpy_names.convert,
}

#: Names of the built-in functions whose calls are replaced.
_CONVERSIONS = frozenset({"complex", "float", "int"})


def compile_source(source: bytes | str, path: str) -> CodeType:
    """Compiles the source of a module with the lookups of removed names replaced.

    Args:
        source (bytes or str): Source code.
        path (str): File name, for tracebacks. Line numbers stay as in the source.

    Returns:
        Code object. Its globals must contain ``GLOBALS``.
    """
    tree = ast.fix_missing_locations(_Rewriter().visit(ast.parse(source, path)))
    return compile(tree, path, "exec", dont_inherit=True)


class _Rewriter(ast.NodeTransformer):
    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        # Assignments and deletions concern an object of the package itself.
        if node.attr not in lookup.NAMES or not isinstance(node.ctx, ast.Load):
            return node
        return ast.copy_location(_call(LOOKUP, node.value, node.attr), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Replaces ``float(x)``: NumPy 2.4 refuses arrays of one element that have dimensions."""
        self.generic_visit(node)
        function = node.func
        if not (isinstance(function, ast.Name) and function.id in _CONVERSIONS):
            return node
        if len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
            return node
        # The name is evaluated where it was: the package may have a float() of its own.
        call = ast.Call(ast.Name(CONVERT, ast.Load()), [function, *node.args], [])
        return ast.copy_location(call, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        """Takes the restored names out of an import statement, and assigns them."""
        restored = lookup.MODULES.get(node.module or "", frozenset()) if not node.level else ()
        chosen = [alias for alias in node.names if alias.name in restored]
        if not chosen:
            return node
        others = [alias for alias in node.names if alias.name not in restored]
        statements: list[ast.stmt] = [
            ast.Assign(
                targets=[ast.Name(alias.asname or alias.name, ast.Store())],
                value=_call(LOOKUP_IMPORT, ast.Constant(node.module), alias.name),
            )
            for alias in chosen
        ]
        if others:
            statements.append(ast.ImportFrom(node.module, others, node.level))
        return [ast.copy_location(statement, node) for statement in statements]

    def visit_MatchValue(self, node: ast.MatchValue) -> Any:
        # A pattern cannot contain a call.
        return node

    def visit_MatchClass(self, node: ast.MatchClass) -> Any:
        return node


def _call(function: str, owner: ast.expr, name: str) -> ast.Call:
    return ast.Call(ast.Name(function, ast.Load()), [owner, ast.Constant(name)], [])
