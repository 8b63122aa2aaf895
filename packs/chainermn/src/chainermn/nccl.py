"""NCCL as CuPy gives it; ``_available`` is False where it is missing."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chainer.typing import DTypeLike

__all__ = [
    "NCCL_FLOAT",
    "NCCL_FLOAT16",
    "NCCL_FLOAT32",
    "NCCL_FLOAT64",
    "NCCL_SUM",
    "NcclCommunicator",
    "NcclError",
    "get_build_version",
    "get_unique_id",
    "get_version",
]

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # CuPy warns if the library is missing
        from cupy.cuda.nccl import (  # pyright: ignore[reportMissingImports]
            NCCL_FLOAT,
            NCCL_FLOAT16,
            NCCL_FLOAT32,
            NCCL_FLOAT64,
            NCCL_SUM,
            NcclCommunicator,
            NcclError,
            get_build_version,
            get_unique_id,
            get_version,
        )
except Exception as error:  # CuPy raises several kinds where a driver or a library is missing
    _available = False
    _reason = f"{type(error).__name__}: {error}"
else:
    _available = True
    _reason = ""


def missing() -> str | None:
    """Returns None where NCCL can be used, else what is missing."""
    if not _available:
        return f"cupy.cuda.nccl cannot be imported ({_reason})"
    from chainer.backends import cuda

    if not cuda.available:
        return "CuPy finds no GPU"
    return None


def require(name: str) -> None:
    """Raises unless NCCL can be used.

    Args:
        name: Name of the communicator, for the messages.

    Raises:
        RuntimeError: If NCCL is missing or too old.
    """
    reason = missing()
    if reason is not None:
        raise RuntimeError(
            f"the communicator {name!r} needs NCCL through CuPy, but {reason}; install "
            '"chainermn[cuda13]" or "chainermn[cuda12]", or use the communicator \'naive\''
        )
    # Both are imported where nothing is missing.
    build, version = get_build_version(), get_version()  # pyright: ignore[reportPossiblyUnboundVariable]
    if build < 2000:
        raise RuntimeError(f"NCCL 2 or later is needed, CuPy has {build}")
    if version < 2302:
        warnings.warn("NCCL before 2.3 is deprecated", DeprecationWarning, stacklevel=3)


def type_of(dtype: DTypeLike) -> Any:
    """Returns NCCL's number of a dtype.

    Args:
        dtype: float16, bfloat16, float32, float64, int32 or int64.
    """
    from cupy.cuda import nccl  # pyright: ignore[reportMissingImports]

    names = {"int32": "NCCL_INT32", "int64": "NCCL_INT64"}
    text = getattr(dtype, "name", str(dtype))
    return getattr(nccl, names.get(text, f"NCCL_{text.upper()}"))
