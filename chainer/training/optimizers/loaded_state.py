"""Checks of the state that an optimizer has loaded from a file."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.autograd.parameter import Parameter
from chainer.links.loaded_state import check_count

if TYPE_CHECKING:
    from chainer.training.optimizers.optimizer import Optimizer
    from chainer.training.optimizers.update_rule import UpdateRule


def check_optimizer(optimizer: Optimizer) -> None:
    """Compares the states that an optimizer has loaded with the parameters.

    States of parameters without a shape are not checked: they follow when the model is loaded.

    Args:
        optimizer: Optimizer that has loaded its state.

    Raises:
        ValueError: If a state has another shape than its parameter. That state is dropped.
        TypeError: If it has another kind of elements.
    """
    check_count("t of the optimizer", optimizer.t)
    check_count("epoch of the optimizer", optimizer.epoch)
    target: Any = optimizer.target
    for name, param in target.namedparams():
        rule = param.update_rule
        if rule is None or not rule.state or param.array is None:
            continue
        try:
            _check_rule(name, rule, param)
        except (ValueError, TypeError):
            rule._state = None
            raise


def _check_rule(name: str, rule: UpdateRule, param: Parameter) -> None:
    check_count(f"t of parameter {name!r}", rule.t)
    # A rule shows on a stand-in which states it has: not all of them are like the parameter.
    probe = copy.copy(rule)
    expected = probe._make_state(Parameter(numpy.zeros(param.shape, numpy.float32)))
    for key, example in expected.items():
        value = (rule.state or {}).get(key)
        shape = getattr(example, "shape", None)
        if value is None or shape is None:
            continue
        if numpy.shape(value) != shape:
            raise ValueError(
                f"state {key!r} of parameter {name!r} in the file must have the shape {shape}, "
                f"got {numpy.shape(value)}"
            )
        dtype = getattr(value, "dtype", numpy.dtype(type(value)))
        # Kind V: bfloat16, which NumPy itself does not know.
        if example.dtype.kind == "f" and dtype.kind not in "fV":
            raise TypeError(
                f"state {key!r} of parameter {name!r} in the file must be floating-point numbers, "
                f"got dtype {dtype}"
            )
