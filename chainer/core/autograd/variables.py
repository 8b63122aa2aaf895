"""The names of the public module ``chainer.variable``.

A module of its own, because :class:`Parameter` derives from :class:`Variable`: ``variable.py``
cannot import it.
"""

from __future__ import annotations

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.autograd.variable_node import VariableNode

__all__ = ["Parameter", "Variable", "VariableNode", "as_variable"]
