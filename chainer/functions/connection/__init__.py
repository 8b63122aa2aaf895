"""Neural network connections."""

MODULES: dict[str, tuple[str, ...]] = {
    "convolution_2d": ("convolution_2d",),
    "convolution_nd": ("convolution_nd",),
    "deconvolution_2d": ("deconvolution_2d",),
    "deconvolution_nd": ("deconvolution_nd",),
    "embed_id": ("embed_id",),
    "linear": ("linear",),
}
