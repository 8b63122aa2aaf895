"""The names of the public module ``chainer.variable``.

They are not in ``variable.py``, because that module cannot import :class:`Parameter`, which
derives from :class:`Variable`.
"""

from __future__ import annotations

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.unpickling import create_variable as _create_variable  # pickles refer to
from chainer.core.autograd.unpickling import recover_parameter as _recover_parameter  # these names
from chainer.core.autograd.variable import Variable, as_array, as_variable
from chainer.core.autograd.variable_node import VariableNode
from chainer.core.autograd.variable_text import array_text


def variable_repr(var: Variable) -> str:
    """Returns the string representation of a variable, as ``repr`` does."""
    return array_text(var, for_repr=True)


def variable_str(var: Variable) -> str:
    """Returns the text of a variable, as ``str`` does."""
    return array_text(var, for_repr=False)


__all__ = [
    "Parameter",
    "Variable",
    "VariableNode",
    "_create_variable",
    "_recover_parameter",
    "as_array",
    "as_variable",
    "variable_repr",
    "variable_str",
]
