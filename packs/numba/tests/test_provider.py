"""How the provider is chosen."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec

import chainer
import numpy as np
import pytest
from chainer.backends.operations.poolings import PoolingGeometry

from chainer_numba import speedups
from chainer_numba.pack import KERNELS

#: Operations that are here: one belongs to chainer-models.
OPERATIONS = sorted(set(KERNELS) - (set() if find_spec("chainer_models") else {"packed_product"}))

LARGE = np.zeros((512, 512), np.float32)


def run(program: str, **environment: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_installing_changes_nothing():
    explanation = chainer.explain("softmax", LARGE, axis=1)
    assert explanation.chosen.provider == "reference"
    assert "name 'numba' in chainer.config.kernels" in str(explanation)


def test_a_context_manager_enables_it(with_numba):
    assert chainer.explain("softmax", LARGE, axis=1).chosen.provider == "numba"


def test_small_and_wide_arrays_are_declined_with_a_reason(with_numba):
    small = chainer.explain("softmax", LARGE[:2, :3], axis=1)
    assert small.chosen.provider == "reference"
    assert "the reference is faster for less than" in str(small)
    wide = chainer.explain("softmax", LARGE.astype(np.float64), axis=1)
    assert "float64 is left to the reference" in str(wide)


@pytest.mark.parametrize(("height", "provider"), [(1 << 16, "numba"), (1 << 17, "reference")])
def test_positions_in_large_images_are_declined(with_numba, height, provider):
    x = np.broadcast_to(np.float32(0), (1, 1, height, 1 << 15))
    geometry = PoolingGeometry((2, 2), (2, 2), (0, 0))
    found = chainer.explain("max_pooling_nd", x, out_size=(height // 2, 1 << 14), geometry=geometry)
    assert found.chosen.provider == provider
    assert ("more than 2**31 pixels need 64 bits" in str(found)) == (provider == "reference")


def test_environment_enables_it_and_numba_is_imported_by_the_first_call():
    program = """
import sys
import chainer, numpy as np
import chainer.functions as F
x = np.ones((512, 512), np.float32)
assert "numba" not in sys.modules
F.relu(x[:2])
assert "numba" not in sys.modules
F.relu(x)
print("numba" in sys.modules, chainer.explain("relu", x).chosen.provider)
"""
    assert run(program, CHAINER_KERNELS="numba").split() == ["True", "numba"]
    assert run(program, CHAINER_KERNELS="").split() == ["False", "reference"]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_kernel_has_the_methods_of_its_operation(operation):
    declared = chainer.kernel.get_operation(operation)
    declared.explain(np.zeros(1, np.float32))  # looks for the kernels of all plugins
    [kernel] = [k for k in declared.kernels_for(np.ndarray) if k.provider == "numba"]
    implementation = declared._load(kernel, chainer.get_device("@numpy").backend)
    assert type(implementation).__module__.startswith("chainer_numba.")


@pytest.mark.parametrize("operation", sorted(KERNELS))
def test_every_kernel_declares_a_speedup(operation):
    speedup = getattr(speedups, operation)
    steps = ((0, speedup),) if isinstance(speedup, float) else speedup.steps
    sizes, ratios = zip(*steps, strict=True)
    assert list(sizes) == sorted(sizes)
    assert min(ratios) >= 1  # with 1, accelerate leaves the calls to the reference


def test_code_is_kept_on_disk(tmp_path):
    program = """
import chainer, numpy as np
import chainer.functions as F
with chainer.using_config("kernels", ("numba",)):
    F.relu(np.ones((512, 512), np.float32))
from chainer_numba.activations import relu
print(sum(relu.stats.cache_hits.values()), sum(relu.stats.cache_misses.values()))
"""
    assert run(program, NUMBA_CACHE_DIR=str(tmp_path)).split() == ["0", "1"]
    assert run(program, NUMBA_CACHE_DIR=str(tmp_path)).split() == ["1", "0"]
