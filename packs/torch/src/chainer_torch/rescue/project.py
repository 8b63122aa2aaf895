"""``rescue``: all models of a project, and a report."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from chainer import Link

from chainer_torch.rescue.converting import Result, convert
from chainer_torch.rescue.finding import Found, own_modules, run_program
from chainer_torch.rescue.weights import WeightFile, files_of, match_files

#: Larger projects are not copied.
_MOST_BYTES = 2 * 10**9

#: Names that are not copied.
_IGNORED = shutil.ignore_patterns(".git", ".venv*", "__pycache__", "node_modules")


def rescue(
    project: str,
    arguments: Sequence[str] = (),
    *,
    output: str = "rescued",
    shapes: Sequence[str] = (),
    weights: Sequence[str] = (),
    seconds: float = 60.0,
) -> list[Result]:
    """Finds the models of an old project and writes them as safetensors, ONNX and PyTorch source.

    A program runs in a copy of its folder until its models were called 50 times. Its files of
    weights are loaded into the models that they fit. Folders outside of it to which links lead are
    not copied: the program sees them, and may write to them. ``report.md`` and ``report.json`` in
    the output folder tell what was written, and how far outputs differ in onnxruntime and PyTorch.

    Args:
        project (str): A program (``train.py``), or a file and a class (``net.py:Net``).
        arguments (list of str): Arguments of the program; for a class, its arguments as JSON.
        output (str): Folder for the files.
        shapes (list of str): For a class: shape and dtype of each input, such as
            ``"1,3,32,32"`` or ``"1,10:int32"``.
        weights (list of str): Files of weights beside the files in the folder of the project.
        seconds (float): Longest time of the program. Outside of the main thread, and on Windows, it
            is looked at after calls of models only.

    Returns:
        list of Result: A result for each model.

    Raises:
        FileNotFoundError: If the program is not there.
        ValueError: If an argument does not fit, or the folder is too large to be copied.
    """
    if not 0 < seconds < math.inf:
        raise ValueError(f"seconds must be positive and finite, got {seconds}")
    file, _, name = project.partition(":")
    path = Path(file).resolve()
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not a file: give a program, or file.py:Class")
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    if name:
        found, end = [_made(path, name, arguments, shapes)], "a class was given"
    else:
        with tempfile.TemporaryDirectory() as copies:
            found, end = run_program(_copied(path, Path(copies)), arguments, seconds=seconds)
    extra = [Path(w).resolve() for w in weights]
    # The output may be below the project: it has files of weights that earlier calls wrote.
    own = [p for p in files_of(path.parent) if folder.resolve() not in p.parents]
    files = match_files([*extra, *own], [f.link for f in found])
    taken: set[str] = set()
    results = [convert(call, _name(call.link, taken), folder) for call in found]
    _write_report(folder, project, end, results, files)
    return results


def _copied(program: Path, folder: Path) -> Path:
    """Copies the folder of a program, so that it does not change its files."""
    size, links = 0, []
    for base, folders, files in os.walk(program.parent):
        left = _IGNORED(base, [*folders, *files])
        folders[:] = [name for name in folders if name not in left]
        links += [Path(base, name) for name in folders if os.path.islink(os.path.join(base, name))]
        paths = [os.path.join(base, name) for name in files if name not in left]
        size += sum([os.path.getsize(path) for path in paths if os.path.isfile(path)])
    if size > _MOST_BYTES:
        raise ValueError(
            f"{program.parent} has {size / 1e9:.1f} GB and is copied before the program runs: put "
            "the program and what it reads into a folder of its own"
        )
    copy = folder / program.parent.name
    shutil.copytree(program.parent, copy, ignore=_not_copied)
    for link in links:
        # A link into the project leads into the copy; the data of others are not copied.
        target = Path(os.path.realpath(link))
        inside = copy / os.path.relpath(target, program.parent)
        is_copied = target.is_relative_to(program.parent) and inside.is_dir()
        (copy / link.relative_to(program.parent)).symlink_to(inside if is_copied else target, True)
    return copy / program.name


def _not_copied(folder: str, names: list[str]) -> set[str]:
    """Returns the names in a folder that ``copytree`` leaves out.

    Links to folders may lead in a circle, and a pipe or a device has no end.
    """
    left = _IGNORED(folder, names)
    for name in names:
        path = os.path.join(folder, name)
        is_folder = os.path.isdir(path) and not os.path.islink(path)
        if not is_folder and not os.path.isfile(path):
            left.add(name)
    return left


def _made(path: Path, name: str, arguments: Sequence[str], shapes: Sequence[str]) -> Found:
    """Makes a link of a class and the sample that it is called with."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # The file may import its neighbors, as when it is run, also when the link is made or called.
    with own_modules(path.parent):
        # Dataclasses look up the module of their class, as an import would have made it.
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        if not hasattr(module, name):
            raise ValueError(f"{path} has no class {name!r}")
        link = getattr(module, name)(*[json.loads(a) for a in arguments])
        if not isinstance(link, Link):
            made = type(link).__name__
            raise ValueError(f"{name} of {path} must make a chainer.Link, got {made}")
        if not shapes:
            raise ValueError(
                "shapes must name the inputs of the class, such as 1,3,32,32; "
                "on the command line: --shape 1,3,32,32"
            )
        inputs = tuple([_sample(text) for text in shapes])
        # The call gives lengths to parameters that wait for their inputs.
        link(*inputs)
    return Found(link, inputs, {})


