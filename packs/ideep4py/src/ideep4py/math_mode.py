"""How convolutions multiply: in which precision, and by which algorithm."""

from __future__ import annotations

from ideep4py._core import runtime
from ideep4py._core.errors import check
from ideep4py._core.library import HAS_AVX512_BF16, ffi, lib

__all__ = ["get_math_mode", "get_winograd", "set_math_mode", "set_winograd"]

_MODES = {"float32": 0, "bfloat16": 1}


def set_math_mode(mode: str) -> None:
    """Sets what convolutions of float32 arrays compute with, in all threads of this process.

    With ``"bfloat16"`` they may round what they multiply to bfloat16 (8 significant bits) on CPUs
    that have instructions for it (AVX512_BF16, AMX), and add up in float32. Arrays stay float32.
    Matrix products and elementwise operations are computed in float32 in both modes.

    Args:
        mode: ``"float32"``, the default, or ``"bfloat16"``.

    Raises:
        RuntimeError: ``"bfloat16"`` on a CPU that has no instructions for it.
        ValueError: another mode.
    """
    if mode not in _MODES:
        raise ValueError(f"mode must be 'float32' or 'bfloat16', got {mode!r}")
    if mode == get_math_mode():
        return
    # Arrays of bfloat16 are another matter: with any AVX-512 oneDNN converts their elements.
    if mode == "bfloat16" and not HAS_AVX512_BF16:
        raise RuntimeError("this CPU has no instructions for bfloat16")
    check(lib.dnnl_set_default_fpmath_mode(_MODES[mode]), "set the math mode")
    runtime.drop_plans()  # they were compiled for the previous mode


def get_math_mode() -> str:
    """Returns ``"float32"``, ``"bfloat16"``, or ``"other"`` where the environment variable
    ``ONEDNN_DEFAULT_FPMATH_MODE`` has chosen one that this package does not know.
    """
    number = ffi.new("int *")
    check(lib.dnnl_get_default_fpmath_mode(number), "get the math mode")
    return {n: name for name, n in _MODES.items()}.get(number[0], "other")


def is_exact() -> bool:
    """Returns whether convolutions multiply in float32: by the mode, or because the CPU must."""
    return not HAS_AVX512_BF16 or get_math_mode() == "float32"


def set_winograd(enabled: bool) -> None:
    """Sets whether convolutions may use Winograd's algorithm, in all threads of this process.

    It is used for 3x3 filters with stride 1 where it is faster: about twice for 128 channels and
    more. It rounds a little more (about 2e-6 of the results' standard deviation, some six times as
    much as the definition), it needs memory for transformed tiles and filters, and an infinity or
    NaN in the input spreads to the whole 4x4 tile of outputs. The environment variable
    ``IDEEP4PY_WINOGRAD=0`` turns it off from the start.

    Args:
        enabled: True, the default, or False.

    Raises:
        TypeError: not a bool.
    """
    if not isinstance(enabled, bool):
        raise TypeError(f"enabled must be True or False, got {enabled!r}")
    if enabled != runtime.winograd:
        runtime.winograd = enabled
        runtime.drop_plans()  # they were made for the other choice


def get_winograd() -> bool:
    """Returns whether convolutions may use Winograd's algorithm."""
    return runtime.winograd
