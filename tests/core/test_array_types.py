"""Helpers of ``chainer`` about classes of arrays, as earlier releases have them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import chainer
from chainer.backends.ideep import library as ideep_library
from chainer.core.arrays.backend import get_device
from tests.core.nodes import f32, var


def test_array_types():
    types = chainer.get_array_types()
    assert types[0] is np.ndarray
    assert isinstance(f32(1), types)
    assert isinstance(get_device("@strict:0").send(f32(1)), types)
    assert not isinstance(var(1), types)


def test_libraries_of_plugins_are_not_imported():
    code = "import sys, chainer; chainer.get_array_types(); print('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_cpu_array_types(monkeypatch):
    types = chainer.get_cpu_array_types()
    assert isinstance(f32(1), types)
    assert not isinstance(get_device("@strict:0").send(f32(1)), types)
    monkeypatch.setattr(ideep_library, "find", lambda: (None, "it is not installed"))
    assert chainer.get_cpu_array_types() == (np.ndarray,)


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ([], True),
        ([None, None], True),
        ([f32(1), None, np.zeros(2)], True),
        ([1], False),
        ([f32(1), 1.0], False),
        ([var(1)], False),
        ([np.float32(1)], False),
    ],
)
def test_compatible_arrays(arrays, expected):
    assert chainer.is_arrays_compatible(arrays) is expected


def test_arrays_of_several_backends():
    other = get_device("@strict:0").send(f32(1))
    assert chainer.is_arrays_compatible([other, None, other])
    assert not chainer.is_arrays_compatible([other, f32(1)])
    if ideep_library.find()[0] is not None:
        assert chainer.is_arrays_compatible([f32(1), get_device("@intel64").send(f32(1))])


def test_compute_mode():
    assert chainer.get_compute_mode() is None
    with chainer.using_config("compute_mode", "cudnn_fast"):
        assert chainer.get_compute_mode() == "cudnn_fast"


def test_cudnn_settings_of_the_package():
    assert chainer.should_use_cudnn is chainer.backends.cuda.should_use_cudnn
    assert (
        chainer.should_use_cudnn_tensor_core is chainer.backends.cuda.should_use_cudnn_tensor_core
    )


def test_bad_level_without_cudnn(monkeypatch):
    monkeypatch.setitem(vars(chainer.backends.cuda), "cudnn_enabled", False)
    assert chainer.should_use_cudnn("no such level") is False
    assert chainer.should_use_cudnn_tensor_core(np.float16) is False
