"""NVRTC compiles every source for every combination of types, without a GPU."""

from __future__ import annotations

import itertools
import re
from importlib import resources

import pytest

from chainer.backends.cupy import compiler
from tests.backends.cupy import nvrtc

ARRAYS = ("float16", "bfloat16", "float", "double")
LABELS = ("signed char", "unsigned char", "short", "int", "long long", "unsigned long long")

#: Source -> types it needs beside those of all: name -> what it may be, given T and A.
OTHERS = {
    "activations.cu": {},
    "bias.cu": {},
    "softmax.cu": {},
    "cross_entropy.cu": {
        "L": lambda t, a: LABELS,
        "S": lambda t, a: (t, a) if t == "float16" else (a,),
    },
    "ctc.cu": {"L": lambda t, a: LABELS, "M": lambda t, a: ("long long",)},
    "windows.cu": {"P": lambda t, a: sorted({t, a})},
    "batch_normalization.cu": {"P": lambda t, a: sorted({t, a}), "R": lambda t, a: sorted({t, a})},
    "layer_normalization.cu": {"P": lambda t, a: sorted({t, a})},
    "response_normalization.cu": {},
    "reductions.cu": {},
    "rnn.cu": {},
    "roi_poolings.cu": {},
    "sampling.cu": {"L": lambda t, a: LABELS},
    "optimizers.cu": {"G": lambda t, a: ("float", "float16", "bfloat16") if t == "float" else (t,)},
}


def combinations():
    for source, others in OTHERS.items():
        for t in ARRAYS:
            a = "double" if t == "double" else "float"
            choices = [choose(t, a) for choose in others.values()]
            for picked in itertools.product(*choices):
                names = tuple(zip(others, picked, strict=True))
                yield source, (("T", t), ("A", a), ("Index", "int"), *names)
            first = tuple(zip(others, [choice[0] for choice in choices], strict=True))
            yield source, (("T", t), ("A", a), ("Index", "long long"), *first)


# A third of a second each. Each source is compiled, and each combination of types, for some source.
@pytest.mark.sampled(4)
@pytest.mark.skipif(nvrtc.library() is None, reason="nvidia-cuda-nvrtc is not installed")
@pytest.mark.parametrize(
    ("source", "types"),
    list(combinations()),
    ids=lambda v: v if isinstance(v, str) else "-".join(x for _, x in v),
)
def test_compiles(source, types):
    code = compiler.source_code(source, types)
    ptx = nvrtc.compile_to_ptx(code, "-std=c++17", "--gpu-architecture=compute_75")
    kernels = set(re.findall(r"\.visible \.entry (\w+)\(", ptx))
    assert kernels >= set(re.findall(r'extern "C" __global__ void (\w+)\(', code)) - {"name"}
    assert kernels


def test_every_source_is_compiled():
    files = resources.files("chainer.backends.cupy") / "sources"
    assert {f.name for f in files.iterdir() if f.name.endswith(".cu")} == set(OTHERS)


@pytest.mark.skipif(nvrtc.library() is None, reason="nvidia-cuda-nvrtc is not installed")
def test_errors_are_errors():
    with pytest.raises(nvrtc.CompilationError, match="undefined"):
        nvrtc.compile_to_ptx('extern "C" __global__ void f(float* x) { x[0] = missing; }')
