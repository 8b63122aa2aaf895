"""Words that users of other libraries search for, and the pages that they mean.

A hook of MkDocs: the words become tags of the pages, which the search ranks above everything else.
``python -m scripts.site.queries site`` checks what a search finds.
"""

from __future__ import annotations

from typing import Any

#: Name in chainer, without ``chainer.`` -> words, written as users type them.
NAMES: dict[str, tuple[str, ...]] = {
    "functions.average_pooling_2d": ("avg_pool2d",),
    "functions.batch_normalization": ("batch_norm",),
    "functions.concat": ("concatenate", "cat"),
    "functions.convolution_2d": ("F.conv2d",),
    "functions.dropout": ("Dropout",),
    "functions.embed_id": ("one-hot lookup",),
    "functions.huber_loss": ("smooth_l1_loss", "SmoothL1Loss"),
    "functions.leaky_relu": ("LeakyReLU",),
    "functions.matmul": ("bmm",),
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
    "no_backprop_mode": ("no_grad", "inference mode"),
    "grad": ("autograd.grad",),
    "optimizers.Adam": ("adam optimizer",),
    "optimizers.AdamW": ("weight decay adam",),
    "optimizers.MomentumSGD": ("SGD momentum",),
    "training.extensions.Evaluator": ("validation loop",),
    "training.extensions.snapshot": ("checkpoint", "ModelCheckpoint"),
    "training.extensions.ExponentialShift": ("learning rate decay", "ExponentialLR"),
    "training.extensions.LogReport": ("history", "CSVLogger"),
    "training.extensions.ProgressBar": ("tqdm",),
    "training.triggers.EarlyStoppingTrigger": ("early stopping", "EarlyStopping"),
    "serializers.load_npz": ("load_state_dict",),
    "serializers.save_npz": ("state_dict",),
}

#: Page -> words.
PAGES: dict[str, tuple[str, ...]] = {
    "guide/coming-from-pytorch.md": ("pytorch", "torch"),
    "guide/data.md": ("dataset", "batches", "collate_fn", "collate"),
    "guide/debugging.md": ("nan", "print shapes"),
    "guide/devices.md": ("gpu", "cuda", "to device"),
    "guide/double-backprop.md": ("second derivative", "gradient penalty"),
    "guide/dtypes.md": ("mixed precision", "amp", "bfloat16", "float16"),
    "guide/install.md": ("pip", "install"),
    "guide/many-machines.md": ("distributed", "DistributedDataParallel", "ddp", "mpi"),
    "guide/optimizers.md": ("learning rate", "scheduler", "weight decay", "gradient clipping"),
    "guide/reproducibility.md": ("seed", "random seed"),
    "guide/saving.md": ("save model", "load model", "resume training"),
    "guide/speed.md": ("slow training", "performance tips"),
    "guide/training.md": ("training loop", "fit", "trainer"),
    "guide/captured-steps.md": ("torch.compile", "jit"),
    "guide/plugins.md": ("plugin",),
    "onnx.md": ("export to onnx", "onnx"),
}

_SECTIONS = {
    "datasets": "datasets",
    "functions": "functions",
    "initializers": "initializers",
    "iterators": "iterators",
    "links": "links",
    "optimizers": "optimizers",
    "serializers": "serializers",
    "training.extensions": "extensions",
    "training.triggers": "triggers",
    "dataset": "data",
    "": "core",
}


def pages() -> dict[str, tuple[str, ...]]:
    """Returns the path of each page that has words -> its words."""
    found = dict(PAGES)
    for name, words in NAMES.items():
        section = _SECTIONS[name.rpartition(".")[0]]
        found[f"reference/{section}/chainer.{name}.md"] = words
    return found


_WORDS = pages()


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Gives a page its words before the search reads it."""
    words = _WORDS.get(page.file.src_uri)
    if words:
        page.meta["tags"] = [*page.meta.get("tags", ()), *words]
    return markdown
