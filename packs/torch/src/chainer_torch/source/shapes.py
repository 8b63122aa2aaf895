"""Operators that change shapes, or select elements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chainer_torch.source.call import Call, Writer

#: Bounds of slices beyond this are the end of the axis.
_FAR = 2**31 - 1


def _reshape(call: Call) -> str:
    if call.has(1) and call.constant(1) is None:
        return f"{call[0]}.reshape({call.shape(1)})"
    shape = call.ints(1, "shape")
    assert shape is not None
    # In ONNX 0 copies a length of the input; an attribute makes it a length of 0.
    if not call.get("allowzero"):
        parts = [f"{call[0]}.shape[{i}]" if n == 0 else str(n) for i, n in enumerate(shape)]
    else:
        parts = [str(n) for n in shape]
    return f"{call[0]}.reshape({', '.join(parts) if parts else '()'})"


def _flatten(call: Call) -> str:
    axis = call.get("axis", 1)
    return f"{call[0]}.flatten({axis})" if axis == 1 else call.helper("_flatten", call[0], axis)


def _transpose(call: Call) -> str:
    perm = call.get("perm")
    if perm is None:
        return f"{call[0]}.permute(*range({call[0]}.dim())[::-1])"
    return f"{call[0]}.permute({', '.join(map(str, perm))})"


def _squeeze(call: Call) -> str:
    axes = call.ints(1, "axes")
    if axes is None:
        return f"{call[0]}.squeeze()"
    return f"{call[0]}.squeeze({axes[0] if len(axes) == 1 else tuple(axes)})"


def _unsqueeze(call: Call) -> str:
    axes = call.ints(1, "axes") or []
    if len(axes) > 1 and min(axes) < 0:
        raise call.unsupported("with several negative axes")
    # The axes are of the output: the smallest first puts each where it belongs.
    return call[0] + "".join([f".unsqueeze({axis})" for axis in sorted(axes)])


def _concat(call: Call) -> str:
    parts = ", ".join([call[i] for i in range(len(call))])
    return f"torch.cat(({parts},), {call.get('axis')})"


def _split(call: Call) -> str:
    sizes = call.ints(1, "split")
    if sizes is None:
        return f"torch.tensor_split({call[0]}, {len(call.outputs)}, {call.get('axis', 0)})"
    return f"torch.split({call[0]}, {sizes}, {call.get('axis', 0)})"


def _indexed(x: str, axis: int, index: str) -> str:
    """Returns source text that takes elements along an axis."""
    if axis < 0:
        return f"{x}[..., {', '.join([index, *[':'] * (-axis - 1)])}]"
    return f"{x}[{', '.join([*[':'] * axis, index])}]"


def _gather(call: Call) -> str:
    value, axis = call.constant(1), call.get("axis", 0)
    if value is None:
        return _indexed(call[0], axis, f"{call[1]}.long()")
    # Short lists of indexes are readable in the source text, others are constants of the file.
    if value.ndim > 1 or value.size > 64:
        return _indexed(call[0], axis, call[1])
    return _indexed(call[0], axis, str(np.asarray(value).tolist()))


def _slice(call: Call) -> str:
    starts, ends = call.ints(1, "starts"), call.ints(2, "ends")
    assert starts is not None
    assert ends is not None
    axes = call.ints(3, "axes") or list(range(len(starts)))
    steps = call.ints(4) or [1] * len(starts)
    if min(axes) < 0 or min(steps) < 0:
        return call.helper("_slice", call[0], starts, ends, axes, steps)
    parts = [":"] * (max(axes) + 1)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        text = f"{start or ''}:{'' if end >= _FAR else end}"
        parts[axis] = text if step == 1 else f"{text}:{step}"
    return f"{call[0]}[{', '.join(parts)}]"


def _expand(call: Call) -> str:
    return call.helper("_expand", call[0], call.shape(1))


def _tile(call: Call) -> str:
    return f"torch.tile({call[0]}, {tuple(call.ints(1) or ())})"


def padded(x: str, before: Sequence[int], after: Sequence[int], value: str) -> str:
    """Returns source text that pads the last axes with a number."""
    # F.pad counts from the last axis.
    pads = [n for pair in zip(reversed(before), reversed(after), strict=True) for n in pair]
    while len(pads) > 2 and pads[-2:] == [0, 0]:
        pads = pads[:-2]
    return f"F.pad({x}, {tuple(pads)}, value={value})"


def _pad(call: Call) -> str:
    pads, mode = call.ints(1, "pads"), call.get("mode", "constant")
    if pads is None or call.has(3):
        raise call.unsupported("of chosen axes")
    half = len(pads) // 2
    if mode != "constant":
        return call.helper("_pad", call[0], pads[:half], pads[half:], f'"{mode}"')
    value = call.scalar(2) if call.has(2) else str(call.get("value", 0))
    return padded(call[0], pads[:half], pads[half:], value)


def _resize(call: Call) -> str:
    sizes, mode = call.ints(3), call.get("mode", "nearest")
    where = call.get("coordinate_transformation_mode", "half_pixel")
    if sizes is None or mode != "linear" or where not in ("align_corners", "half_pixel"):
        raise call.unsupported(f"with mode {mode} and {where}")
    kind = {1: "linear", 2: "bilinear", 3: "trilinear"}[len(sizes) - 2]
    return (
        f'F.interpolate({call[0]}, size={tuple(sizes[2:])}, mode="{kind}", '
        f"align_corners={where == 'align_corners'})"
    )


def _grid_sample(call: Call) -> str:
    # ONNX renamed "bilinear" to "linear" in operator set 20.
    mode = call.get("mode", "linear").replace("bilinear", "linear").replace("linear", "bilinear")
    return (
        f'F.grid_sample({call[0]}, {call[1]}, mode="{mode}", '
        f'padding_mode="{call.get("padding_mode", "zeros")}", '
        f"align_corners={bool(call.get('align_corners', 0))})"
    )


def _scatter_elements(call: Call) -> str:
    name = {"none": "scatter", "add": "scatter_add"}.get(call.get("reduction", "none"))
    if name is None:
        raise call.unsupported(f"with reduction {call.get('reduction')}")
    return f"{call[0]}.{name}({call.get('axis', 0)}, {call[1]}.long(), {call[2]})"


def _cast(call: Call) -> str:
    return f"{call[0]}.to({torch_dtype(call.get('to'))})"


def torch_dtype(dtype: object) -> str:
    """Returns a dtype of NumPy as source text."""
    name = str(np.dtype(dtype)) if not isinstance(dtype, str) else dtype  # type: ignore[arg-type]
    return f"torch.{name}"


def _one_hot(call: Call) -> str:
    depth, values = call.ints(1), call.constant(2)
    if depth is None or values is None or list(values) != [0, 1]:
        raise call.unsupported("with other values than 0 and 1")
    # Negative indexes count from the end, which F.one_hot refuses.
    text = f"F.one_hot({call[0]}.long() % {depth[0]}, {depth[0]})"
    axis = call.get("axis", -1)
    text = text if axis == -1 else f"{text}.movedim(-1, {axis})"
    return f"{text}.to({torch_dtype(values.dtype)})"


def _trilu(call: Call) -> str:
    k = (call.ints(1) or [0])[0] if call.has(1) else 0
    return f"torch.{'triu' if call.get('upper', 1) else 'tril'}({call[0]}, {k})"


def _depth_to_space(call: Call) -> str:
    return call.helper(
        "_depth_to_space", call[0], call.get("blocksize"), call.get("mode", "DCR") == "CRD"
    )


def _space_to_depth(call: Call) -> str:
    return call.helper("_space_to_depth", call[0], call.get("blocksize"))


def _constant_of_shape(call: Call) -> str:
    value = np.reshape(call.get("value", np.zeros(1, np.float32)), -1)[0]
    return f"torch.full({call.shape(0)}, {value.item()!r}, dtype={torch_dtype(value.dtype)})"


WRITERS: dict[str, Writer] = {
    "Cast": _cast,
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "DepthToSpace": _depth_to_space,
    "Expand": _expand,
    "Flatten": _flatten,
    "Gather": _gather,
    "GatherElements": lambda c: f"torch.gather({c[0]}, {c.get('axis', 0)}, {c[1]}.long())",
    "GatherND": lambda c: c.helper("_gather_nd", c[0], c[1]),
    "GridSample": _grid_sample,
    "OneHot": _one_hot,
    "Pad": _pad,
    "Reshape": _reshape,
    "Resize": _resize,
    "ScatterElements": _scatter_elements,
    "ScatterND": lambda c: c.helper(
        "_scatter_nd", c[0], c[1], c[2], c.get("reduction", "none") == "add"
    ),
    "Shape": lambda c: f"torch.tensor({c[0]}.shape)",
    "Slice": _slice,
    "SpaceToDepth": _space_to_depth,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Transpose": _transpose,
    "Trilu": _trilu,
    "Unsqueeze": _unsqueeze,
}
