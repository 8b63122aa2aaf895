"""Neural network connections."""

from chainer.core.lazy import lazy_module

__getattr__, __dir__ = lazy_module(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "convolution_2d": ("convolution_2d",),
    "convolution_nd": ("convolution_1d", "convolution_3d", "convolution_nd"),
    "deconvolution_2d": ("deconvolution_2d",),
    "deconvolution_nd": ("deconvolution_1d", "deconvolution_3d", "deconvolution_nd"),
    "deformable_convolution_2d_sampler": ("deformable_convolution_2d_sampler",),
    "embed_id": ("embed_id",),
    "linear": ("linear",),
    "bilinear": ("bilinear",),
    "depthwise_convolution_2d": ("depthwise_convolution_2d",),
    "dilated_convolution_2d": ("dilated_convolution_2d",),
    "local_convolution_2d": ("local_convolution_2d",),
    "shift": ("shift",),
}
