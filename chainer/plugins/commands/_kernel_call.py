"""Which kernel serves a call that is described on the command line."""

from __future__ import annotations

import argparse
import ast
import sys
from contextlib import ExitStack
from typing import Any

import numpy

from chainer.core.arrays.backend import get_device
from chainer.core.arrays.kernel import Explanation, Operation, get_operation
from chainer.core.config.configuration import threads, using_config
from chainer.plugins.commands._output import print_json, print_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that describe a call."""
    group = parser.add_argument_group("a call")
    group.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="N,C,...",
        help="shape of an array of the call, in the order of the operation's documentation (once "
        "for each); '5:int32' with a dtype, '()' without dimensions, 'none' for one left out",
    )
    group.add_argument("--dtype", default="float32", help="dtype of the arrays (default: float32)")
    group.add_argument(
        "--backend", default="numpy", metavar="NAME", help="backend of the arrays (default: numpy)"
    )
    group.add_argument(
        "--attribute",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="another argument of the call, such as axis=1 or 'stride=(2, 2)'",
    )
    group.add_argument(
        "--provider",
        action="append",
        default=[],
        metavar="NAME",
        help="explain the call as if the configuration enabled this provider",
    )


def run(options: argparse.Namespace) -> int:
    """Explains the call."""
    operation = get_operation(options.operation)
    try:
        arrays = _arrays(options.shape, options.dtype, options.backend)
        attributes = dict(map(_attribute, options.attribute))
        with ExitStack() as stack:
            for provider in options.provider:
                switch = threads.state.policy.switch_of(provider)
                if switch is not None:
                    stack.enter_context(using_config(switch, "auto"))
            stack.enter_context(
                using_config("kernels", (*options.provider, *threads.state.policy.kernels))
            )
            explanation = operation.explain(*arrays, **attributes)
    except (ValueError, RuntimeError) as error:
        return _fail(str(error))
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        # The "supports" function of a kernel read an array or attribute that is not given.
        return _fail(
            f"this is not a complete call of {options.operation} "
            f"({type(error).__name__}: {error}). It is documented as {_call(operation)}; give "
            "each array with --shape, the other arguments with --attribute"
        )
    if options.json:
        print_json(_as_dict(explanation))
    else:
        _print(explanation)
    return 0


def _fail(text: str) -> int:
    print(f"chainer kernels: {text}", file=sys.stderr)
    return 2


def _arrays(shapes: list[str], dtype: str, backend: str) -> list[Any]:
    device = get_device("@" + backend.removeprefix("@"))
    arrays: list[Any] = []
    for text in shapes:
        shape, _, own_dtype = text.partition(":")
        if shape == "none":
            if not arrays:
                raise ValueError("--shape: the first array decides about the backend")
            arrays.append(None)
            continue
        try:
            sizes = [int(size) for size in shape.strip("()").split(",") if size.strip()]
            array = numpy.zeros(sizes, own_dtype or dtype)
        except (ValueError, TypeError) as error:
            raise ValueError(f"--shape must look like 8,3,32,32, got {text!r} ({error})") from error
        arrays.append(device.send(array))
    return arrays


def _attribute(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise ValueError(f"--attribute must look like axis=1, got {text!r}")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value  # a text without quotation marks


def _call(operation: Operation) -> str:
    """Returns the call of an operation as its documentation writes it."""
    text = " ".join((type(operation).__doc__ or "").split())
    start = text.find("select(")
    end = text.find("``", start)
    return text[start:end] if start >= 0 and end >= 0 else "its class says"


def _as_dict(explanation: Explanation) -> dict[str, Any]:
    cls = explanation.array_type
    return {
        "operation": explanation.operation,
        "array_type": f"{cls.__module__}:{cls.__qualname__}",
        "chosen": explanation.chosen.provider,
        "candidates": [
            {"provider": c.provider, "priority": c.priority, "chosen": c.chosen, "reason": c.reason}
            for c in explanation
        ],
    }


def _print(explanation: Explanation) -> None:
    print(str(explanation).partition("\n")[0])
    rows = [(c.provider, str(c.priority), c.reason or "chosen") for c in explanation]
    print_table(("provider", "priority", ""), rows)
