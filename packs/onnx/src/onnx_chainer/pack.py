"""The pack of the distribution. Imported when Chainer looks for a name; light itself."""

from __future__ import annotations

from typing import Any

chainer_api = 1

CONVERTERS = {
    "activation": "CReLU ClippedReLU ELU HardSigmoid LeakyReLU LogSoftmax PReLUFunction RReLU "
    "ReLU Sigmoid Softmax Softplus Tanh",
    "arithmetic": "Absolute Add AddConstant Arccos Arcsin Arctan Arctan2 Arctanh ArgMax ArgMin "
    "BatchDet BatchL2NormSquared BernoulliLogProb Ceil Clip Cos Cosh Cumprod Cumsum Div "
    "DivFromConstant Erf Erfc Exp Expm1 Fix Floor Fmod Identity LaplaceCDF LaplaceICDF "
    "LinearInterpolate Log Log10 Log1p Log2 LogSumExp Max Maximum Mean Min Minimum ModifiedXLogX "
    "Mul MulConstant MultiAdd Ndtr Neg PowConstVar PowVarConst PowVarVar Prod Rsqrt RsqrtGPU Sign "
    "Sin Sinh Sqrt Square Sub SubFromConstant Sum SumTo Tan",
    "array": "AsStrided Broadcast BroadcastTo Cast Concat Copy Depth2Space Diagonal ExpandDims "
    "Flip Hstack Im2Col Join Moveaxis Pad PadSequence Permutate Repeat Reshape ResizeImages "
    "Rollaxis ScatterAdd SelectItem Separate Shape Space2Depth SpatialTransformerGrid "
    "SpatialTransformerSampler SplitAxis Squeeze Stack Swapaxes Tile Transpose TransposeSequence "
    "Where",
    "composition": "ComposedFunction DifferentiableComposition Forget",
    "connection": "ConvolutionND DeconvolutionND DepthwiseConvolution2D EmbedIDFunction "
    "LinearFunction Shift",
    "indexing": "GetItem",
    "loss": "AbsoluteError Accuracy BinaryAccuracy Contrastive CrossCovariance Hinge HuberLoss "
    "MeanAbsoluteError MeanSquaredError SigmoidCrossEntropy SoftmaxCrossEntropy SquaredError "
    "Triplet",
    "modern": "GELU HardSwish IsLabel Mish OneHotLabels QuickGELU RotaryEmbedding "
    "ScaledDotProductAttention SiLU TanhGELU",
    "noise": "DropPath Dropout Gaussian",
    "normalization": "BatchNormalization FixedBatchNormalization "
    "FixedDecorrelatedBatchNormalization GroupNormalization LocalResponseNormalization NormalizeL2",
    "pooling": "AveragePoolingND MaxPoolingND ROIAverageAlign2D ROIPooling2D UnpoolingND "
    "Upsampling2D",
    "products": "BatchMatMul EinSum MatMul TensorDot TriangularInv",
    "recurrent": "BaseNStepRNN",
    "special": "DiGamma ErfInv ErfcInv Erfcx FFT LGamma LogNdtr Ndtri",
}
"""Module -> names of the function nodes that it converts."""


def chainer_onnx_converters(registry: Any) -> None:
    """Registers the converters; the modules are imported when a model has their functions."""
    for module, names in CONVERTERS.items():
        for name in names.split():
            registry.register(name, f"onnx_chainer.converters.{module}:{name}")
