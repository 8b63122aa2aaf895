"""Words that users of other libraries search for, and the pages that they mean.

A hook of MkDocs: the words become tags of the pages, which the search ranks above everything else.
``python -m scripts.site.queries site`` checks what a search finds.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from chainer.core.foreign_names import NAMES as FOREIGN_NAMES
from scripts.site.names import link_targets, main_names, page_of

#: Name in chainer, without ``chainer.`` -> words, written as users type them.
NAMES: dict[str, tuple[str, ...]] = {
    "functions.average_pooling_2d": ("avg_pool2d",),
    "functions.batch_normalization": ("batch_norm",),
    "functions.concat": ("concatenate", "cat"),
    "functions.convolution_2d": ("F.conv2d", "convolution", "convolution 2d"),
    "functions.dropout": ("Dropout",),
    "functions.embed_id": ("one-hot lookup",),
    "functions.huber_loss": ("smooth_l1_loss", "SmoothL1Loss"),
    "functions.leaky_relu": ("LeakyReLU",),
    "functions.classification_summary": ("confusion matrix", "precision recall"),
    "functions.forget": ("gradient checkpointing", "torch.utils.checkpoint"),
    "functions.matmul": ("bmm",),
    "functions.normalize": ("cosine similarity",),
    "functions.split_axis": ("torch.split",),
    "functions.max_pooling_2d": ("max_pool2d", "MaxPool2d", "MaxPooling2D"),
    "functions.mean_squared_error": ("mse_loss", "MSELoss", "mse"),
    "functions.pad": ("ZeroPad2d",),
    "functions.relu": ("ReLU activation",),
    "functions.reshape": ("view", "flatten a tensor"),
    "functions.resize_images": ("interpolate", "upsample"),
    "functions.sigmoid_cross_entropy": ("BCEWithLogitsLoss", "binary cross entropy", "bce"),
    "functions.softmax_cross_entropy": ("cross entropy", "CrossEntropyLoss", "cross_entropy"),
    "functions.squeeze": ("squeeze dimension",),
    "functions.transpose": ("permute",),
    "initializers.GlorotUniform": ("xavier_uniform", "xavier"),
    "initializers.HeNormal": ("kaiming_normal", "kaiming"),
    "iterators.MultiprocessIterator": ("num_workers", "parallel data loading"),
    "iterators.SerialIterator": ("DataLoader", "dataloader"),
    "datasets.TupleDataset": ("TensorDataset",),
    "datasets.split_dataset_random": ("random_split", "train test split"),
    "dataset.DatasetMixin": ("custom dataset",),
    "links.BatchNormalization": ("BatchNorm2d", "BatchNorm"),
    "links.Convolution2D": ("conv2d", "Conv2D", "convolution layer"),
    "links.Deconvolution2D": ("ConvTranspose2d", "transposed convolution"),
    "links.EmbedID": ("Embedding", "nn.Embedding"),
    "links.GroupNormalization": ("GroupNorm",),
    "links.LayerNormalization": ("LayerNorm",),
    "links.Linear": ("Dense", "fully connected", "Linear"),
    "links.NStepGRU": ("GRU layer",),
    "links.NStepLSTM": ("nn.LSTM", "LSTM layer"),
    "Chain": ("nn.Module", "module", "keras Model"),
    "ChainList": ("ModuleList",),
    "Sequential": ("nn.Sequential", "sequential model"),
    "Parameter": ("nn.Parameter",),
    "Variable": ("tensor", "requires_grad"),
    "Link": ("zero_grad", "freeze parameters", "zerograds"),
    "no_backprop_mode": ("no_grad", "inference mode"),
    "using_config": ("model.eval", "eval mode", "train mode"),
    "grad": ("autograd.grad", "jax.grad", "value_and_grad"),
    "optimizers.Adam": ("adam optimizer",),
    "optimizers.AdamW": ("weight decay adam",),
    "optimizers.MomentumSGD": ("SGD momentum",),
    "optimizer_hooks.GradientClipping": ("clip_grad_norm_", "clipnorm"),
    "optimizer_hooks.WeightDecay": ("L2 regularization", "l2 penalty"),
    "training.schedules.Cosine": ("CosineAnnealingLR", "CosineDecay"),
    "training.schedules.OneCycle": ("OneCycleLR",),
    "training.updaters.ParallelUpdater": ("DataParallel",),
    "training.extensions.Evaluator": ("validation loop",),
    "training.extensions.snapshot": ("checkpoint", "ModelCheckpoint"),
    "training.extensions.ExponentialShift": ("learning rate decay", "ExponentialLR"),
    "training.extensions.LogReport": ("history", "CSVLogger"),
    "training.extensions.PlotReport": ("plot loss", "loss curve", "learning curve"),
    "training.extensions.ProgressBar": ("tqdm", "progress bar"),
    "training.triggers.EarlyStoppingTrigger": ("early stopping", "EarlyStopping"),
    "serializers.load_npz": ("load_state_dict", "torch.load", "load weights"),
    "functions.einsum": ("torch.einsum",),
    "serializers.load_safetensors": ("safetensors",),
    "functions.label_smoothed_cross_entropy": ("label smoothing",),
    "functions.scaled_dot_product_attention": ("flash attention",),
    "functions.pad_sequence": (
        "pack_padded_sequence",
        "pad_packed_sequence",
    ),
    "functions.positional_encoding": (
        "PositionalEncoding",
        "sinusoidal embedding",
    ),
    "functions.rotary_embedding": ("rope",),
    "functions.drop_path": ("stochastic depth",),
    "functions.dice_loss": ("DiceLoss",),
    "datasets.get_cross_validation_datasets": (
        "KFold",
        "k-fold cross validation",
    ),
    "datasets.transforms.Compose": (
        "torchvision.transforms",
        "preprocessing images",
    ),
    "datasets.transforms.Cutout": ("RandomErasing",),
    "datasets.transforms.RandomFlip": ("RandomHorizontalFlip",),
    "gradient_check.check_backward": (
        "gradcheck",
        "numerical gradient",
    ),
    "computational_graph.build_computational_graph": (
        "torchviz",
        "plot_model",
        "graphviz",
    ),
    "summary": (
        "torchinfo",
        "model.summary",
        "count parameters",
    ),
    "functional_call": (
        "torch.func",
        "stateless call",
    ),
    "hvp": ("hessian vector product",),
    "jacrev": ("jacobian",),
    "per_sample_grad": (
        "per sample gradients",
        "opacus",
    ),
    "LinkHook": (
        "register_forward_hook",
        "forward hook",
    ),
    "training.extensions.ExponentialMovingAverage": (
        "AveragedModel",
        "moving average of weights",
    ),
    "training.extensions.StochasticWeightAveraging": ("SWA",),
    "training.extensions.find_learning_rate": (
        "lr_find",
        "learning rate finder",
    ),
    "training.extensions.PrintReport": ("print report",),
    "training.extensions.WarmupShift": ("linear warmup",),
    "backends.cuda.to_gpu": ("model.cuda",),
    "serializers.save_hdf5": ("h5 file",),
    "serializers.save_npz": ("state_dict", "torch.save", "save weights"),
}

#: Page -> words.
PAGES: dict[str, tuple[str, ...]] = {
    "guide/coming-from-pytorch.md": ("pytorch", "torch"),
    "guide/data.md": ("dataset", "batches", "collate_fn", "collate"),
    "guide/debugging.md": ("nan", "print shapes", "debug"),
    "guide/devices.md": ("gpu", "cuda", "to device", "device_put"),
    "guide/double-backprop.md": ("second derivative", "gradient penalty"),
    "guide/dtypes.md": ("mixed precision", "amp", "bfloat16", "float16"),
    "guide/install.md": ("pip", "install"),
    "guide/many-machines.md": (
        "distributed",
        "DistributedDataParallel",
        "ddp",
        "mpi",
        "horovod",
        "multiple gpus",
    ),
    "guide/optimizers.md": (
        "learning rate",
        "scheduler",
        "weight decay",
        "gradient clipping",
        "optax",
    ),
    "guide/pytorch.md": ("load weights from pytorch", "pytorch checkpoint"),
    "guide/reproducibility.md": ("seed", "random seed", "reproducible", "deterministic"),
    "guide/rescue.md": ("port old project",),
    "guide/first-steps.md": ("tutorial", "quickstart", "getting started", "hello world"),
    "guide/saving.md": ("save model", "load model", "resume training"),
    "guide/speed.md": ("slow training", "performance tips"),
    "guide/training.md": ("training loop", "fit", "trainer", "model.fit"),
    "guide/captured-steps.md": ("torch.compile", "jit", "jax.jit", "tf.function", "cuda graphs"),
    "guide/plugins.md": ("plugin",),
    "onnx.md": ("export to onnx", "onnx"),
    "add-a-function.md": ("custom function", "autograd.Function"),
    "add-a-link.md": ("custom layer", "custom link"),
    "guide/language-models.md": ("gpt", "llama", "huggingface"),
    "guide/models.md": ("weight initialization",),
    "guide/variables.md": ("to numpy", "detach", "stop_gradient"),
    "recipes/fine-tuning.md": ("transfer learning", "freeze layers", "pretrained model"),
    "recipes/image-folder.md": ("data augmentation", "ImageFolder"),
    "clients.md": ("chainercv",),
    "gpu.md": ("cupy",),
    "add-an-extension.md": ("custom callback",),
    "add-an-optimizer.md": ("custom optimizer",),
    "guide/coming-from-chainer.md": (
        "volatile",
        "old chainer code",
        "migration",
        "upgrade",
    ),
    "guide/any-order.md": (
        "third derivative",
        "higher order gradients",
    ),
    "recipes/gradient-accumulation.md": ("gradient accumulation",),
    "recipes/class-imbalance.md": (
        "class weights",
        "imbalanced data",
    ),
    "recipes/csv.md": (
        "pandas",
        "tabular data",
    ),
    "recipes/nan.md": (
        "detect_anomaly",
        "loss is nan",
    ),
    "recipes/notebook.md": (
        "jupyter",
        "colab",
    ),
    "recipes/gan.md": ("gan", "generative adversarial network"),
    "recipes/physics.md": ("pinn",),
    "recipes/profiling.md": ("torch.profiler",),
    "recipes/reinforcement.md": ("REINFORCE",),
    "recipes/time-series.md": ("forecasting",),
    "recipes/own-kernel.md": ("custom cuda kernel",),
    "recipes/clusters.md": ("torchrun",),
    "guide/recurrent.md": ("rnn",),
    "recipes/web-service.md": ("deploy", "serve a model"),
}

#: This page has all names of PyTorch and Keras, and would come first for each of them.
_EVERY_NAME = "guide/coming-from-pytorch.md"

#: How texts of the table of foreign names abbreviate modules.
_SHORT = {"F": "chainer.functions", "L": "chainer.links"}
_OURS = re.compile(r"\b([A-Za-z_][\w.]*\.\w+)")

#: Registry of the table of foreign names -> module in which PyTorch has such names.
_ELSEWHERE = {"links": "nn", "optimizers": "optim", "chainer": "torch"}


def foreign_words() -> dict[str, tuple[str, ...]]:
    """Returns what a page of the reference is called in PyTorch and Keras.

    The table of names that errors and the guide use has them: no name is written twice.

    Returns:
        dict: Path of each page -> words.
    """
    found: dict[str, list[str]] = {}
    targets, main = link_targets(), main_names()
    for registry, names in FOREIGN_NAMES.items():
        for theirs, text in names.items():
            for ours in _OURS.findall(text):
                module, _, rest = ours.partition(".")
                full = f"{_SHORT.get(module, ours if module == 'chainer' else f'chainer.{module}')}"
                full += "" if module == "chainer" else f".{rest}"
                if full not in targets and module not in ("chainer", "F", "L"):
                    full = f"chainer.training.{ours}"
                if full not in targets:
                    continue
                words = found.setdefault(page_of(main[targets[full]].public), [])
                words.append(theirs)
                if registry in _ELSEWHERE:
                    words.append(f"{_ELSEWHERE[registry]}.{theirs}")
                break
    return {page: tuple(words) for page, words in found.items()}


@lru_cache(maxsize=1)
def pages() -> dict[str, tuple[str, ...]]:
    """Returns the path of each page that has words -> its words."""
    found = {page: list(words) for page, words in PAGES.items()}
    for name, words in NAMES.items():
        found[page_of(f"chainer.{name}")] = list(words)
    # What is written here comes first, and a word leads to one page only.
    taken = {word.lower() for words in found.values() for word in words}
    for page, words in foreign_words().items():
        for word in words:
            if word.lower() not in taken and not page.lower().endswith(f".{word.lower()}.md"):
                taken.add(word.lower())
                found.setdefault(page, []).append(word)
    return {page: tuple(words) for page, words in found.items()}


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Gives a page its words before the search reads it."""
    path = page.file.src_uri
    words = pages().get(path)
    if words:
        page.meta["tags"] = [*page.meta.get("tags", ()), *words]
    if path in PAGES and path != _EVERY_NAME:
        # As much as pages of the reference: their words are those of whole subjects.
        page.meta.setdefault("search", {}).setdefault("boost", 2)
    return markdown
