"""A program for the Python that has PyTorch: writes the samples of OpInfo, and PyTorch's results.

``python export.py FOLDER DTYPE[,DTYPE ...] NAME ...`` imports PyTorch and NumPy, and nothing of
Chainer. For each name of an OpInfo it writes ``NAME.DTYPE.npz`` with the arrays, and
``NAME.DTYPE.json`` with the samples: arguments, outputs, gradients. In the JSON file
``{"array": i}`` is an array of the other file. It prints one line of JSON, with the version of
PyTorch and the names that it does not have.
"""

# pyright: basic

from __future__ import annotations

import importlib
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

_OPINFO = "torch.testing._internal.common_methods_invocations"

#: Most samples of a function. Some have hundreds, which differ little; every nth is taken then.
MOST_SAMPLES = 60

#: Number of PyTorch's own generator, so that each run has the same samples.
_SEED = 0


class _Writer:
    """Turns the values of PyTorch into values of JSON, and collects the arrays."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self.arrays: dict[str, np.ndarray] = {}

    def array(self, array: Any) -> dict[str, Any]:
        """Adds an array."""
        key = str(len(self.arrays))
        self.arrays[key] = np.array(array, order="C")
        return {"array": key}

    def encode(self, value: Any) -> Any:
        """Returns a value as JSON has it."""
        if isinstance(value, self._torch.Tensor):
            return self.array(value.detach().resolve_conj().resolve_neg().numpy())
        if isinstance(value, self._torch.dtype):
            return {"dtype": str(value).removeprefix("torch.")}
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, slice):
            return {"slice": [value.start, value.stop, value.step]}
        if value is Ellipsis:
            return {"ellipsis": True}
        if isinstance(value, (list, tuple)):
            return {type(value).__name__ if type(value) is list else "tuple": self._all(value)}
        if isinstance(value, dict):
            return {"dict": {str(name): self.encode(item) for name, item in value.items()}}
        return {"other": repr(value)[:100]}

    def _all(self, values: Any) -> list[Any]:
        return [self.encode(value) for value in values]


def _tensors(torch: Any, value: Any) -> list[Any]:
    """Returns the tensors in nested values, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in _tensors(torch, item)]
    return []


def _gradients(torch: Any, leaves: list[Any], ys: list[Any], writer: _Writer) -> dict[str, Any]:
    """Returns random gradients of the outputs, and what PyTorch makes of them."""
    random = np.random.default_rng(_SEED)
    gys: list[Any] = []
    for y in ys:
        moving = y.requires_grad and y.dtype.is_floating_point
        gys.append(random.uniform(-1, 1, tuple(y.shape)) if moving else None)
    live = [(y, gy) for y, gy in zip(ys, gys) if gy is not None]
    moving = [leaf for leaf in leaves if leaf.requires_grad]
    if not live or not moving:
        return {}
    seeds = [torch.asarray(gy, dtype=y.dtype) for y, gy in live]
    found = torch.autograd.grad([y for y, _ in live], moving, seeds, allow_unused=True)
    gxs = iter(found)
    return {
        "gys": [None if gy is None else writer.array(gy) for gy in gys],
        "gxs": [writer.encode(next(gxs)) if leaf.requires_grad else None for leaf in leaves],
    }


def _sample(torch: Any, op: Any, sample: Any, writer: _Writer) -> dict[str, Any]:
    given = [sample.input, list(sample.args), dict(sample.kwargs)]
    encoded = {"args": writer.encode([given[0], *given[1]]), "kwargs": writer.encode(given[2])}
    leaves = _tensors(torch, given)
    result = op(sample.input, *sample.args, **sample.kwargs)
    ys = _tensors(torch, result)
    encoded["ys"] = writer.encode(ys)
    if op.supports_autograd:
        encoded |= _gradients(torch, leaves, ys, writer)
    return encoded


def _write(torch: Any, ops: list[Any], dtype: str, path: Path) -> None:
    """Writes the samples of the variants of a function."""
    writer = _Writer(torch)
    samples: list[dict[str, Any]] = []
    for op in ops:
        kind = getattr(torch, dtype)
        if kind not in op.dtypes:
            continue
        torch.manual_seed(_SEED)
        every = list(op.sample_inputs("cpu", kind, requires_grad=op.supports_autograd))
        step = -(-len(every) // MOST_SAMPLES) or 1
        for number in range(0, len(every), step):
            encoded = _sample(torch, op, every[number], writer)
            samples.append({"variant": op.variant_test_name, "number": number, **encoded})
    if samples:
        arrays: Any = writer.arrays
        np.savez(f"{path}.npz", **arrays)
        Path(f"{path}.json").write_text(json.dumps(samples), encoding="utf-8")


def main(arguments: list[str]) -> None:
    """Writes the files."""
    folder, dtypes, *names = arguments
    # Messages of PyTorch about itself.
    warnings.simplefilter("ignore")
    # By name: type checkers of Chainer run where PyTorch is not installed.
    torch: Any = importlib.import_module("torch")
    op_db: Any = importlib.import_module(_OPINFO).op_db

    torch.set_num_threads(1)
    missing: list[str] = []
    errors: dict[str, str] = {}
    for name in names:
        ops = [op for op in op_db if op.name == name]
        if not ops:
            missing.append(name)
        for dtype in dtypes.split(",") if ops else ():
            try:
                _write(torch, ops, dtype, Path(folder) / f"{name}.{dtype}")
            except Exception as error:  # it belongs to one function, and is told there
                errors[f"{name}.{dtype}"] = f"{type(error).__name__}: {error}"
    print(json.dumps({"torch": torch.__version__, "missing": missing, "errors": errors}))


if __name__ == "__main__":
    main(sys.argv[1:])