def _sample(text: str) -> np.ndarray:
    matched = re.fullmatch(r"(\d+(?:,\d+)*)(?::(\w+))?", text)
    if matched is None:
        raise ValueError(f"a shape must be like 1,3,32,32 or 1,10:int32, got {text!r}")
    shape = tuple([int(n) for n in matched[1].split(",")])
    dtype = np.dtype(matched[2] or "float32")
    if dtype.kind in "iu":
        # 0 is an index of any table.
        return np.zeros(shape, dtype)
    # The same sample each time: reports can be compared.
    return np.random.RandomState(0).standard_normal(shape).astype(dtype)


def _name(link: Link, taken: set[str]) -> str:
    """Returns a name of files that no other model has."""
    base = re.sub(r"(?<!^)(?=[A-Z][a-z])", "_", type(link).__name__).lower().strip("_")
    base = re.sub(r"\W", "_", base)
    name, i = base, 2
    while name in taken:
        name, i = f"{base}_{i}", i + 1
    taken.add(name)
    return name


def _write_report(
    folder: Path, project: str, end: str, results: list[Result], files: list[WeightFile]
) -> None:
    converted = sum([r.is_converted for r in results])
    lines = [
        f"# Models of {project}",
        "",
        f"The program: {end}. {converted} of {len(results)} models were converted.",
        "",
        "| model | class | numbers | files | difference in onnxruntime | in PyTorch |",
        "|---|---|---:|---|---:|---:|",
    ]
    for r in results:
        cells = [_number(r.differences.get(name)) for name in ("onnxruntime", "torch")]
        row = [r.name, f"`{r.link}`", str(r.size), ", ".join(r.files), *cells]
        lines.append(f"| {' | '.join(row)} |")
    remarks = [f"- {r.name}: {remark}" for r in results for remark in r.remarks]
    lines += ["", "## Remarks", "", *(remarks or ["None."])]
    lines += ["", "## Files of weights", ""]
    for f in files:
        taken = (
            f"{results[f.model].name}{f' at {f.place}' if f.place else ''}"
            if f.model is not None
            else ""
        )
        lines.append(f"- {f.path}: {', '.join([t for t in (taken, f.remark) if t])}")
    if not files:
        lines.append("None were found: the weights are those of the run.")
    (folder / "report.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    table: dict[str, Any] = {
        "project": project,
        "program": end,
        "models": [{**asdict(r), "is_converted": r.is_converted} for r in results],
        "files": [{**asdict(f), "path": str(f.path)} for f in files],
    }
    (folder / "report.json").write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")


def _number(difference: float | None) -> str:
    return "-" if difference is None else f"{difference:.1e}"
