"""Libraries whose arrays are immutable: the contract, and some functions with gradients."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
LIBRARIES = {
    "immutable": "array_api_strict",
    "dask": "dask",
    "ndonnx": "ndonnx",
    "sparse": "sparse",
    "mlx": "mlx",
}

#: sparse lacks cumulative sums, and warns about divisions of elements that it does not store.
CONTRACTS = {"sparse": "contract_transfers or contract_variables"}
ALL_CONTRACTS = "contract_arrays or contract_transfers or contract_variables"

#: Functions that write to parts of arrays, read by arrays, and reduce.
FUNCTIONS = "[softmax- or [concat- or [get_item- or [linear- or [max_pooling_2d- or [im2col-"

#: Shorter: sparse compiles each operation at first use, MLX takes minutes for windows.
SHORTER = {
    "sparse": "[softmax- or [concat-",
    "mlx": "[softmax- or [concat- or [get_item- or [linear-",
}


def run(name: str, chosen: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short"]
    command += ["-p", "functional_libraries", "--pyargs", "chainer.testing.conformance"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    environment["PYTHONPATH"] = os.pathsep.join([str(HERE), environment.get("PYTHONPATH", "")])
    done = subprocess.run(
        [*command, f"--chainer-backend={name}", "--chainer-quick", "-k", chosen],
        cwd=HERE,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]


@pytest.mark.parametrize("name", LIBRARIES)
def test_arrays_can_be_written(name: str) -> None:
    if importlib.util.find_spec(LIBRARIES[name]) is None:
        pytest.skip(f"{LIBRARIES[name]} is not installed")
    run(name, f"({CONTRACTS.get(name, ALL_CONTRACTS)}) and not new_process")


@pytest.mark.parametrize("name", LIBRARIES)
def test_functions(name: str) -> None:
    if importlib.util.find_spec(LIBRARIES[name]) is None:
        pytest.skip(f"{LIBRARIES[name]} is not installed")
    run(name, SHORTER.get(name, FUNCTIONS))
