"""``pooling2D``."""

from __future__ import annotations

from typing import Any

from ideep4py import ops
from ideep4py._mdarray import mdarray
from ideep4py._params import pol2DParam
from ideep4py.compat.arguments import need_mdarray, need_shape, need_type

_KINDS = {
    pol2DParam.pooling_max: "max",
    pol2DParam.pooling_avg: "average_exclude_pad",
    pol2DParam.pooling_avg_include_padding: "average",
    pol2DParam.pooling_avg_exclude_padding: "average_exclude_pad",
}


def _kind(pp: pol2DParam) -> str:
    need_type("pp", pp, pol2DParam)
    if pp.algo_kind not in _KINDS:
        raise ValueError(f"pp.algo_kind must be one of {sorted(_KINDS)}, got {pp.algo_kind}")
    return _KINDS[pp.algo_kind]


def _window(pp: pol2DParam) -> dict[str, Any]:
    return {"stride": (pp.sy, pp.sx), "pad": (pp.pad_lh, pp.pad_lw)}


class pooling2D:
    """Two-dimensional pooling, forward and backward.

    ``pp`` is made by :func:`ideep4py.pooling2DParam`.
    """

    @staticmethod
    def Forward(src: mdarray, pp: pol2DParam, /) -> tuple[mdarray, ...]:
        """``(output, workspace)`` for the maximum, ``(output,)`` for averages; ``pp.out_dims`` is
        the output's shape.

        The workspace holds the position of each maximum within its window.
        """
        need_mdarray(src=src)
        kind = _kind(pp)
        dims = tuple(pp.out_dims)
        need_shape("pp.out_dims[:2]", dims[:2], src.shape[:2])
        y, workspace = ops.pooling(src, kind, (pp.kh, pp.kw), out_size=dims[2:], **_window(pp))
        return (y,) if workspace is None else (y, workspace)

    @staticmethod
    def Backward(src: mdarray, grady: mdarray, *rest: Any) -> mdarray:
        """Gradient with respect to the input.

        Called as ``Backward(src, grady, workspace, pp)``, or ``Backward(src, grady, pp)`` for
        averages.

        Args:
            src: the input.
            grady: gradient of the output.
            workspace: from the forward pass (maximum), or None.
            pp: parameters; ``out_dims`` is the input's shape.
        """
        need_mdarray(src=src, grady=grady)
        if not 1 <= len(rest) <= 2:
            raise TypeError(f"Backward takes 3 or 4 arguments, got {2 + len(rest)}")
        workspace, pp = (None, rest[0]) if len(rest) == 1 else rest
        kind = _kind(pp)
        need_shape("pp.out_dims", tuple(pp.out_dims), src.shape)
        if kind == "max":
            need_mdarray(workspace=workspace)
        return ops.pooling_backward(
            grady, src, kind, (pp.kh, pp.kw), workspace=workspace, **_window(pp)
        )
