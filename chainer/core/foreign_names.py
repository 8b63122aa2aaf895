"""Names of PyTorch and Keras, and the names that Chainer has for the same things.

Errors about unknown names, attributes and keyword arguments look here. The page "Coming from
PyTorch" is made of the same tables (``scripts/make_foreign_names.py``). A name is only looked up
after a call or an access has failed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, cast

from chainer.core.misuse import similar

#: Name of a registry -> name elsewhere -> what to write here.
NAMES: dict[str, dict[str, str]] = {
    "functions": {
        "adaptive_avg_pool2d": "F.adaptive_average_pooling_2d",
        "avg_pool1d": "F.average_pooling_1d",
        "avg_pool2d": "F.average_pooling_2d",
        "avg_pool3d": "F.average_pooling_3d",
        "batch_norm": "F.batch_normalization",
        "binary_cross_entropy_with_logits": "F.sigmoid_cross_entropy, with labels of integers",
        "bmm": "F.matmul",
        "cat": "F.concat",
        "chunk": "F.split_axis",
        "clamp": "F.clip",
        "conv1d": "F.convolution_1d",
        "conv2d": "F.convolution_2d",
        "conv3d": "F.convolution_3d",
        "conv_transpose1d": "F.deconvolution_1d",
        "conv_transpose2d": "F.deconvolution_2d",
        "conv_transpose3d": "F.deconvolution_3d",
        "cosine_similarity": "the sum of the product of F.normalize(a) and F.normalize(b)",
        "cross_entropy": "F.softmax_cross_entropy",
        "ctc_loss": "F.connectionist_temporal_classification",
        "dropout2d": "F.dropout",
        "embedding": "F.embed_id",
        "gather": "F.select_item, or indexing",
        "grid_sample": "F.spatial_transformer_sampler",
        "group_norm": "F.group_normalization",
        "hardsigmoid": "F.hard_sigmoid, whose slope is 0.2",
        "hardswish": "F.hard_swish",
        "instance_norm": "F.instance_normalization",
        "interpolate": "F.resize_images",
        "kl_div": "chainer.kl_divergence of two distributions",
        "l1_loss": "F.mean_absolute_error",
        "layer_norm": "F.layer_normalization",
        "local_response_norm": "F.local_response_normalization",
        "logsigmoid": "-F.softplus(-x)",
        "max_pool1d": "F.max_pooling_1d",
        "max_pool2d": "F.max_pooling_2d",
        "max_pool3d": "F.max_pooling_3d",
        "max_unpool2d": "F.upsampling_2d",
        "mm": "F.matmul",
        "mse_loss": "F.mean_squared_error",
        "nll_loss": "F.softmax_cross_entropy, of the values before F.log_softmax",
        "one_hot": "chainer.Variable(numpy.eye(n_classes)[t])",
        "permute": "F.transpose",
        "pixel_shuffle": "F.depth2space",
        "pixel_unshuffle": "F.space2depth",
        "relu_": "F.relu",
        "rms_norm": "F.rms_normalization",
        "smooth_l1_loss": "F.huber_loss",
        "softmin": "F.softmax(-x)",
        "split": "F.split_axis",
        "triplet_margin_loss": "F.triplet",
        "unfold": "F.im2col",
        "unsqueeze": "F.expand_dims",
        "upsample": "F.resize_images",
        "view": "F.reshape",
    },
    "links": {
        "AdaptiveAvgPool2d": "the function F.adaptive_average_pooling_2d",
        "AvgPool2d": "the function F.average_pooling_2d",
        "BCEWithLogitsLoss": "the function F.sigmoid_cross_entropy",
        "BatchNorm1d": "L.BatchNormalization",
        "BatchNorm2d": "L.BatchNormalization",
        "BatchNorm3d": "L.BatchNormalization",
        "Conv1D": "L.Convolution1D",
        "Conv1d": "L.Convolution1D",
        "Conv2D": "L.Convolution2D",
        "Conv2DTranspose": "L.Deconvolution2D",
        "Conv2d": "L.Convolution2D",
        "Conv3d": "L.Convolution3D",
        "ConvTranspose1d": "L.Deconvolution1D",
        "ConvTranspose2d": "L.Deconvolution2D",
        "ConvTranspose3d": "L.Deconvolution3D",
        "CrossEntropyLoss": "the function F.softmax_cross_entropy",
        "Dense": "L.Linear",
        "Dropout": "the function F.dropout",
        "Embedding": "L.EmbedID",
        "Flatten": "the function F.flatten, or F.reshape(x, (len(x), -1)) for a batch",
        "GELU": "the function F.gelu",
        "GRUCell": "L.StatefulGRU or L.StatelessGRU",
        "GroupNorm": "L.GroupNormalization",
        "Identity": "the function F.identity",
        "InstanceNorm1d": "L.InstanceNormalization",
        "InstanceNorm2d": "L.InstanceNormalization",
        "KLDivLoss": "chainer.kl_divergence of two distributions",
        "L1Loss": "the function F.mean_absolute_error",
        "LSTMCell": "L.StatelessLSTM",
        "LayerNorm": "L.LayerNormalization",
        "LeakyReLU": "the function F.leaky_relu",
        "LogSoftmax": "the function F.log_softmax",
        "MSELoss": "the function F.mean_squared_error",
        "MaxPool2d": "the function F.max_pooling_2d",
        "MaxPooling2D": "the function F.max_pooling_2d",
        "Module": "chainer.Chain",
        "ModuleList": "chainer.ChainList",
        "MultiheadAttention": "L.MultiHeadAttention",
        "NLLLoss": "the function F.softmax_cross_entropy, of the values before F.log_softmax",
        "RMSNorm": "L.RMSNormalization",
        "RNN": "L.NStepRNNTanh or L.NStepRNNReLU",
        "ReLU": "the function F.relu",
        "Sequential": "chainer.Sequential",
        "SiLU": "the function F.silu",
        "Sigmoid": "the function F.sigmoid",
        "SmoothL1Loss": "the function F.huber_loss",
        "Softmax": "the function F.softmax",
        "Tanh": "the function F.tanh",
        "Upsample": "the function F.resize_images",
    },
    "optimizers": {
        "Adadelta": "optimizers.AdaDelta",
        "Adagrad": "optimizers.AdaGrad",
        "Momentum": "optimizers.MomentumSGD",
        "Nesterov": "optimizers.NesterovAG",
        "RMSProp": "optimizers.RMSprop",
    },
    "optimizer_hooks": {
        "clip_grad_norm_": "optimizer_hooks.GradientClipping(1.0), for add_hook()",
        "clip_grad_value_": "optimizer_hooks.GradientHardClipping(-1, 1), for add_hook()",
    },
    "datasets": {
        "CIFAR10": "datasets.get_cifar10",
        "CIFAR100": "datasets.get_cifar100",
        "DataLoader": "chainer.iterators.SerialIterator, or MultiprocessIterator with workers",
        "Dataset": "chainer.dataset.DatasetMixin",
        "FashionMNIST": "datasets.get_fashion_mnist",
        "ImageFolder": "datasets.LabeledImageDataset",
        "KMNIST": "datasets.get_kuzushiji_mnist",
        "MNIST": "datasets.get_mnist",
        "SVHN": "datasets.get_svhn",
        "Subset": "datasets.SubDataset",
        "TensorDataset": "datasets.TupleDataset",
        "random_split": "datasets.split_dataset_random",
    },
    "iterators": {
        "DataLoader": "iterators.SerialIterator, or MultiprocessIterator with workers",
    },
    "extensions": {
        "EarlyStopping": "extensions.EarlyStop",
        "ModelCheckpoint": "extensions.BestSnapshots",
        "ReduceLROnPlateau": "extensions.Plateau",
        "SummaryWriter": "extensions.TensorBoardWriter",
        "TensorBoard": "extensions.TensorBoardWriter",
    },
    "initializers": {
        "glorot_uniform": "initializers.GlorotUniform",
        "kaiming_normal_": "initializers.HeNormal",
        "kaiming_uniform_": "initializers.HeUniform",
        "orthogonal_": "initializers.Orthogonal",
        "xavier_normal_": "initializers.GlorotNormal",
        "xavier_uniform_": "initializers.GlorotUniform",
    },
}

#: Class -> attribute elsewhere -> what to write here.
ATTRIBUTES: dict[str, dict[str, str]] = {
    "Link": {
        "add_module": "with link.init_scope(): link.name = child, or add_link() of a Chain",
        "apply": "for link in model.links(): ...",
        "buffers": "values registered by add_persistent()",
        "cpu": "to_cpu()",
        "cuda": "to_gpu(), or to_device('@cupy:0')",
        "eval": "chainer.using_config('train', False): the model has no mode",
        "fit": "chainer.fit(model, train)",
        "half": "chainer.config.dtype = chainer.mixed16 before the model is made",
        "load_state_dict": "chainer.serializers.load_npz(file, model)",
        "load_weights": "chainer.serializers.load_npz(file, model)",
        "modules": "links()",
        "named_children": "children(), whose links have the attribute name",
        "named_modules": "namedlinks()",
        "named_parameters": "namedparams()",
        "parameters": "params(); an optimizer takes the model: optimizer.setup(model)",
        "predict": "a call of the model within chainer.using_config('train', False)",
        "register_buffer": "add_persistent(name, value)",
        "register_forward_hook": "add_hook() with a chainer.LinkHook",
        "register_parameter": "with link.init_scope(): link.name = chainer.Parameter(...)",
        "requires_grad_": "freeze(), or enable_update() and disable_update()",
        "save_weights": "chainer.serializers.save_npz(file, model)",
        "state_dict": "chainer.serializers.save_npz(file, model), or dict(model.namedparams())",
        "to": "to_device(device)",
        "train": "chainer.using_config('train', True), which is the default",
        "zero_grad": "cleargrads()",
    },
    "Optimizer": {
        "load_state_dict": "chainer.serializers.load_npz(file, optimizer)",
        "param_groups": "group() for hyperparameters of some parameters, optimizer.target.params()",
        "state_dict": "chainer.serializers.save_npz(file, optimizer)",
        "zero_grad": "cleargrads() of the model",
    },
    "Variable": {
        "clone": "F.identity(x), or x.array.copy()",
        "contiguous": "x itself; functions take any memory layout",
        "cpu": "to_cpu()",
        "cuda": "to_gpu(), or to_device('@cupy:0')",
        "dim": "ndim",
        "double": "F.cast(x, 'float64')",
        "float": "F.cast(x, 'float32')",
        "half": "F.cast(x, 'float16')",
        "is_leaf": "x.creator is None",
        "masked_fill": "F.where(mask, value, x)",
        "numel": "size",
        "permute": "transpose(*axes)",
        "requires_grad_": "chainer.Variable(array, requires_grad=True)",
        "unsqueeze": "F.expand_dims(x, axis)",
        "view": "reshape(*shape)",
        "zero_": "cleargrad() for a gradient, x.array[...] = 0 for values",
    },
}

#: Keyword argument elsewhere -> arguments here, of which the callee has one, or a text.
KEYWORDS: dict[str, tuple[str, ...]] = {
    "activity_regularizer": ("a term that the model adds to its loss",),
    "affine": ("use_gamma", "use_beta"),
    "batch_first": ("lists of sequences, each of shape (length, size)",),
    "betas": ("beta1", "beta2"),
    "bias": ("nobias",),
    "bias_initializer": ("initial_bias",),
    "dilation": ("dilate",),
    "dilation_rate": ("dilate",),
    "dim": ("axis",),
    "drop_last": ("repeat",),
    "embed_dim": ("size",),
    "embedding_dim": ("out_size",),
    "epsilon": ("eps",),
    "filters": ("out_channels",),
    "hidden_size": ("out_size",),
    "in_features": ("in_size",),
    "inplace": ("no argument: functions return new arrays",),
    "input_dim": ("in_size",),
    "input_size": ("in_size",),
    "keepdim": ("keepdims",),
    "kernel_initializer": ("initialW",),
    "kernel_size": ("ksize",),
    "learning_rate": ("alpha", "lr"),
    "lr": ("alpha",),
    "monitor": ("key",),
    "momentum": ("decay", "the optimizer MomentumSGD"),
    "negative_slope": ("slope",),
    "normalized_shape": ("size",),
    "num_channels": ("size",),
    "num_embeddings": ("in_size",),
    "num_features": ("size",),
    "num_groups": ("groups",),
    "num_heads": ("n_heads",),
    "num_layers": ("n_layers",),
    "num_workers": ("n_processes", "the iterator MultiprocessIterator with n_processes"),
    "output_dim": ("out_size",),
    "output_padding": ("outsize",),
    "p": ("ratio", "dropout"),
    "padding": ("pad",),
    "padding_idx": ("ignore_label",),
    "rate": ("ratio",),
    "rho": ("alpha",),
    "strides": ("stride",),
    "units": ("out_size",),
    "use_bias": ("nobias",),
    "weight_decay": ("weight_decay_rate", "the hook chainer.optimizer_hooks.WeightDecay"),
}

#: Arguments that mean the opposite, or another number, of the argument elsewhere.
_CONVERSIONS: dict[str, Callable[[Any], str]] = {
    "bias": lambda value: f"nobias={not value}",
    "use_bias": lambda value: f"nobias={not value}",
    "momentum": lambda value: f"decay={1 - value:g}" if isinstance(value, float) else "decay",
    "betas": lambda value: (
        "beta1={!r}, beta2={!r}".format(*cast("tuple[object, ...]", value))
        if isinstance(value, tuple) and len(cast("tuple[object, ...]", value)) == 2
        else "beta1=..., beta2=..."
    ),
}


def name_hint(registry: str, name: str) -> str | None:
    """Returns what to write instead of a name of PyTorch or Keras; None for other names.

    Args:
        registry: Name of the registry in which there is no such name.
        name: The name.
    """
    names = NAMES.get(registry, {})
    found = names.get(name)
    if found is None and len(name) > 3:
        # Spellings differ in case and underscores: Conv2D, conv_2d.
        wanted = _folded(name)
        found = next((ours for theirs, ours in names.items() if _folded(theirs) == wanted), None)
    return None if found is None else f"Chainer has {found}"


def _folded(name: str) -> str:
    return name.replace("_", "").lower()


def keyword_hint(name: str, value: object, accepted: Sequence[str]) -> str | None:
    """Returns what to write instead of a keyword argument; None if nothing is known.

    Args:
        name: The keyword argument that was given.
        value: Its value.
        accepted: Names of the arguments that there are.
    """
    candidates = KEYWORDS.get(name, ())
    names = [candidate for candidate in candidates if candidate in accepted]
    if names:
        convert = _CONVERSIONS.get(name)
        if convert is None:
            return f"write {names[0]}={value!r}" if _is_short(value) else f"write {names[0]}=..."
        return f"write {convert(value)}"
    near = similar(name, accepted)
    if near is not None:
        return f"did you mean {near!r}?"
    texts = [candidate for candidate in candidates if " " in candidate]
    return f"Chainer has {texts[0]}" if texts else None


def _is_short(value: object) -> bool:
    return isinstance(value, (bool, int, float, str)) and len(repr(value)) < 20


def check_keywords(cls: type, kwargs: Mapping[str, object]) -> None:
    """Raises TypeError for a keyword argument that the constructor of a class does not accept.

    Python would raise it, too, but does not know which argument was meant.

    Args:
        cls: The class.
        kwargs: Keyword arguments that it is called with.
    """
    code = getattr(cls.__init__, "__code__", None)
    # A constructor that takes any keyword arguments checks them itself.
    if code is None or code.co_flags & inspect.CO_VARKEYWORDS:
        return
    accepted = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    for name, value in kwargs.items():
        if name not in accepted:
            hint = keyword_hint(name, value, accepted)
            raise TypeError(
                f"{cls.__qualname__}.__init__() got an unexpected keyword argument {name!r}"
                + (f"; {hint}" if hint else f"; it has {', '.join(accepted)}")
            )


class CheckedKeywords:
    """Base of classes whose constructors tell which keyword argument was meant."""

    def __new__(cls, /, *args: Any, **kwargs: Any) -> Self:
        """Makes an instance, or raises TypeError for an unknown keyword argument."""
        if kwargs:
            check_keywords(cls, kwargs)
        make = super().__new__
        # A class behind this one may have a constructor of its own, which takes the arguments.
        return make(cls) if make is object.__new__ else make(cls, *args, **kwargs)


def explain_call_error(
    error: TypeError, function: Callable[..., object], kwargs: Mapping[str, object]
) -> None:
    """Adds to the error of a call which argument was meant, if a keyword argument is unknown.

    Args:
        error: The error, caught in the frame that made the call.
        function: The function that was called.
        kwargs: Keyword arguments of the call.
    """
    traceback = error.__traceback__
    # An error of the function itself has a frame of the function in its traceback.
    if not kwargs or traceback is None or traceback.tb_next is not None:
        return
    accepted = list(inspect.signature(function).parameters)
    for name, value in kwargs.items():
        hint = None if name in accepted else keyword_hint(name, value, accepted)
        if hint is not None:
            error.args = (f"{error}; {hint}",)
            return


class ForeignAttribute:
    """Descriptor of an attribute that objects of PyTorch have: reading it raises AttributeError.

    It has no ``__set__``: subclasses and instances may define the attribute, and ``hasattr()`` is
    False until they do.

    Args:
        text: What to write instead.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> Any:
        raise AttributeError(
            f"{owner.__name__!r} object has no attribute {self._name!r}; Chainer has {self._text}",
            name=self._name,
            obj=instance,
        )


def add_foreign_attributes(cls: type, names: Mapping[str, str]) -> None:
    """Gives a class the attributes whose access tells the name that Chainer has.

    Args:
        cls: The class.
        names: Attribute elsewhere -> what to write here.
    """
    for name, text in names.items():
        attribute = ForeignAttribute(text)
        attribute.__set_name__(cls, name)
        setattr(cls, name, attribute)

    def listed(self: object) -> list[str]:
        found = object.__dir__(self)
        return [
            name
            for name in found
            if name not in names
            or not isinstance(inspect.getattr_static(self, name, None), ForeignAttribute)
        ]

    # Tools that read every attribute that dir() lists would fail.
    cls.__dir__ = listed  # type: ignore[method-assign]
