"""Runs the programs of ``tests/clients/calls`` under release 7.8.1 and here, and compares.

``python -m tests.clients --calls 3`` calls it. Release 7.8.1 gets an environment of its own with
the same releases of the packages, on Python 3.7.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scripts.setup_peers import REQUIREMENTS, find_python37
from tests.clients.differences import difference, uncalled

WORKER = Path(__file__).with_name("worker.py")

#: What the packages need on Python 3.7, by package: requirements, then those without dependencies.
NEEDED: dict[str, tuple[list[str], list[str]]] = {
    "chainerrl": (["cached-property", "cloudpickle"], ["gym==0.17.3", "chainerrl==0.8.0"]),
    "chainer_chemistry": (
        ["pandas", "scikit-learn", "joblib", "tqdm", "rdkit-pypi"],
        ["chainer-chemistry==0.7.1"],
    ),
    "chainercv": (["opencv-python-headless", "Cython"], ["chainercv==0.13.1"]),
}

#: Functions and classes that no program calls: full names, and why.
LEFT_OUT = {
    r"download|\.get_|datasets\.molnet\.molnet\.|pretrained_models|retrieve": "needs a network",
    r"datasets\.(ade20k|camvid|cityscapes|coco|cub|online|sbd|voc)\b": "needs data of a network",
    r"\bvis|visualizer|\.render|make_rendered|draw_comp|ProgressHook": "draws or prints",
    r"\.(ale|atari_wrappers|monitor|ask_yes_no|is_return_code)\b": "needs a game or a terminal",
    r"utils\.testing|train_agent\.(ask|save)|SDN": "checks of the package's own tests",
    r"_coco|VGG16|YOLO|Darknet53|FCIS|PSPNet|Xception65|Fast|MaskRCNN|ResNet|ResNeXt|SSD|DeepLab": (
        "a whole network, which the jobs train"
    ),
    r"\.(Abstract|Base)\w+$|\.(Agent|Policy|VFunction|Explorer|Env|ActionValue)$": "base class",
}

#: Differences that are not Chainer's: part of a program, the difference (regular expression), why.
INTENDED = [
    ("SparseGraphDataset", "dtype int32 / int64", "NumPy 2: int32 array + int64 scalar"),
    (
        "class Updates",
        "AttributeError / RuntimeError",
        "an uninitialized parameter: the error here names it",
    ),
]


def install(environment: Path, packages: Iterable[str]) -> bool:
    """Makes the environment of release 7.8.1; returns False if something cannot be installed."""
    python = environment / "bin" / "python"
    if not python.exists():
        found = find_python37()
        if found is None:
            print("no Python 3.7: see scripts/setup_peers.py", file=sys.stderr)
            return False
        subprocess.run([str(found), "-m", "venv", str(environment)], check=True)
    commands = [["setuptools<60", "wheel"], REQUIREMENTS["chainer7"]]
    for package in packages:
        needed, alone = NEEDED[package]
        commands += [needed, *(["--no-deps", "--no-build-isolation", name] for name in alone)]
    for arguments in commands:
        command = [str(python), "-m", "pip", "install", "--quiet", *arguments]
        if subprocess.run(command, check=False).returncode != 0:
            print(f"installation failed: pip install {' '.join(arguments)}", file=sys.stderr)
            return False
    return True


def compare(peer: Path, ours: Path, packages: Iterable[str], first: int, seeds: int) -> int:
    """Runs all programs under both releases and prints the differences.

    Args:
        peer: Interpreter with release 7.8.1 and the packages.
        ours: Interpreter with this release and the packages.
        packages: Import names.
        first: First seed.
        seeds: Number of seeds of each program.

    Returns:
        int: Number of differences that are not intended.
    """
    total = 0
    for package in packages:
        arguments = [package, str(first), str(first + seeds)]
        names, theirs = _answers(peer, arguments)
        _, mine = _answers(ours, arguments)
        counts = {"equal": 0, "equal errors": 0, "not Chainer's": 0, "DIFFERENT": 0}
        for a, b in zip(theirs, mine, strict=True):
            assert (a["program"], a["seed"]) == (b["program"], b["seed"])
            found = difference(a, b)
            if found is None:
                counts["equal errors" if "error" in a else "equal"] += 1
            elif reason_of(a["program"], found):
                counts["not Chainer's"] += 1
            else:
                counts["DIFFERENT"] += 1
                print(f"{package}, seed {a['seed']}: {found}\n{a['program']}\n")
        programs = {a["program"] for a in theirs}
        rest = uncalled(names, programs, "|".join(LEFT_OUT))
        print(f"{package}: {len(programs)} programs, {seeds} seeds: {counts}")
        print(f"  not called: {', '.join(rest)}")
        total += counts["DIFFERENT"]
    return total


def reason_of(program: str, found: str) -> str | None:
    """Returns why a difference is not Chainer's, or None."""
    for part, pattern, reason in INTENDED:
        if part in program and re.search(pattern, found):
            return reason
    return None


def _answers(python: Path, arguments: list[str]) -> tuple[dict[str, list[str]], list[Any]]:
    variables = dict(os.environ, MPLBACKEND="Agg", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    variables.pop("PYTHONPATH", None)
    done = subprocess.run(
        [str(python), str(WORKER), *arguments],
        env=variables,
        cwd="/",
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    first, *rest = [json.loads(line) for line in done.stdout.splitlines()]
    return first["names"], rest
