"""Names and keyword arguments that users of PyTorch and Keras try: each error names ours."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import datasets, initializers, iterators, optimizers, serializers, training
from chainer.training import extensions, triggers

#: What a user writes -> what the error has to say.
CASES = """\
F.conv2d -> convolution_2d
F.cross_entropy -> softmax_cross_entropy
F.binary_cross_entropy -> sigmoid_cross_entropy
F.binary_cross_entropy_with_logits -> sigmoid_cross_entropy
F.linear_ -> linear
F.max_pool2d -> max_pooling_2d
F.avg_pool2d -> average_pooling_2d
F.adaptive_avg_pool1d -> F.mean(x, axis=2)
F.adaptive_max_pool2d -> max_pooling
F.layer_norm -> F.layer_normalization
F.one_hot -> eye
F.gumbel_softmax_ -> gumbel_softmax
F.hardtanh -> clip
F.softsign -> abs
F.celu -> elu
F.threshold -> where
F.cosine_embedding_loss -> contrastive
F.margin_ranking_loss -> relu
F.hinge_embedding_loss -> F.contrastive
F.poisson_nll_loss -> F.mean(F.exp(x) - t * x)
F.pairwise_distance -> F.sqrt(F.sum((a - b) ** 2
F.cosine_similarity -> normalize
F.alpha_dropout -> dropout
F.multi_head_attention -> attention
F.multi_head_attention_forward -> attention
F.scaled_dot_product -> scaled_dot_product_attention
F.cumprod_ -> cumprod
F.logsumexp_ -> logsumexp
F.masked_fill -> where
F.stack_ -> stack
F.norm -> F.sqrt(F.sum(x ** 2))
F.abs -> F.absolute
F.lrn -> local_response_normalization
F.zeros_like -> numpy.zeros_like
F.arange -> numpy.arange
F.square_ -> square
F.categorical_crossentropy -> softmax_cross_entropy
F.sparse_categorical_crossentropy -> softmax_cross_entropy
F.huber -> F.huber_loss
F.mse -> mean_squared_error
F.mae -> mean_absolute_error
F.leakyrelu -> leaky_relu
F.swish_ -> swish
F.softmax_crossentropy -> softmax_cross_entropy
F.topk -> argsort
F.sort -> argsort
F.einops -> einsum
F.prod_ -> prod
F.std -> F.sqrt of the mean
F.var -> the mean of (x - F.mean(x)) ** 2
F.affine_grid -> spatial_transformer_grid
F.logsoftmax -> log_softmax
F.silu_ -> silu
F.bilinear_ -> bilinear
L.Conv2d -> Convolution2D
L.Conv2D -> Convolution2D
L.Conv3D -> Convolution3D
L.Dense -> Linear
L.BatchNorm2d -> BatchNormalization
L.SyncBatchNorm -> MultiNodeBatchNormalization
L.Bilinear_ -> Bilinear
L.LSTMCell -> StatelessLSTM
L.RNNCell -> RNN
L.SimpleRNN -> RNN
L.Bidirectional -> NStepBiLSTM
L.TimeDistributed -> n_batch_axes
L.Embedding -> EmbedID
L.EmbeddingBag -> EmbedID
L.Softmax -> softmax
L.Tanh -> tanh
L.GELU -> gelu
L.PReLU_ -> PReLU
L.ReLU6 -> F.relu6
L.Hardswish -> hard_swish
L.Mish -> mish
L.ELU -> elu
L.SELU -> selu
L.Softplus -> softplus
L.LogSoftmax -> log_softmax
L.CrossEntropyLoss -> softmax_cross_entropy
L.BCELoss -> sigmoid
L.HuberLoss -> huber_loss
L.CTCLoss -> connectionist
L.TripletMarginLoss -> triplet
L.Flatten -> flatten
L.Upsample -> resize_images
L.PixelShuffle -> depth2space
L.ZeroPad2d -> pad
L.Dropout -> dropout
L.Dropout2d -> dropout
L.SpatialDropout2D -> dropout
L.SeparableConv2D -> DepthwiseConvolution2D
L.DepthwiseConv2D -> DepthwiseConvolution2D
L.GlobalAveragePooling2D -> F.mean(x, axis=(2, 3))
L.AveragePooling2D -> average_pooling_2d
L.MaxPool1d -> max_pooling_1d
L.AdaptiveAvgPool2d -> adaptive_average_pooling_2d
L.Transformer -> L.TransformerEncoderLayer
L.TransformerEncoder -> L.TransformerEncoderLayer
L.MultiheadAttention -> MultiHeadAttention
L.Attention -> Attention
L.Module -> Chain
L.ModuleDict -> Chain
L.ParameterList -> Parameter
L.Sequential -> Sequential
L.Model -> Chain
L.Input -> call the model with arrays
L.Concatenate -> concat
L.Add -> +
L.Lambda -> Sequential
L.Reshape -> reshape
L.Activation -> F.
L.WeightNorm -> WeightStandardization
L.InstanceNorm2d -> InstanceNormalization
L.LocalResponseNorm -> local_response_normalization
O.AdamW_ -> AdamW
O.Adamw -> AdamW
O.Adagrad -> AdaGrad
O.Adadelta -> AdaDelta
O.RMSProp -> RMSprop
O.Adamax -> Adam
O.Nadam -> NAdam
O.SGDMomentum -> MomentumSGD
O.Momentum -> MomentumSGD
O.Rprop -> optimizers.RMSprop
O.LBFGS -> optimizers.Adam
O.ASGD -> StochasticWeightAveraging
O.SparseAdam -> Adam
O.Ftrl -> optimizers.AdaGrad
O.lr_scheduler -> schedules
O.Optimizer -> chainer.Optimizer
E.EarlyStopping -> EarlyStop
E.ModelCheckpoint -> extensions.BestSnapshots
E.ReduceLROnPlateau -> Plateau
E.LearningRateScheduler -> Scheduled
E.TensorBoard -> TensorBoardWriter
E.CSVLogger_ -> CSVLogger
E.TqdmProgressBar -> ProgressBar
E.Checkpoint -> snapshot
E.Timer -> extensions.LogReport
E.EMA -> ExponentialMovingAverage
E.LRScheduler -> Scheduled
E.StepLR -> StepShift
E.CosineAnnealingLR -> chainer.training.schedules
E.GradientClipping -> optimizer_hooks
E.Callback -> Extension
I.DataLoader -> SerialIterator
I.BatchSampler -> batch_size
I.RandomSampler -> ShuffleOrderSampler
I.WeightedRandomSampler -> WeightedOrderSampler
I.ParallelIterator -> Multi
N.XavierUniform -> GlorotUniform
N.xavier_uniform_ -> GlorotUniform
N.xavier_normal_ -> GlorotNormal
N.KaimingNormal -> HeNormal
N.kaiming_normal_ -> HeNormal
N.HeUniform_ -> HeUniform
N.he_normal -> HeNormal
N.glorot_uniform -> GlorotUniform
N.TruncatedNormal -> Normal
N.constant_ -> Constant
N.Zeros -> Zero
N.Ones -> One
N.orthogonal_ -> Orthogonal
N.RandomNormal -> Normal
N.VarianceScaling -> initializers.LeCunNormal
D.MNIST -> get_mnist
D.CIFAR10 -> get_cifar10
D.TensorDataset -> TupleDataset
D.ImageFolder -> LabeledImageDataset
D.Subset -> SubDataset
D.random_split -> split_dataset_random
D.ConcatDataset -> ConcatenatedDataset
D.load_mnist -> get_mnist
D.FashionMNIST -> get_fashion_mnist
S.save -> save_npz
S.load -> load_npz
S.load_state_dict -> load_npz
chainer.tensor -> Variable
chainer.Tensor -> Variable
chainer.Module -> Chain
chainer.no_grad -> no_backprop_mode
chainer.save -> serializers
chainer.load -> serializers
chainer.manual_seed -> seed
chainer.nn -> links
chainer.optim -> chainer.optimizers
chainer.set_grad_enabled -> backprop
chainer.inference_mode -> no_backprop_mode
chainer.compile -> capture
chainer.autograd -> grad
chainer.jit -> capture
chainer.from_numpy -> Variable
chainer.zeros -> numpy
chainer.float32 -> numpy
T.EpochTrigger -> IntervalTrigger
T.EveryNEpochs -> Interval
O.Adam(lr=0.1) -> alpha
O.Adam(learning_rate=0.1) -> alpha
O.Adam(betas=(0.9,0.99)) -> beta1
O.Adam(weight_decay=0.1) -> weight_decay_rate=0.1
O.Adam(epsilon=1e-8) -> eps
O.Adam(m.params(), lr=0.1) -> setup
O.SGD(momentum=0.9) -> MomentumSGD
O.SGD(learning_rate=0.1) -> lr
O.SGD(m.params(), 0.1) -> setup
O.SGD(lr=0.1, nesterov=True) -> NesterovAG
O.SGD(lr=0.1, weight_decay=1e-4) -> WeightDecay
O.RMSprop(rho=0.9) -> alpha
O.RMSprop(momentum=0.9) -> MomentumSGD
O.MomentumSGD(lr=0.1, nesterov=True) -> NesterovAG
O.AdamW(lr=0.1, weight_decay=0.1) -> alpha=0.1
O.AdaDelta(decay=0.9) -> rho
L.Convolution2D(3,4,3,padding=1) -> pad
L.Convolution2D(3,4,kernel_size=3) -> ksize
L.Convolution2D(3,4,3,bias=False) -> nobias
L.Convolution2D(3,4,3,use_bias=False) -> nobias
L.Convolution2D(3,4,3,dilation=2) -> dilate
L.Convolution2D(3,4,3,strides=2) -> stride
L.Convolution2D(3,4,3,dilation_rate=2) -> dilate
L.Convolution2D(3,4,3,padding_mode='reflect') -> F.pad
L.Convolution2D(3,4,3,activation='relu') -> F.relu
L.Convolution2D(in_channel=3,out_channel=4,ksize=3) -> in_channels
L.Convolution2D(filters=3,ksize=3) -> out_channels
L.Linear(3,out_features=2) -> out_size
L.Linear(in_features=3,out_features=2) -> in_size
L.Linear(3,units=2) -> out_size
L.Linear(3,2,bias=False) -> nobias
L.Linear(3,2,use_bias=False) -> nobias
L.Linear(3,2,kernel_initializer=0) -> initialW
L.Linear(3,2,activation=F.relu) -> F.relu
L.BatchNormalization(3,momentum=0.1) -> decay
L.BatchNormalization(3,affine=False) -> use_gamma
L.BatchNormalization(num_features=3) -> size
L.BatchNormalization(3,epsilon=0.1) -> eps
L.EmbedID(num_embeddings=3,embedding_dim=2) -> in_size
L.EmbedID(3,2,padding_idx=0) -> ignore_label
L.NStepLSTM(1,3,2,0.,bidirectional=True) -> NStepBiLSTM
L.NStepLSTM(num_layers=1,in_size=3,out_size=2,dropout=0) -> n_layers
L.NStepLSTM(input_size=3,hidden_size=2) -> in_size
L.LSTM(3,hidden_size=2) -> out_size
L.GroupNormalization(num_groups=2) -> groups
L.LayerNormalization(normalized_shape=3) -> size
L.Classifier(m, loss=F.mean_squared_error) -> lossfun
F.max_pooling_2d(x,kernel_size=2) -> ksize
F.max_pooling_2d(x,2,padding=1) -> pad
F.max_pooling_2d(x,2,ceil_mode=True) -> cover_all
F.average_pooling_2d(x,2,count_include_pad=True) -> pad_value=None
F.dropout(x,p=0.5) -> ratio
F.dropout(x,rate=0.5) -> ratio
F.dropout(x,0.5,training=False) -> train
F.softmax(v,dim=1) -> axis
F.sum(v,dim=1) -> axis
F.sum(v,axis=1,keepdim=True) -> keepdims
F.mean(v,dim=0) -> axis
F.concat([v,v],dim=1) -> axis
F.stack([v,v],dim=1) -> axis
F.leaky_relu(v,negative_slope=0.1) -> slope
F.softmax_cross_entropy(v,np.zeros(2,np.int32),ignore_index=1) -> ignore_label
F.softmax_cross_entropy(v,np.zeros(2,np.int32),reduction='mean') -> reduce
F.softmax_cross_entropy(v,np.zeros(2,np.int32),weight=v) -> class_weight
F.mean_squared_error(v,v,reduction='sum') -> F.mean or F.sum
F.clip(v,min=0,max=1) -> x_min
F.clip(v,a_min=0,a_max=1) -> x_min
F.resize_images(x,size=(3,3)) -> output_shape
F.convolution_2d(x,np.ones((2,3,3,3),'f'),bias=None) -> b
F.convolution_2d(x,np.ones((2,3,3,3),'f'),padding=1) -> pad
F.embed_id(np.zeros(2,'i'),v,padding_idx=0) -> ignore_label
F.layer_normalization(v,np.ones(3,'f'),np.zeros(3,'f'),epsilon=1) -> eps
I.SerialIterator(ds,batchsize=2) -> batch_size
I.SerialIterator(ds,2,drop_last=True) -> repeat=True
I.SerialIterator(ds,2,num_workers=4) -> MultiprocessIterator
I.MultiprocessIterator(ds,2,num_workers=4) -> n_processes
I.MultithreadIterator(ds,2,num_workers=4) -> n_threads
E.snapshot(file='x') -> filename
E.snapshot(save_best_only=True) -> BestSnapshots
E.EarlyStop(monitor='x',patience=3) -> key='x'
E.LogReport(interval=(1,'epoch')) -> trigger
E.ProgressBar(total=3) -> training_length
E.Evaluator(None,m,batch_size=3) -> iterator, target
E.ExponentialShift('lr',gamma=0.1) -> rate
E.PlotReport(['a'],file='x') -> filename
training.Trainer(None,(1,'epoch'),output='x') -> out
training.Trainer(None,epochs=3) -> stop_trigger
training.updaters.StandardUpdater(None,None,gpu=0) -> device
N.Normal(std=0.1) -> scale
N.Normal(mean=0.1) -> mean 0
N.Normal(stddev=0.1) -> scale
N.Uniform(low=0.1) -> scale
N.HeNormal(gain=1.) -> scale
N.Constant(value=1) -> fill_value
N.GlorotUniform(seed=1) -> rng
D.TransformDataset(ds,fn=3) -> transform
D.split_dataset_random(ds,2,random_state=3) -> seed
m.parameters() -> params
m.named_parameters() -> namedparams
m.state_dict() -> save
m.train() -> using_config('train', True)
m.eval() -> train
m.cuda() -> to_device
m.zero_grad() -> cleargrads
m.modules() -> links
m.load_state_dict({}) -> load
m.register_buffer('a',3) -> add_persistent
m.register_parameter('a',3) -> init_scope
m.summary() -> chainer.summary
m.fit() -> chainer.fit
m.compile() -> chainer.capture
m.cpu() -> to_cpu()
m.half() -> mixed16
m.requires_grad_(False) -> disable_update
v.view(3,2) -> reshape
v.permute(1,0) -> transpose
v.unsqueeze(0) -> expand_dims
v.cuda() -> to_device
v.grad_fn -> creator
v.sum(dim=1) -> axis
v.clamp(0) -> clip
v.t() -> T
v.float() -> cast
v.matmul(v) -> matmul
v.argmax(1) -> argmax
v.zero_grad() -> cleargrad
O.SGD().zero_grad() -> cleargrads
O.SGD().step() -> update
O.SGD().param_groups -> hyperparam
O.Adam().state_dict() -> serial
O.SGD().minimize(v) -> update
"""


def names() -> dict[str, object]:
    """Returns the names that the cases use."""
    return {
        "chainer": chainer,
        "F": F,
        "L": L,
        "O": optimizers,
        "I": iterators,
        "N": initializers,
        "E": extensions,
        "T": triggers,
        "D": datasets,
        "S": serializers,
        "training": training,
        "np": np,
        "x": np.ones((2, 3, 8, 8), np.float32),
        "v": chainer.Variable(np.ones((2, 3), np.float32)),
        "m": L.Linear(3, 2),
        "ds": [(np.zeros(3, np.float32), np.int32(0))] * 4,
    }


@pytest.mark.parametrize("case", CASES.strip().splitlines())
def test_the_error_names_ours(case: str) -> None:
    code, _, expected = case.partition(" -> ")
    with pytest.raises((AttributeError, TypeError)) as caught:
        eval(code, names())
    # Behind the statement that there is no such name.
    assert expected in str(caught.value).partition("; ")[2], str(caught.value)
