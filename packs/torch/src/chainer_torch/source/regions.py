"""Regions of images, and Fourier transforms."""

from __future__ import annotations

from chainer_torch.source.call import Call, Writer


def _roi_pool(call: Call) -> str:
    size, scale = tuple(call.get("pooled_shape")), call.get("spatial_scale", 1.0)
    return call.helper("_roi_pool", call[0], call[1], size, scale)


def _roi_align(call: Call) -> str:
    if call.get("mode", "avg") != "avg":
        raise call.unsupported(f"with mode {call.get('mode')}")
    mode = call.get("coordinate_transformation_mode", "half_pixel")
    size = call.get("output_height", 1), call.get("output_width", 1)
    return call.helper(
        "_roi_align",
        call[0],
        call[1],
        call[2],
        size,
        call.get("spatial_scale", 1.0),
        call.get("sampling_ratio", 0),
        mode == "half_pixel",
    )


def _dft(call: Call) -> str:
    if call.has(1) or call.get("onesided"):
        raise call.unsupported("with another length, or one side only")
    axes = call.ints(2)
    axis = call.get("axis", 1) if axes is None else axes[0]
    return call.helper("_dft", call[0], axis, bool(call.get("inverse")))


WRITERS: dict[str, Writer] = {"DFT": _dft, "MaxRoiPool": _roi_pool, "RoiAlign": _roi_align}
