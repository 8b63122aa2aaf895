"""Sources of CUDA kernels for patches of N-dimensional images (``chainer.utils.conv_nd_kernel``).

Programs of release 7 pass them to ``chainer.backends.cuda.elementwise``:

    kernel = cuda.elementwise(*Im2colNDKernel.generate(2))
    kernel(img.reduced_view(), *sizes, *outs, *ksize, *stride, *pad, *dilate, col)

The functions of Chainer use the kernels of the backends instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

#: Parameters, results, operation and name: the arguments of ``elementwise``.
Kernel = tuple[str, str, str, str]


def vars(prefix: str, n: int) -> list[str]:
    """Returns the names ``prefix_0, prefix_1, ...``."""
    return [f"{prefix}_{i}" for i in range(n)]


def flat_index(indexes: Sequence[str], lengths: Sequence[str], first: str) -> str:
    """Returns the expression of a position in a flat array.

    Args:
        indexes: Expressions of the indexes along the axes after the first.
        lengths: Lengths of these axes.
        first: Index along the first axis.
    """
    position = first
    for index, length in zip(indexes, lengths, strict=True):
        position = f"({position}) * {length} + {index}"
    return position


def _split(names: Sequence[str], lengths: Sequence[str]) -> list[str]:
    """Returns statements that divide the rest of the flat index into indexes, last axis first."""
    lines: list[str] = []
    for name, length in zip(reversed(names), reversed(lengths), strict=True):
        lines += [f"int {name} = rest % {length};", f"rest /= {length};"]
    return lines


def _parameters(ndim: int, source: str) -> str:
    names = [name for prefix in ("d", "out", "k", "s", "p", "di") for name in vars(prefix, ndim)]
    return ", ".join([f"raw T {source}", *[f"int32 {name}" for name in names]])


class Im2colNDKernel:
    """Kernel that copies patches: each element of ``col`` is one of ``img`` or 0."""

    @staticmethod
    @cache
    def generate(ndim: int) -> Kernel:
        """Returns the arguments of ``elementwise`` for images of that many spatial axes.

        ``img`` has the shape ``(n, c, d_0, ...)``, ``col`` ``(n, c, k_0, ..., out_0, ...)``.
        """
        d, out, k, s, p, di = (vars(name, ndim) for name in ("d", "out", "k", "s", "p", "di"))
        outputs, kernels, places = (vars(name, ndim) for name in ("at", "el", "in"))
        lines = ["int rest = i;", *_split(outputs, out), *_split(kernels, k)]
        inside: list[str] = []
        for j in range(ndim):
            lines.append(
                f"int {places[j]} = {outputs[j]} * {s[j]} - {p[j]} + {kernels[j]} * {di[j]};"
            )
            inside += [f"0 <= {places[j]}", f"{places[j]} < {d[j]}"]
        # The rest of the index is the sample and the channel.
        index = flat_index(places, d, "rest")
        lines.append(f"col = ({' && '.join(inside)}) ? img[{index}] : T(0);")
        return _parameters(ndim, "img"), "T col", "\n".join(lines), f"im2col_{ndim}d"


class Col2imNDKernel:
    """Kernel that adds patches up: the transposed map of :class:`Im2colNDKernel`."""

    @staticmethod
    @cache
    def generate(ndim: int) -> Kernel:
        """Returns the arguments of ``elementwise`` for images of that many spatial axes."""
        d, out, k, s, p, di = (vars(name, ndim) for name in ("d", "out", "k", "s", "p", "di"))
        outputs, kernels, places = (vars(name, ndim) for name in ("at", "el", "in"))
        lines = ["int rest = i;", *_split(places, d), "T sum = T(0);"]
        for j in range(ndim):
            lines += [
                f"for (int {kernels[j]} = 0; {kernels[j]} < {k[j]}; ++{kernels[j]}) {{",
                f"int {outputs[j]} = {places[j]} + {p[j]} - {kernels[j]} * {di[j]};",
                f"if ({outputs[j]} < 0 || {outputs[j]} % {s[j]} != 0) continue;",
                f"{outputs[j]} /= {s[j]};",
                f"if ({outputs[j]} >= {out[j]}) continue;",
            ]
        index = flat_index([*kernels, *outputs], [*k, *out], "rest")
        lines += [f"sum += col[{index}];", "}" * ndim, "img = sum;"]
        return _parameters(ndim, "col"), "T img", "\n".join(lines), f"col2im_{ndim}d"
