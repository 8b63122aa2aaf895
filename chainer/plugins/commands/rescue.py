"""``chainer rescue``: writes the models of an old project as safetensors, ONNX and PyTorch source.

PROJECT is a program, which runs in a copy of its folder until it has called its models 50 times, or
a file and a class. Files of weights in the folder (npz, HDF5, snapshots, safetensors) are loaded
into the models that they fit; pickles are not read. ``report.md`` in the output folder tells what
was written, and how far the outputs differ in onnxruntime and PyTorch, where these are installed.

It needs the distribution chainer-torch with its extra onnx. The exit status is 1 if a model was not
converted, 2 if no model was found or an argument does not fit.

Example:
    ::

        chainer rescue train_mnist.py --epoch 1
        chainer rescue --shape 1,3,32,32 net.py:Net 10
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

from chainer.core.installation import install_command

HELP = "write the models of an old project for PyTorch, as ONNX and as safetensors"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the subcommand."""
    parser.add_argument("project", metavar="PROJECT", help="train.py, or net.py:Net")
    rest = parser.add_argument(
        "arguments",
        metavar="ARGUMENT",
        nargs=argparse.REMAINDER,
        help="arguments of the program, or of the class as JSON",
    )
    # There may be none; argparse names it among the arguments that are required.
    rest.required = False
    parser.add_argument(
        "--output", metavar="D", default="rescued", help="folder for the files (default: rescued)"
    )
    parser.add_argument(
        "--shape",
        metavar="N,N,..",
        action="append",
        default=[],
        help="shape of an input of the class, such as 1,3,32,32 or 1,10:int32; once for each",
    )
    parser.add_argument(
        "--weights",
        metavar="FILE",
        action="append",
        default=[],
        help="a file of weights that is not in the folder of the project",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=60.0,
        metavar="S",
        help="the program is stopped after this time (default: 60)",
    )


def run(options: argparse.Namespace) -> int:
    """Writes the models and prints a line for each."""
    for module in ("chainer_torch", "onnx_chainer"):
        if importlib.util.find_spec(module) is None:
            command = install_command("chainer-torch[onnx]")
            print(f"chainer rescue needs {module}: {command}", file=sys.stderr)
            return 2
    # Only this command knows the distribution.
    project: Any = importlib.import_module("chainer_torch.rescue.project")
    try:
        results = project.rescue(
            options.project,
            options.arguments,
            output=options.output,
            shapes=options.shape,
            weights=options.weights,
            seconds=options.seconds,
        )
    except (OSError, ValueError) as error:
        print(f"chainer rescue: {error}", file=sys.stderr)
        return 2
    for result in results:
        state = "converted" if result.is_converted else "not converted"
        print(f"{result.name} ({result.link}, {result.size} numbers): {state}")
        for remark in result.remarks:
            print(f"  {remark}")
    print(f"{options.output}/report.md")
    if not results:
        # Why: mostly an error of the program, such as data that are not there.
        report = Path(options.output, "report.json").read_text(encoding="utf-8")
        end = json.loads(report)["program"]
        print(f"chainer rescue: the program called no model; {end}", file=sys.stderr)
        return 2
    return int(any([not result.is_converted for result in results]))
