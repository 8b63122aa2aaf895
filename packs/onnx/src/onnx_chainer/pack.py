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
    "products": "BatchMatMul CooMatMul EinSum MatMul TensorDot TriangularInv",
    "recurrent": "BaseNStepRNN",
    "special": "DiGamma ErfInv ErfcInv Erfcx FFT LGamma LogNdtr Ndtri",
}
"""Module -> names of the function nodes that it converts."""


OPERATORS = {
    "control_flow": "If Loop Scan SequenceMap",
    "convolutions": "Conv ConvTranspose DeformConv",
    "elementwise": "Abs Acos Acosh Add And Asin Asinh Atan Atanh Cast CastLike Ceil Celu Clip "
    "Cos Cosh Div Elu Equal Erf Exp Floor Gelu Greater GreaterOrEqual HardSigmoid HardSwish "
    "Identity LeakyRelu Less LessOrEqual Log Max Mean Min Mish Mod Mul Neg Not Or PRelu Pow "
    "Reciprocal Relu Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Sub Sum Swish Tan "
    "Tanh ThresholdedRelu Where",
    "indexing": "Compress Gather GatherElements GatherND OneHot Scatter ScatterElements "
    "ScatterND TensorScatter TopK",
    "linear_algebra": "Det Einsum Gemm MatMul",
    "losses": "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss",
    "normalizations": "BatchNormalization GroupNormalization Hardmax InstanceNormalization LRN "
    "LayerNormalization LogSoftmax LpNormalization MeanVarianceNormalization RMSNormalization "
    "Softmax",
    "poolings": "AveragePool GlobalAveragePool GlobalLpPool GlobalMaxPool LpPool MaxPool MaxUnpool",
    "randoms": "Bernoulli Dropout Multinomial RandomNormal RandomNormalLike RandomUniform "
    "RandomUniformLike",
    "recurrent": "LSTM GRU RNN",
    "reductions": "ArgMax ArgMin CumProd CumSum ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp "
    "ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare",
    "regions": "Col2Im GridSample MaxRoiPool RoiAlign",
    "resizing": "Resize Upsample",
    "sequences": "ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt "
    "SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength SplitToSequence",
    "shapes": "CenterCropPad Concat Constant ConstantOfShape DepthToSpace Expand Flatten Pad "
    "Range Reshape ReverseSequence Shape Size Slice SpaceToDepth Split Squeeze Tile Transpose "
    "Trilu Unsqueeze",
    "transforms": "DFT STFT",
}
"""Module of ``importing`` -> names of the operators of ONNX that it computes."""


def chainer_onnx_converters(registry: Any) -> None:
    """Registers the converters; the modules are imported when a model has their functions."""
    for module, names in CONVERTERS.items():
        for name in names.split():
            registry.register(name, f"onnx_chainer.converters.{module}:{name}")


def chainer_onnx_operators(registry: Any) -> None:
    """Registers the operators; the modules are imported when a model has their operators."""
    for names in OPERATORS.values():
        for name in names.split():
            registry.register(name, f"onnx_chainer.importing.operators:{name}")
