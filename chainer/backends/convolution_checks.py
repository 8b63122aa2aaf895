"""Checks that a call of any library for convolutions needs."""

from __future__ import annotations

from typing import NamedTuple

from chainer.backends.operations.convolutions import ConvolutionGeometry
from chainer.core.arrays.kernel import CallSpec
from chainer.core.typing import Shape


class ConvolutionSizes(NamedTuple):
    """Spatial sizes of a convolution.

    Attributes:
        image: Size of the image that the windows are on.
        windows: Number of windows in each dimension.
        ksize: Size of a window.
    """

    image: Shape
    windows: Shape
    ksize: Shape


def convolution_sizes(spec: CallSpec, library: str) -> ConvolutionSizes | str:
    """Returns the sizes of a call of ``convolution_nd``, or why no library can serve the call.

    Args:
        spec: The call.
        library: Name of the library, for the reason. It takes one to three dimensions.
    """
    x, W = spec.arrays[:2]
    assert x is not None
    assert W is not None
    if not 3 <= x.ndim <= 5:
        return f"{x.ndim - 2} spatial dimensions; {library} takes 1 to 3"
    if W.ndim != x.ndim:
        return f"W has {W.ndim} dimensions and x has {x.ndim}"
    geometry: ConvolutionGeometry = spec.attributes["geometry"]
    groups, out_size = geometry.groups, spec.attributes["out_size"]
    if groups < 1 or W.shape[0] % groups:
        return f"the number of groups, {groups}, does not divide {W.shape[0]} channels"
    # A deconvolution computes the image, so that its input has the size of the windows.
    if spec.attributes["transposed"]:
        sizes, channels = ConvolutionSizes(out_size, x.shape[2:], W.shape[2:]), W.shape[0]
    else:
        sizes, channels = ConvolutionSizes(x.shape[2:], out_size, W.shape[2:]), W.shape[1] * groups
    if x.shape[1] != channels:
        return f"x has {x.shape[1]} channels where W of shape {W.shape} needs {channels}"
    return sizes


def misfit(sizes: ConvolutionSizes) -> str:
    """Returns the reason for windows that do not fit onto the image, with any padding behind it."""
    return f"output size {sizes.windows} is not that of windows over size {sizes.image}"
