"""Convolutions, pooling, normalization and recurrent networks."""

from __future__ import annotations

from typing import Any

from chainer_torch.source.call import Call, Writer, literal
from chainer_torch.source.shapes import padded


def _pads(call: Call) -> tuple[list[int], list[int], int]:
    """Returns padding before and after each axis, and the number of axes of images."""
    if call.get("auto_pad", "NOTSET") not in ("NOTSET", ""):
        raise call.unsupported(f"with auto_pad {call.get('auto_pad')}")
    kernel = call.get("kernel_shape")
    if kernel is None:
        weight = call.constant(1)
        if weight is None:
            raise call.unsupported("without kernel_shape")
        # The attribute may be left out: it follows from the weight (channels, channels, kernel...).
        kernel = weight.shape[2:]
    pads = list(call.get("pads") or [0] * (2 * len(kernel)))
    return pads[: len(kernel)], pads[len(kernel) :], len(kernel)


def _options(**values: Any) -> str:
    """Returns keyword arguments, without those that are the defaults of PyTorch."""
    parts: list[str] = []
    for name, (value, default) in values.items():
        if value is None or list(value) == [default] * len(value):
            continue
        same = len(set(value)) == 1
        parts.append(f", {name}={value[0] if same else tuple(value)}")
    return "".join(parts)


def _conv(call: Call) -> str:
    before, after, n = _pads(call)
    x = call[0]
    if before != after:
        x, before = padded(x, before, after, "0"), [0] * n
    options = _options(
        stride=(call.get("strides"), 1), padding=(before, 0), dilation=(call.get("dilations"), 1)
    )
    groups = call.get("group", 1)
    options += f", groups={groups}" if groups != 1 else ""
    bias = f", {call[2]}" if call.has(2) else ""
    return f"F.conv{n}d({x}, {call[1]}{bias}{options})"


def _conv_transpose(call: Call) -> str:
    before, after, n = _pads(call)
    if call.get("output_shape") is not None:
        raise call.unsupported("with output_shape")
    extra = list(call.get("output_padding") or [0] * n)
    # Less is cut off at the end than in front: that is output_padding of PyTorch.
    more = [e + b - a for e, b, a in zip(extra, before, after, strict=True)]
    strides = list(call.get("strides") or [1] * n)
    fits = all([0 <= m < s for m, s in zip(more, strides, strict=True)])
    cut = ""
    if not fits:
        # The whole output, from which the edges are cut.
        ends = [f"{b or ''}:{-a or ''}" for b, a in zip(before, after, strict=True)]
        cut, before, more = f"[:, :, {', '.join(ends)}]", [0] * n, extra
    options = _options(
        stride=(strides, 1),
        padding=(before, 0),
        output_padding=(more, 0),
        dilation=(call.get("dilations"), 1),
    )
    groups = call.get("group", 1)
    options += f", groups={groups}" if groups != 1 else ""
    bias = f", {call[2]}" if call.has(2) else ""
    return f"F.conv_transpose{n}d({call[0]}, {call[1]}{bias}{options}){cut}"


def _pool(call: Call) -> str:
    before, after, n = _pads(call)
    kernel = list(call.get("kernel_shape"))
    strides = list(call.get("strides") or [1] * n)
    is_max = call.operator == "MaxPool"
    x, ceil = call[0], bool(call.get("ceil_mode"))
    counted = bool(call.get("count_include_pad")) or is_max
    # F.max_pool pads at most half of a window.
    too_wide = any([2 * b > k for b, k in zip(before, kernel, strict=True)])
    if before != after or too_wide:
        if not counted:
            raise call.unsupported("with pads that differ before and after")
        x = padded(x, before, after, 'float("-inf")' if is_max else "0")
        before = [0] * n
    options = _options(padding=(before, 0), dilation=(call.get("dilations"), 1))
    options += ", ceil_mode=True" if ceil else ""
    if not is_max and not counted and any(before):
        options += ", count_include_pad=False"
    if len(call.outputs) > 1:
        raise call.unsupported("with indexes")
    name = "max" if is_max else "avg"
    window, step = (v[0] if len(set(v)) == 1 else tuple(v) for v in (kernel, strides))
    return f"F.{name}_pool{n}d({x}, {window}, stride={step}{options})"


def _batch_normalization(call: Call) -> str:
    if call.get("training_mode"):
        # The other outputs are for running statistics, which a graph of test mode does not update.
        text = f"F.batch_norm({call[0]}, None, None, {call[1]}, {call[2]}, True, eps={_eps(call)})"
        others = len(call.outputs) - 1
        return f"({text}{', None' * others})" if others else text
    return f"F.batch_norm({call[0]}, {call[3]}, {call[4]}, {call[1]}, {call[2]}, eps={_eps(call)})"


def _short(eps: str) -> str:
    """Returns a number that the file has in float32 with the digits that are certain."""
    return f"{float(eps):.7g}"


def _eps(call: Call) -> str:
    return _short(literal(float(call.get("epsilon", 1e-5))))


def _layer_normalization(call: Call) -> str:
    axis = call.get("axis", -1)
    return (
        f"F.layer_norm({call[0]}, {call[0]}.shape[{axis}:], {call[1]}, {call.optional(2)}, "
        f"eps={_eps(call)})"
    )


def _instance_normalization(call: Call) -> str:
    return f"F.instance_norm({call[0]}, weight={call[1]}, bias={call[2]}, eps={_eps(call)})"


def _group_normalization(call: Call) -> str:
    return f"F.group_norm({call[0]}, {call.get('num_groups')}, {call[1]}, {call[2]}, {_eps(call)})"


def _local_response(call: Call) -> str:
    alpha, beta, bias = (
        _short(literal(float(call.get(name, default))))
        for name, default in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0))
    )
    return f"F.local_response_norm({call[0]}, {call.get('size')}, {alpha}, {beta}, {bias})"


def _dropout(call: Call) -> str:
    ratio = call.number(1) or str(call.get("ratio", 0.5))
    return f"F.dropout({call[0]}, {ratio}, self.training)"


def _recurrent(call: Call) -> str:
    direction = call.get("direction", "forward")
    activations = [a.decode() if isinstance(a, bytes) else a for a in call.get("activations") or []]
    kind = {"LSTM": "lstm", "GRU": "gru", "RNN": "tanh"}[call.operator]
    if call.operator == "RNN" and set(activations) == {"Relu"}:
        kind = "relu"
    elif activations and set(activations) - {"Tanh", "Sigmoid"}:
        raise call.unsupported(f"with activations {activations}")
    if call.operator == "GRU" and not call.get("linear_before_reset"):
        kind = "gru_reset_first"
    if call.has(7) or call.get("clip"):
        raise call.unsupported("with peepholes or clipping")
    text = call.helper(
        "_recurrent",
        f'"{kind}"',
        *[call[i] for i in range(3)],
        # Bias, lengths of the sequences, first state and first cell; input 7 is for peepholes.
        *[call.optional(i) for i in range(3, 7)],
        direction == "reverse",
    )
    call.helpers.add("_cell")
    return f"{text}[:{len(call.outputs)}]" if len(call.outputs) > 1 else f"{text}[0]"


WRITERS: dict[str, Writer] = {
    **dict.fromkeys(("LSTM", "GRU", "RNN"), _recurrent),
    **dict.fromkeys(("MaxPool", "AveragePool"), _pool),
    "BatchNormalization": _batch_normalization,
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "Dropout": _dropout,
    "GroupNormalization": _group_normalization,
    "InstanceNormalization": _instance_normalization,
    "LRN": _local_response,
    "LayerNormalization": _layer_normalization,
}
