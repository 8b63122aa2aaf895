"""The public backend modules are attributes after ``import chainer`` alone."""

import subprocess
import sys

import pytest

import chainer.backends


@pytest.mark.parametrize("name", ["cuda", "intel64"])
def test_attribute(name):
    code = f"import chainer; print(chainer.backends.{name}.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"chainer.backends.{name}"
    assert name in dir(chainer.backends)


def test_other_attributes():
    with pytest.raises(AttributeError, match=r"chainer\.backends.*no attribute 'opencl'"):
        _ = chainer.backends.opencl
