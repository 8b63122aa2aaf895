"""``batchNormalization`` and ``localResponseNormalization``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ideep4py import ops
from ideep4py._mdarray import mdarray
from ideep4py._params import lrnParam
from ideep4py.compat.arguments import need_mdarray, need_type


def _scale_shift(arguments: tuple[Any, ...]) -> tuple[Any, Any, Any, Any, float]:
    """Scale, shift, mean, variance, eps from the two forms of the call."""
    if len(arguments) == 5:
        w, b, mean, var, eps = arguments
        need_mdarray(w=w, b=b)
    elif len(arguments) == 4:
        pair, mean, var, eps = arguments
        need_mdarray(w=pair)
        if pair.ndim != 2 or pair.shape[0] != 2:
            raise ValueError(f"w must hold scale and shift, of shape (2, C), got {pair.shape}")
        both = np.asarray(pair)
        w, b = both[0], both[1]
    else:
        raise TypeError(f"Forward takes 5 or 6 arguments, got {1 + len(arguments)}")
    return w, b, mean, var, eps


class batchNormalization:
    """Batch normalization over all axes but the second, forward and backward."""

    @staticmethod
    def Forward(src: mdarray, *arguments: Any) -> tuple[mdarray, ...]:
        """``Forward(src, scale, shift, mean, var, eps)``, or ``Forward(src, scale_and_shift, mean,
        var, eps)``.

        Args:
            src: input (N, C) or (N, C, H, W).
            scale, shift: (C,) each, or one array (2, C).
            mean, var: statistics to use, or None for the statistics of the batch. eps: added to the
            variance.

        Returns:
            ``(y, mean, var, inv_std)`` with the statistics of the batch (the variance is biased),
            or ``(y,)`` with given ones.
        """
        need_mdarray(src=src)
        w, b, mean, var, eps = _scale_shift(arguments)
        if mean is not None and var is not None:
            need_mdarray(mean=mean, var=var)
            return (ops.fixed_batch_normalization(src, w, b, mean, var, eps),)
        y, mean, var, _ = ops.batch_normalization(src, w, b, eps)
        inverse = 1 / np.sqrt(np.asarray(var) + np.float32(eps))
        return y, mean, var, mdarray(inverse)

    @staticmethod
    def Backward(
        src: mdarray, grady: mdarray, mean: mdarray, var: mdarray, scale: mdarray, eps: float, /
    ) -> tuple[mdarray, mdarray]:
        """Gradient with respect to the input, and one array (2, C) with the gradients of scale and
        shift.

        Args:
            src: the input.
            grady: gradient of the output.
            mean, var: what the forward pass returned.
            scale: (C,), or scale and shift (2, C).
            eps: as in the forward pass.
        """
        need_mdarray(src=src, grady=grady, mean=mean, var=var, scale=scale)
        w = np.asarray(scale)[0] if scale.ndim == 2 else scale
        gx, gw, gb = ops.batch_normalization_backward(src, grady, w, mean, var, eps)
        return gx, mdarray(np.stack([np.asarray(gw), np.asarray(gb)]))


_LRN_KINDS = {lrnParam.lrn_across_channels: "across", lrnParam.lrn_within_channel: "within"}


def _lrn(param: lrnParam) -> dict[str, Any]:
    need_type("param", param, lrnParam)
    if param.algo_kind not in _LRN_KINDS:
        raise ValueError(f"param.algo_kind must be 0 or 1, got {param.algo_kind}")
    return {
        "n": param.n,
        "k": param.k,
        "alpha": param.alpha,
        "beta": param.beta,
        "kind": _LRN_KINDS[param.algo_kind],
    }


class localResponseNormalization:
    """Local response normalization, forward and backward."""

    @staticmethod
    def Forward(src: mdarray, param: lrnParam, /) -> tuple[mdarray, mdarray]:
        """The output, and a workspace for :meth:`Backward`.

        oneDNN decides what the workspace holds (in the original: the sums that the input is divided
        by).
        """
        need_mdarray(src=src)
        y, workspace = ops.local_response_normalization(src, **_lrn(param))
        return y, y if workspace is None else workspace

    @staticmethod
    def Backward(
        src: mdarray, grady: mdarray, workspace: mdarray | None, param: lrnParam, /
    ) -> mdarray:
        """Gradient with respect to the input."""
        need_mdarray(src=src, grady=grady)
        if workspace is not None:
            need_mdarray(workspace=workspace)
        return ops.local_response_normalization_backward(
            src, grady, workspace=workspace, **_lrn(param)
        )
