"""LoRA: fine-tuning by small matrices that are added to the weights of a frozen model."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import chainer
import chainer.functions as F
import chainer.links as L
import numpy
from chainer import Variable
from chainer.links.serializers.safetensors_archive import write_safetensors
from chainer.serializers import SafetensorsFile, open_safetensors
from chainer.typing import HostArray, VariableLike
from chainer.utils.atomic_file import replacing

from chainer_models.errors import ModelFileError
from chainer_models.model import Wrapper
from chainer_models.names import TRANSPOSED, Table
from chainer_models.options import Options, read_json
from chainer_models.packing import LINEAR, PackedLinear
from chainer_models.places import linear_paths, link_at, replace_link

_CONFIG, _WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
#: Values of ``init_lora_weights`` that leave the base model as it is.
_STARTS = ("gaussian", "eva", "orthogonal")

#: Options of peft that do not change what a finished adapter computes, or that are read below.
#: Which layers there are is known from the names of the tensors.
_HARMLESS = frozenset(
    {
        "auto_mapping",
        "base_model_name_or_path",
        "bias",
        "ensure_weight_tying",
        "eva_config",
        "exclude_modules",
        "fan_in_fan_out",
        "inference_mode",
        "init_lora_weights",
        "layers_pattern",
        "layers_to_transform",
        "lora_alpha",
        "lora_dropout",
        "megatron_config",
        "megatron_core",
        "peft_type",
        "peft_version",
        "qalora_group_size",
        "r",
        "revision",
        "target_modules",
        "task_type",
    }
)

#: Prefix of all names in files of peft.
_PREFIX = "base_model.model."


class LoRALinear(Wrapper):
    """A frozen linear layer, and two small matrices whose product is added to its weight.

    ``base(x) + alpha / rank * B A x``. ``B`` is zero at first, so that nothing changes.

    Args:
        base (Linear or PackedLinear): The layer.
        rank (int): Number of rows of ``A``.
        alpha (float): Factor of the product, before it is divided by ``rank``.
        dropout (float): Ratio of the inputs of ``A`` set to zero in training mode.

    Attributes:
        base (Linear): The layer.
        A (Parameter): Matrix of shape ``(rank, in)``.
        B (Parameter): Matrix of shape ``(out, rank)``.

    See: `LoRA <https://arxiv.org/abs/2106.09685>`_
    """

    def __init__(
        self, base: L.Linear | PackedLinear, rank: int, alpha: float, dropout: float = 0.0
    ) -> None:
        super().__init__()
        is_packed = isinstance(base, PackedLinear)
        out_size, in_size = base.shape if is_packed else base.W.shape
        self.rank = rank
        self.alpha = alpha
        self.dropout = dropout
        # As in peft: uniform as a linear layer of its kind, of variance 1 / (3 * in).
        bound = max(in_size, 1) ** -0.5
        dtype = numpy.dtype("f") if is_packed else base.W.dtype
        with self.init_scope():
            self.base = base
            self.A = chainer.Parameter(chainer.initializers.Uniform(bound, dtype), (rank, in_size))
            self.B = chainer.Parameter(chainer.initializers.Zero(dtype), (out_size, rank))

    def forward(self, x: VariableLike, n_batch_axes: int = 1) -> Variable:
        """Computes the output.

        Args:
            x: Vectors, as for :class:`~chainer.links.Linear`.
            n_batch_axes: Number of axes before the vectors.
        """
        small = F.dropout(x, self.dropout) if self.dropout else x
        change = F.linear(
            F.linear(small, self.A, n_batch_axes=n_batch_axes), self.B, n_batch_axes=n_batch_axes
        )
        return self.base(x, n_batch_axes=n_batch_axes) + change * (self.alpha / self.rank)

    def merged(self) -> L.Linear:
        """Returns the base layer with the product added to its weight; a packed one is widened."""
        base = self.base.unpacked() if isinstance(self.base, PackedLinear) else self.base
        change = self.B.array @ self.A.array * (self.alpha / self.rank)
        W = base.W
        W.array = W.array + change.astype(W.dtype)
        return base


def add_lora(
    model: Any, pattern: str, *, rank: int = 8, alpha: float | None = None, dropout: float = 0.0
) -> list[str]:
    """Freezes a model and wraps some of its linear layers for fine-tuning.

    Only the new parameters are trained, so that an optimizer is set up after this call.

    Args:
        model (Model): The model; it is changed.
        pattern (str): Regular expression that is searched in the paths of linear layers, such as
            ``r"/attn/(q|v)$"``.
        rank (int): Rank of the products.
        alpha (float): Factor of the products, before it is divided by ``rank``; ``2 * rank`` by
            default.
        dropout (float): Dropout ratio of the inputs of the small matrices.

    Returns:
        list of str: Paths of the layers.

    Raises:
        ValueError: If no layer matches, or an argument is out of range.

    Example:
        >>> import chainer_models as cm
        >>> model = cm.from_config(
        ...     {"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_layer": 2, "vocab_size": 11},
        ...     initialize=True,
        ... )
        >>> cm.add_lora(model, r"/attn/qkv$", rank=2)
        ['/layers/0/attn/qkv', '/layers/1/attn/qkv']
        >>> len([p for p in model.params() if p.requires_grad])
        4
    """
    if rank < 1:
        raise ValueError(f"rank must be positive, got {rank}")
    if not 0.0 <= dropout < 1.0:
        raise ValueError(f"dropout must be in the range [0, 1), got {dropout}")
    found = linear_paths(model, pattern, LINEAR)
    if any(isinstance(link, LoRALinear) for link in model.links()):
        raise ValueError("model must have no LoRA already: merge it first")
    model.freeze()
    for path in found:
        base = link_at(model, path)
        factor = 2 * rank if alpha is None else alpha
        replace_link(model, path, LoRALinear(base, rank, factor, dropout))
    return found


def merge_lora(model: Any) -> None:
    """Adds the products to the weights, and makes the model an ordinary one again.

    Args:
        model (Model): A model with LoRA; it is changed. All parameters can be trained again.
    """
    # A list, since the tree changes in the loop.
    for path, link in list(model.namedlinks()):
        if isinstance(link, LoRALinear):
            replace_link(model, path, link.merged())
    model.unfreeze()


def save_adapter(model: Any, folder: str | os.PathLike[str]) -> None:
    """Saves the small matrices only, in the files that peft reads.

    Args:
        model (Model): A model with LoRA.
        folder (path): The folder; it is made if it does not exist.

    Raises:
        ValueError: If the model has no LoRA.
    """
    layers = _layers(model)
    if not layers:
        raise ValueError("model must have LoRA: call add_lora first")
    # One rank and one alpha for all layers: add_lora refuses a model that has LoRA.
    first = layers[0][1]
    names = _file_names(model)
    tensors: dict[str, HostArray] = {}
    targets: list[str] = []
    transposed = False
    for path, link in layers:
        name, is_transposed = names[path]
        targets.append(name)
        transposed = transposed or is_transposed
        tensors[f"{_PREFIX}{name}.lora_A.weight"] = chainer.get_device("@numpy").send(link.A.array)
        tensors[f"{_PREFIX}{name}.lora_B.weight"] = chainer.get_device("@numpy").send(link.B.array)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    values = {
        "peft_type": "LORA",
        "base_model_name_or_path": None if model.folder is None else str(model.folder),
        "bias": "none",
        # peft asks for it where the base model stores weights as (in, out), as GPT-2 does.
        "fan_in_fan_out": transposed,
        "inference_mode": True,
        "lora_alpha": first.alpha,
        "lora_dropout": first.dropout,
        "r": first.rank,
        "target_modules": sorted(targets),
        "task_type": None,
    }
    with replacing(folder / _WEIGHTS) as temporary:
        write_safetensors(temporary, tensors, {"format": "pt"})
    with replacing(folder / _CONFIG) as temporary:
        Path(temporary).write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")


def load_adapter(model: Any, folder: str | os.PathLike[str]) -> list[str]:
    """Adds the LoRA of a folder that :func:`save_adapter` or peft wrote to a model.

    Args:
        model (Model): The model; it is frozen and changed.
        folder (path): The folder.

    Returns:
        list of str: Paths of the layers.

    Raises:
        ModelFileError: (a ValueError) If a file is damaged, does not fit the model, or uses an
            option that is not understood.
    """
    folder = Path(folder)
    options = Options(read_json(folder / _CONFIG), str(folder / _CONFIG))
    options.choice("peft_type", ("LORA",), "LORA")
    options.choice("bias", ("none",), "none")
    _check_options(options)
    # The defaults of peft.
    rank, alpha = options.integer("r", default=8), options.number("lora_alpha", default=8.0)
    dropout = options.probability("lora_dropout", default=0.0)
    tensors = open_safetensors(folder / _WEIGHTS)
    own = {name: path for path, (name, _) in _file_names(model).items()}
    found: dict[str, str] = {}
    for name in tensors:
        matched = re.fullmatch(re.escape(_PREFIX) + r"(.+)\.lora_[AB]\.weight", name)
        if matched is None or matched[1] not in own:
            raise ModelFileError(f"{tensors.name} has {name!r}, which is not a layer of the model")
        found[own[matched[1]]] = matched[1]
    if not found:
        raise ModelFileError(f"{tensors.name} must have the matrices of a layer, got no tensor")
    # Before the model is changed, and before memory is taken for a rank that the file invents.
    for path, name in found.items():
        _check_matrices(tensors, name, link_at(model, path), rank)
    pattern = "|".join(f"^{re.escape(path)}$" for path in found)
    paths = add_lora(model, pattern, rank=rank, alpha=alpha, dropout=dropout)
    for path in paths:
        link = link_at(model, path)
        for parameter, letter in ((link.A, "A"), (link.B, "B")):
            name = f"{_PREFIX}{found[path]}.lora_{letter}.weight"
            parameter.array = tensors[name].astype(parameter.dtype)
    return paths


def _check_options(options: Options) -> None:
    """Refuses options that change the formula or the layers, and those that nobody knows."""
    start = options.get("init_lora_weights")
    # Others, such as "pissa", take from the weights of the base model what they give to A and B.
    if not any(start is value for value in (None, True, False)) and start not in _STARTS:
        raise ModelFileError(
            f"'init_lora_weights' of {options.source} must be true, false, or one of "
            f"{', '.join(_STARTS)}: others change the base model; got {start!r}"
        )
    for name in options:
        if name not in _HARMLESS and options.get(name):
            raise ModelFileError(f"{name!r} of {options.source} must be off: it is not understood")


def _check_matrices(tensors: SafetensorsFile, layer: str, link: Any, rank: int) -> None:
    """Raises an error if a file does not have the two matrices of a layer.

    Args:
        tensors: The file.
        layer: Name of the layer in the file.
        link: The layer of the model.
        rank: The rank that the options name.
    """
    if isinstance(link, LoRALinear):
        return  # add_lora refuses a model that has LoRA
    n_out, n_in = link.shape if isinstance(link, PackedLinear) else link.W.shape
    for letter, shape in (("A", (rank, n_in)), ("B", (n_out, rank))):
        name = f"{_PREFIX}{layer}.lora_{letter}.weight"
        got = tensors.shape(name) if name in tensors else None
        if got != shape:
            raise ModelFileError(
                f"{name!r} of {tensors.name} must have the shape {shape}, got {got}"
            )
        values = tensors[name]
        # bfloat16, a type of another package, has the kind V.
        if values.dtype.kind in "biuc":
            raise ModelFileError(
                f"{name!r} of {tensors.name} must have numbers with a fraction, got {values.dtype}"
            )
        if not numpy.isfinite(values.astype(numpy.float32)).all():
            raise ModelFileError(f"{name!r} of {tensors.name} has numbers that are not finite")


def _layers(model: Any) -> list[tuple[str, LoRALinear]]:
    return [(path, link) for path, link in model.namedlinks() if isinstance(link, LoRALinear)]


def _file_names(model: Any) -> dict[str, tuple[str, bool]]:
    """Returns path of a linear layer -> its name in files, and whether it is stored transposed."""
    names: dict[str, tuple[str, bool]] = {}
    table = Table(model.rows())
    for path, link in model.namedlinks():
        entry = table.find(path + "/W")
        if isinstance(link, (*LINEAR, LoRALinear)) and entry is not None:
            name, transform = entry
            names[path] = (
                model.short_name(name).removesuffix(".weight"),
                transform is TRANSPOSED,
            )
    return names
