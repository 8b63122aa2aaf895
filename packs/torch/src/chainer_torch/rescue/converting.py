"""Writes a model as safetensors, ONNX and PyTorch source, and compares what they compute."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import chainer
import numpy as np
from chainer import Link, Variable, serializers
from chainer.utils import install_command

from chainer_torch.pytorch import as_tensor, torch
from chainer_torch.rescue.finding import Found
from chainer_torch.source.write import write_torch_source
from chainer_torch.trees import map_leaves

#: Greatest difference of outputs, relative to the largest number of the output, if that is above 1.
TOLERANCE = 1e-5

#: Modules that the files for a runtime need besides it.
_NEEDED = {"torch": ("safetensors",)}


@dataclass
class Result:
    """The files of one model, and how they compare.

    Attributes:
        name: Name of its files.
        link: Its class.
        size: Number of its trained numbers.
        files: The files that were written.
        differences: Greatest difference from Chainer's outputs, by runtime.
        remarks: Steps that were left out, with reasons.
    """

    name: str
    link: str
    size: int
    files: list[str] = field(default_factory=list)
    differences: dict[str, float] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    @property
    def is_converted(self) -> bool:
        """Whether all files are there, and no runtime computed something else."""
        close = all([d <= TOLERANCE for d in self.differences.values()])
        # Chainer's weights, ONNX, and source text with its weights.
        return len(self.files) == 4 and close


class CallOf(chainer.Chain):
    """A model with the arguments of a call, of which the arrays are inputs."""

    def __init__(self, model: Link, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        super().__init__()
        self.arguments = (args, kwargs)
        with self.init_scope():
            self.model = model

    def forward(self, *arrays: Any) -> Any:
        """Calls the model with other arrays in the places of the arrays."""
        # An exporter may call it more than once, and each call has to see the same random numbers.
        np.random.seed(0)
        waiting = iter(arrays)
        args, kwargs = map_leaves(
            lambda x: next(waiting) if isinstance(x, np.ndarray) else x, self.arguments
        )
        # Links return lists of lists; a graph has a row of outputs.
        return tuple([y for _, y in outputs_of(self.model(*args, **kwargs))])


def outputs_of(results: Any) -> list[tuple[str, Variable]]:
    """Returns the Variables among the results of a model, with names.

    Models of reinforcement learning return objects, such as values of actions or a distribution,
    which have the Variables as attributes.

    Args:
        results: Nested lists, tuples and mappings of Variables and objects.

    Returns:
        list: Pairs of a name and a Variable. The name of an attribute includes its class, such as
        ``"ActionValue.q_values"``; other Variables have empty names.
    """
    found: list[tuple[str, Variable]] = []

    def take(leaf: Any) -> None:
        if isinstance(leaf, Variable):
            found.append(("", leaf))
        # The attributes of a link are its parameters, not results.
        elif not isinstance(leaf, (Link, type)):
            attributes = getattr(leaf, "__dict__", {})
            found.extend(
                (f"{type(leaf).__name__}.{name}", value)
                for name, value in attributes.items()
                if isinstance(value, Variable)
            )

    map_leaves(take, results)
    return found


def convert(found: Found, name: str, folder: Path) -> Result:
    """Writes one model in all formats and compares them.

    Args:
        found: The model and a call of it.
        name: Name of the files.
        folder: Where they go.
    """
    # The caller's random numbers go on as if nothing had been converted.
    numbers = np.random.get_state()
    try:
        return _converted(found, name, folder)
    finally:
        np.random.set_state(numbers)


def _converted(found: Found, name: str, folder: Path) -> Result:
    """Writes one model; random numbers are drawn from NumPy's global generator."""
    link = found.link
    result = Result(name, f"{type(link).__module__}.{type(link).__qualname__}", found.size)
    link.to_device("@numpy")
    inputs: list[np.ndarray] = []
    map_leaves(
        lambda x: inputs.append(x) if isinstance(x, np.ndarray) else None,
        (found.args, found.kwargs),
    )
    is_plain = not found.kwargs and all([isinstance(x, np.ndarray) for x in found.args])
    model = CallOf(link, found.args, found.kwargs)
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        _try(
            result, "safetensors", lambda: _write_safetensors(link, folder / f"{name}.npz", result)
        )
        _reset(link, result)
        named = _try(result, "Chainer", lambda: outputs_of(link(*found.args, **found.kwargs)))
        if not named:
            if named == []:
                result.remarks.append("it returns no Variables")
            return result
    expected = [y.array for _, y in named]
    draws = _draws(link, found, expected, result)
    if draws:
        result.remarks.append("it draws random numbers, which are constants in the files")
    if any([name for name, _ in named]):
        outputs = ", ".join([name or "a Variable" for name, _ in named])
        result.remarks.append(f"it returns an object; the outputs of the files are {outputs}")
    with chainer.using_config("train", False):
        exported = link if is_plain and not draws and _is_flat(link, inputs, result) else model
        _try(result, "ONNX", lambda: _write_onnx(exported, inputs, folder / f"{name}.onnx", result))
        _try(
            result, "PyTorch", lambda: _write_torch(exported, inputs, folder / f"{name}.py", result)
        )
    if any([y.size and not np.isfinite(y).any() for y in expected]):
        result.remarks.append("an output of Chainer is all NaN or infinite: it cannot be compared")
    if f"{name}.onnx" in result.files:
        _compare(
            result, "onnxruntime", expected, lambda: _run_onnx(folder / f"{name}.onnx", inputs)
        )
    if f"{name}.py" in result.files:
        _compare(result, "torch", expected, lambda: _run_torch(folder / f"{name}.py", inputs))
    return result


