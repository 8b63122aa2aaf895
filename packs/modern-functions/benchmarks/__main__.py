"""Forward and backward of the functions, against compositions of Chainer's own and PyTorch.

    python -m benchmarks [--threads 1] [--seconds 0.6] [NAME ...]

Prints milliseconds and ratios; a ratio above 1 means that this distribution is faster. Rounds of
all peers alternate, and the fastest round counts.
"""

from __future__ import annotations

import argparse
import os
import sys
import time


def _arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="start of the names of cases; all by default")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.6, help="time for each peer of a case")
    return parser.parse_args()


ARGS = _arguments()
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(ARGS.threads)

import numpy as np  # noqa: E402
from chainer_modern import functions as modern  # noqa: E402

import chainer  # noqa: E402
from benchmarks import compositions  # noqa: E402

try:
    import torch
    import torch.nn.functional as T
except ImportError:
    torch = T = None
else:
    torch.set_num_threads(ARGS.threads)


def _arrays(*shapes):
    random = np.random.default_rng(0)
    return [random.standard_normal(shape, dtype=np.float32) for shape in shapes]


def _heads(array):
    """(B, T, H, D) as (B, H, T, D), as multi-head attention has it."""
    return array.transpose(0, 2, 1, 3)


def _cases():
    """Yields name, arrays, and function of this distribution, composition, and PyTorch's."""
    big = _arrays((256, 4096))
    for name in ("gelu", "silu", "mish", "hard_swish"):
        peer = T and getattr(T, name.replace("_", ""))
        yield f"{name} 1M", big, getattr(modern, name), getattr(compositions, name), peer
    yield (
        "gelu tanh 1M",
        big,
        lambda x: modern.gelu(x, approximate=True),
        compositions.gelu_tanh,
        lambda x: T.gelu(x, approximate="tanh"),
    )
    yield (
        "group norm (16, 64, 32, 32), 8 groups",
        _arrays((16, 64, 32, 32), (64,), (64,)),
        lambda x, g, b: modern.group_normalization(x, 8, g, b),
        lambda x, g, b: compositions.group_normalization(x, 8, g, b),
        lambda x, g, b: T.group_norm(x, 8, g, b),
    )
    yield (
        "instance norm (16, 64, 32, 32)",
        _arrays((16, 64, 32, 32), (64,), (64,)),
        modern.instance_normalization,
        lambda x, g, b: compositions.group_normalization(x, 64, g, b),
        lambda x, g, b: T.instance_norm(x, weight=g, bias=b),
    )
    yield (
        "rms norm (32, 128, 256)",
        _arrays((32, 128, 256), (256,)),
        modern.rms_normalization,
        compositions.rms_normalization,
        lambda x, g: T.rms_norm(x, (x.shape[-1],), g, eps=1e-6),
    )
    for shape, causal in (
        ((16, 64, 4, 32), True),
        ((8, 128, 8, 64), False),
        ((2, 512, 8, 64), False),
        ((2, 512, 8, 64), True),
        ((1, 2048, 4, 64), True),
    ):
        b, t, h, d = shape
        yield (
            f"attention B={b} H={h} T={t} D={d}{' causal' if causal else ''}",
            [_heads(array) for array in _arrays(shape, shape, shape)],
            lambda q, k, v, causal=causal: modern.scaled_dot_product_attention(
                q, k, v, causal=causal
            ),
            lambda q, k, v, causal=causal: compositions.attention(q, k, v, causal),
            lambda q, k, v, causal=causal: T.scaled_dot_product_attention(
                q, k, v, is_causal=causal
            ),
        )
    t = np.random.default_rng(0).integers(0, 1000, 512).astype(np.int32)
    yield (
        "label smoothing (512, 1000)",
        _arrays((512, 1000)),
        lambda x: modern.label_smoothed_cross_entropy(x, t),
        lambda x: compositions.label_smoothed_cross_entropy(x, t),
        lambda x: T.cross_entropy(x, torch.from_numpy(t).long(), label_smoothing=0.1),
    )
    angles = np.arange(128)[:, None] * 10000 ** (-np.arange(32) / 32)
    cos, sin = (
        np.broadcast_to(f(angles).astype(np.float32), (8, 8, 128, 32)) for f in (np.cos, np.sin)
    )
    yield (
        "rotary (8, 8, 128, 64)",
        _arrays((8, 8, 128, 64)),
        modern.rotary_embedding,
        lambda x: compositions.rotary_embedding(x, cos, sin),
        None,
    )


def _chainer_step(function, arrays):
    def step():
        xs = [chainer.Variable(a) for a in arrays]
        y = function(*xs)
        y.grad = np.ones_like(y.array)
        y.backward()

    return step


def _torch_step(function, arrays):
    tensors = [torch.from_numpy(a).requires_grad_() for a in arrays]

    def step():
        y = function(*tensors)
        torch.autograd.grad(y, tensors, torch.ones_like(y))

    return step


def _measure(steps):
    best = dict.fromkeys(steps, float("inf"))
    for step in steps.values():
        step()
    end = time.perf_counter() + ARGS.seconds * len(steps)
    while time.perf_counter() < end:
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            best[name] = min(best[name], time.perf_counter() - start)
    return {name: seconds * 1e3 for name, seconds in best.items()}


def main():
    if torch is None:
        print("PyTorch is not installed: compared with compositions only", file=sys.stderr)
    print(f"{'forward and backward':40}{'ms':>8}  {'composition':>16}  {'PyTorch':>16}")
    for name, arrays, ours, composition, peer in _cases():
        if ARGS.names and not name.startswith(tuple(ARGS.names)):
            continue
        steps = {"ours": _chainer_step(ours, arrays)}
        steps["composition"] = _chainer_step(composition, arrays)
        if torch is not None and peer is not None:
            steps["torch"] = _torch_step(peer, arrays)
        times = _measure(steps)
        columns = [
            f"{times[peer]:8.2f} {times[peer] / times['ours']:6.2f}x" if peer in times else "-"
            for peer in ("composition", "torch")
        ]
        print(f"{name:40}{times['ours']:8.2f}  {columns[0]:>16}  {columns[1]:>16}", flush=True)


if __name__ == "__main__":
    main()
