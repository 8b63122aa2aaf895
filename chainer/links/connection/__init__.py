"""Links that apply learned weights to their input."""

from chainer.core.lazy import lazy_module

__getattr__, __dir__ = lazy_module(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "bias": ("Bias",),
    "bilinear": ("Bilinear",),
    "convolution_2d": ("Convolution2D",),
    "convolution_nd": ("Convolution1D", "Convolution3D", "ConvolutionND"),
    "deconvolution_2d": ("Deconvolution2D",),
    "deconvolution_nd": ("Deconvolution1D", "Deconvolution3D", "DeconvolutionND"),
    "deformable_convolution_2d": ("DeformableConvolution2D",),
    "depthwise_convolution_2d": ("DepthwiseConvolution2D",),
    "dilated_convolution_2d": ("DilatedConvolution2D",),
    "embed_id": ("EmbedID",),
    "highway": ("Highway",),
    "inception": ("Inception",),
    "inceptionbn": ("InceptionBN",),
    "linear": ("Linear",),
    "local_convolution_2d": ("LocalConvolution2D",),
    "mlp_convolution_2d": ("MLPConvolution2D",),
    "parameter": ("Parameter",),
    "scale": ("Scale",),
    "squeeze_excitation": ("SqueezeExcitation",),
}
