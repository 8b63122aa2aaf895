# Written by scripts/make_stubs.py. Do not edit.

from typing import Any

from chainer.links import (
    activation as activation,
    attention as attention,
    caffe as caffe,
    chain as chain,
    chain_list as chain_list,
    composite as composite,
    connection as connection,
    errors as errors,
    functional_call as functional_call,
    hooks as hooks,
    initializer as initializer,
    initializers as initializers,
    input_casts as input_casts,
    link as link,
    link_hook as link_hook,
    loaded_state as loaded_state,
    loss as loss,
    model as model,
    name_set as name_set,
    normalization as normalization,
    replaced_parameters as replaced_parameters,
    rnn as rnn,
    sequential as sequential,
    serializer as serializer,
    serializers as serializers,
    size_inference as size_inference,
    summary as summary,
    theano as theano,
)
from chainer.links.activation.maxout import Maxout as Maxout
from chainer.links.activation.prelu import PReLU as PReLU
from chainer.links.activation.simplified_dropconnect import (
    SimplifiedDropconnect as SimplifiedDropconnect,
)
from chainer.links.activation.swish import Swish as Swish
from chainer.links.attention.multi_head_attention import MultiHeadAttention as MultiHeadAttention
from chainer.links.attention.transformer_layers import (
    TransformerDecoderLayer as TransformerDecoderLayer,
    TransformerEncoderLayer as TransformerEncoderLayer,
)
from chainer.links.connection.bias import Bias as Bias
from chainer.links.connection.bilinear import Bilinear as Bilinear
from chainer.links.connection.convolution_2d import Convolution2D as Convolution2D
from chainer.links.connection.convolution_nd import (
    Convolution1D as Convolution1D,
    Convolution3D as Convolution3D,
    ConvolutionND as ConvolutionND,
)
from chainer.links.connection.deconvolution_2d import Deconvolution2D as Deconvolution2D
from chainer.links.connection.deconvolution_nd import (
    Deconvolution1D as Deconvolution1D,
    Deconvolution3D as Deconvolution3D,
    DeconvolutionND as DeconvolutionND,
)
from chainer.links.connection.deformable_convolution_2d import (
    DeformableConvolution2D as DeformableConvolution2D,
)
from chainer.links.connection.depthwise_convolution_2d import (
    DepthwiseConvolution2D as DepthwiseConvolution2D,
)
from chainer.links.connection.dilated_convolution_2d import (
    DilatedConvolution2D as DilatedConvolution2D,
)
from chainer.links.connection.embed_id import EmbedID as EmbedID
from chainer.links.connection.highway import Highway as Highway
from chainer.links.connection.inception import Inception as Inception
from chainer.links.connection.inceptionbn import InceptionBN as InceptionBN
from chainer.links.connection.linear import Linear as Linear
from chainer.links.connection.local_convolution_2d import LocalConvolution2D as LocalConvolution2D
from chainer.links.connection.mlp_convolution_2d import MLPConvolution2D as MLPConvolution2D
from chainer.links.connection.parameter import Parameter as Parameter
from chainer.links.connection.scale import Scale as Scale
from chainer.links.connection.squeeze_excitation import SqueezeExcitation as SqueezeExcitation
from chainer.links.loss.black_out import BlackOut as BlackOut
from chainer.links.loss.crf1d import CRF1d as CRF1d
from chainer.links.loss.hierarchical_softmax import (
    BinaryHierarchicalSoftmax as BinaryHierarchicalSoftmax,
)
from chainer.links.loss.negative_sampling import NegativeSampling as NegativeSampling
from chainer.links.model.classifier import Classifier as Classifier
from chainer.links.model.vision.googlenet import GoogLeNet as GoogLeNet
from chainer.links.model.vision.resnet import (
    ResNet101Layers as ResNet101Layers,
    ResNet152Layers as ResNet152Layers,
    ResNet50Layers as ResNet50Layers,
)
from chainer.links.model.vision.vgg import VGG16Layers as VGG16Layers, VGG19Layers as VGG19Layers
from chainer.links.normalization.batch_normalization import BatchNormalization as BatchNormalization
from chainer.links.normalization.batch_renormalization import (
    BatchRenormalization as BatchRenormalization,
)
from chainer.links.normalization.decorrelated_batch_normalization import (
    DecorrelatedBatchNormalization as DecorrelatedBatchNormalization,
)
from chainer.links.normalization.group_normalization import GroupNormalization as GroupNormalization
from chainer.links.normalization.instance_normalization import (
    InstanceNormalization as InstanceNormalization,
)
from chainer.links.normalization.layer_normalization import LayerNormalization as LayerNormalization
from chainer.links.normalization.layer_scale import LayerScale as LayerScale
from chainer.links.normalization.rms_normalization import RMSNormalization as RMSNormalization
from chainer.links.rnn.gru import (
    GRU as GRU,
    StatefulGRU as StatefulGRU,
    StatelessGRU as StatelessGRU,
)
from chainer.links.rnn.lstm import LSTM as LSTM, StatelessLSTM as StatelessLSTM
from chainer.links.rnn.mgu import StatefulMGU as StatefulMGU, StatelessMGU as StatelessMGU
from chainer.links.rnn.n_step_gru import NStepBiGRU as NStepBiGRU, NStepGRU as NStepGRU
from chainer.links.rnn.n_step_lstm import NStepBiLSTM as NStepBiLSTM, NStepLSTM as NStepLSTM
from chainer.links.rnn.n_step_rnn import (
    NStepBiRNNReLU as NStepBiRNNReLU,
    NStepBiRNNTanh as NStepBiRNNTanh,
    NStepRNNReLU as NStepRNNReLU,
    NStepRNNTanh as NStepRNNTanh,
)
from chainer.links.rnn.peephole import StatefulPeepholeLSTM as StatefulPeepholeLSTM
from chainer.links.rnn.tree_lstm import (
    ChildSumTreeLSTM as ChildSumTreeLSTM,
    NaryTreeLSTM as NaryTreeLSTM,
)
from chainer.links.rnn.zoneoutlstm import StatefulZoneoutLSTM as StatefulZoneoutLSTM
from chainer.links.theano.theano_function import TheanoFunction as TheanoFunction

# Installed packs register more names.
def __getattr__(name: str) -> Any: ...