def _try(result: Result, what: str, function: Callable[[], Any]) -> Any:
    """Calls a function; an error is a remark, because models of others may fail in any way."""
    try:
        return function()
    except Exception as error:
        text = str(error).strip().split("\n")[0]
        remark = f"{what}: {type(error).__name__}: {text}"
        if remark not in result.remarks:
            result.remarks.append(remark)
        return None


def _reset(link: Link, result: Result, seed: int = 0) -> None:
    """Makes recurrent links forget: the files begin without a state.

    Random numbers begin anew, too. In the files they are constants, such as the noise of a network
    that explores, and outputs can be compared for the same ones only.
    """
    np.random.seed(seed)
    for child in link.links():
        reset = getattr(child, "reset_state", None)
        if callable(reset):
            # Programs may not have called it: a model without a state does not need it.
            _try(result, f"reset_state of {type(child).__name__}", reset)


def _draws(link: Link, found: Found, expected: Sequence[np.ndarray], result: Result) -> bool:
    """Returns whether outputs depend on random numbers, and on nothing else that changes."""

    def repeats(seed: int) -> bool:
        _reset(link, result, seed)
        with chainer.using_config("train", False), chainer.no_backprop_mode():
            outputs = outputs_of(link(*found.args, **found.kwargs))
        return len(outputs) == len(expected) and all(
            np.array_equal(y.array, known, equal_nan=True)
            for (_, y), known in zip(outputs, expected, strict=True)
        )

    is_same = [_try(result, "a second call", lambda seed=seed: repeats(seed)) for seed in (0, 1)]
    return is_same == [True, False]


def _is_flat(link: Link, inputs: Sequence[np.ndarray], result: Result) -> bool:
    """Returns whether a link returns a Variable, or a tuple of them."""
    _reset(link, result)
    with chainer.no_backprop_mode():
        results = link(*inputs)
    row = results if isinstance(results, (tuple, list)) else [results]
    return all([isinstance(y, Variable) for y in row])


def _write_safetensors(link: Link, path: Path, result: Result) -> None:
    path = path.with_name(f"{path.stem}.chainer.safetensors")
    serializers.save_safetensors(str(path), link)
    result.files.append(path.name)


def _write_onnx(model: Link, inputs: list[np.ndarray], path: Path, result: Result) -> None:
    import onnx_chainer

    _reset(model, result)
    onnx_chainer.export(model, tuple(inputs), str(path))
    result.files.append(path.name)


def _write_torch(model: Link, inputs: list[np.ndarray], path: Path, result: Result) -> None:
    _reset(model, result)
    write_torch_source(model, tuple(inputs), path)
    result.files += [path.name, path.with_suffix(".safetensors").name]


def _compare(
    result: Result, runtime: str, expected: list[np.ndarray], run: Callable[[], list[np.ndarray]]
) -> None:
    needed = [runtime, *_NEEDED.get(runtime, ())]
    missing = [module for module in needed if importlib.util.find_spec(module) is None]
    if missing:
        result.remarks.append(f"not compared in {runtime}: {install_command(*missing)}")
        return
    outputs = _try(result, runtime, run)
    if outputs is None:
        result.differences[runtime] = float("inf")
        return
    if [y.shape for y in outputs] != [y.shape for y in expected]:
        result.remarks.append(f"{runtime}: the outputs have other shapes")
        result.differences[runtime] = float("inf")
        return
    differences = [_distance(a, b) for a, b in zip(outputs, expected, strict=True)]
    result.differences[runtime] = max(differences, default=0.0)


def _distance(found: np.ndarray, expected: np.ndarray) -> float:
    """Returns the greatest difference, relative to the largest number if that is above 1.

    It is infinite if NaN and infinities are in other places, or if all that is expected is NaN or
    infinite: such outputs tell nothing about a model.
    """
    usual = np.isfinite(expected)
    if not np.array_equal(found[~usual], expected[~usual], equal_nan=True):
        return float("inf")
    if expected.size and not usual.any():
        return float("inf")
    a, b = found[usual].astype("d"), expected[usual].astype("d")
    if not np.isfinite(a).all():
        return float("inf")
    return float(np.abs(a - b).max(initial=0) / max(np.abs(b).max(initial=0), 1))


def _run_onnx(path: Path, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    import onnxruntime  # type: ignore[import-not-found]

    options = onnxruntime.SessionOptions()
    # Errors only.
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_inputs()]
    outputs: list[Any] = list(session.run(None, dict(zip(names, inputs, strict=True))))
    return outputs


def _run_torch(path: Path, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    spec = importlib.util.spec_from_file_location(f"rescued_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Without this a folder __pycache__ would be among the files for the user.
    bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = bytecode
    with torch().no_grad():
        outputs = module.load()(*[as_tensor(x) for x in inputs])
    row = outputs if isinstance(outputs, tuple) else (outputs,)
    return [y.numpy() for y in row]
