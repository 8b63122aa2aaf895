"""Models from files."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import chainer
import chainer.links as L
import numpy
from chainer.plugins import registries

from chainer_models.errors import ModelFileError
from chainer_models.files import Tensors
from chainer_models.large_pages import copy_parameters
from chainer_models.model import Model
from chainer_models.names import Named
from chainer_models.options import Options, architecture_name, read_options
from chainer_models.packing import KINDS, pack_weights

#: Options that are numbers of layers.
_LAYERS = (
    "decoder_layers",
    "encoder_layers",
    "n_layer",
    "n_layers",
    "num_decoder_layers",
    "num_hidden_layers",
    "num_layers",
)


class Match(NamedTuple):
    """How the names of a model and of its files fit.

    Attributes:
        found: Parameter and name of its tensor.
        missing: Names of tensors that the files lack.
        unused: Names of tensors that the model does not have.
    """

    found: list[tuple[Named, str]]
    missing: list[str]
    unused: list[str]


def from_config(
    config: Mapping[str, Any] | str | os.PathLike[str],
    *,
    dtype: Any = None,
    initialize: bool = False,
) -> Any:
    """Makes a model from its options, without weights.

    Args:
        config (dict or path): The options, a file ``config.json``, or the folder with it.
        dtype: Data type of the parameters; ``chainer.config.dtype`` (float32) by default.
        initialize (bool): Whether initializers fill the parameters. By default they are zeros, for
            a model whose weights are loaded.

    Returns:
        Model: The model.

    Raises:
        ModelFileError: (a ValueError) If an option is missing or not understood, or no installed
            distribution registers the ``model_type``.

    Example:
        >>> import chainer_models as cm
        >>> model = cm.from_config(
        ...     {"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_layer": 1, "vocab_size": 11},
        ...     initialize=True,
        ... )
        >>> model(np.array([[1, 2, 3]])).shape
        (1, 3, 11)
    """
    if isinstance(config, Options):
        options = config
    elif isinstance(config, Mapping):
        options = Options(config)
    else:
        options = read_options(Path(config))
    dtype = chainer.config.dtype if dtype is None else numpy.dtype(dtype)
    # Usually a file replaces the weights: random numbers for them would be made in vain.
    model = _make(options, dtype, initialize)
    if initialize:
        _scale_embeddings(model, options)
    return model


def _make(options: Options, dtype: Any, initialize: bool | str) -> Any:
    """Makes a model; for ``initialize`` see ``chainer.config``."""
    architecture = find_architecture(options)
    with chainer.using_config("initialize", initialize), chainer.using_config("dtype", dtype):
        return architecture(options)


def _check_layers(options: Mapping[str, Any], count: int, source: str) -> None:
    """Refuses more layers than there are tensors, before all of them are made.

    Args:
        options: Options of a model, or of a part of it.
        count: Number of tensors in the files.
        source: Where the options are from.
    """
    for name, value in options.items():
        if isinstance(value, Mapping):
            _check_layers(value, count, source)
        elif name in _LAYERS and isinstance(value, int) and value > count:
            raise ModelFileError(
                f"{name!r} of {source} must be at most {count}, the number of tensors in the "
                f"files, got {value}"
            )


def _scale_embeddings(model: Model, options: Options) -> None:
    """Makes new embeddings small: they are also the weights of heads that are tied to them."""
    scale = options.number("initializer_range", default=model.embedding_scale)
    for link in model.links():
        if isinstance(link, L.EmbedID):
            chainer.initializers.Normal(scale)(link.W.array)


def find_architecture(options: Options) -> type[Model]:
    """Returns the class that is registered for a ``model_type``.

    Args:
        options: Options of a model.

    Raises:
        ModelFileError: If there is none.
    """
    name = architecture_name(options)
    registry = registries.model_architectures
    registry.load_all()
    if name not in registry.names():
        known = ", ".join(sorted(registry.names()))
        raise ModelFileError(
            f"'model_type' of {options.source} must be one that a distribution registers, got "
            f"{name!r}; 'chainer list model_architectures' prints them: {known}"
        )
    return registry.get(name)


def load_pretrained(
    folder: str | os.PathLike[str],
    *,
    dtype: Any = "float32",
    config: Mapping[str, Any] | None = None,
    weights: str | None = None,
    mapped: bool = True,
) -> Any:
    """Loads a model from a folder in Hugging Face's layout.

    The folder has ``config.json`` and ``model.safetensors``, or several such files with an index.
    Files are mapped into memory: tensors of the type ``dtype`` are read when they are used, and not
    copied, unless ``mapped`` is False. Arrays may be changed, as training does; the files are not.

    Args:
        folder (path): The folder.
        dtype: Data type of the parameters. Tensors of other types are converted; bfloat16 and
            float8 need ``ml_dtypes``.
        config (dict): Options that replace those of ``config.json``.
        weights (str): ``"bfloat16"``, ``"int8"`` or ``"int4"`` packs the weights of all linear
            layers, as :func:`~chainer_models.pack_weights` does. None: they stay as they are.
        mapped (bool): Whether arrays stay views of the mapped files. If False, they are copied into
            memory of the process, side by side and in pages of 2 MB where the system has them.
            Loading takes longer then, and each token that is decoded less time. The numbers are the
            same.

    Returns:
        Model: The model. ``chainer.config.train`` decides about dropout, as in all links.

    Raises:
        ModelFileError: (a ValueError) If a file is damaged, an option is not understood, a tensor
            is missing or has another shape.
        OSError: If a file cannot be read.
        FileNotFoundError: If there is no such folder.
        ValueError: If ``weights`` is not one of these.

    Example:
        >>> import tempfile, chainer_models as cm
        >>> model = cm.from_config(
        ...     {"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_layer": 1, "vocab_size": 11},
        ...     initialize=True,
        ... )
        >>> folder = tempfile.mkdtemp()
        >>> cm.save_pretrained(model, folder)
        >>> loaded = cm.load_pretrained(folder)
        >>> bool((loaded.embed.W.array == model.embed.W.array).all())
        True
    """
    # Before a large file is read in vain.
    if weights is not None and weights not in KINDS:
        raise ValueError(f"weights must be None or one of {', '.join(KINDS)}, got {weights!r}")
    folder = Path(folder)
    if not folder.is_dir():
        raise FileNotFoundError(
            f"folder must be a folder with config.json, and {str(folder)!r} is none; nothing is "
            "downloaded here: chainer_models.download(name, revision=commit) downloads a model and "
            "returns its folder"
        )
    options = read_options(folder)
    if config is not None:
        options = Options({**options.as_dict(), **config}, options.source)
    tensors = Tensors(folder)
    _check_layers(options.as_dict(), len(tensors), options.source)
    try:
        # All arrays are replaced below.
        model = _make(options, numpy.dtype(dtype), "shape")
    except MemoryError as error:
        raise ModelFileError(
            f"{options.source} asks for arrays that do not fit into memory: {error}"
        ) from error
    fitting = match(model, tensors)
    if fitting.missing:
        raise ModelFileError(
            f"{folder} lacks {len(fitting.missing)} tensors of {type(model).__name__}: "
            f"{_some(fitting.missing)}"
        )
    if fitting.unused:
        warnings.warn(
            f"{folder} has {len(fitting.unused)} tensors that {type(model).__name__} does not "
            f"use: {_some(fitting.unused)}",
            stacklevel=2,
        )
    for named, name in fitting.found:
        _load(named, name, tensors, numpy.dtype(dtype))
    # save_pretrained copies the files of the tokenizer from there.
    model.folder = folder
    if weights is not None:
        pack_weights(model, weights)
    if not mapped:
        copy_parameters(model)
    return model


def match(model: Model, tensors: Iterable[str]) -> Match:
    """Compares the names of a model with the names in files.

    Args:
        model: The model.
        tensors: Names of all tensors.
    """
    names = set(tensors)
    found: list[tuple[Named, str]] = []
    missing: list[str] = []
    for named in model.file_names():
        name = next((n for n in _spellings(model, named.file) if n in names), None)
        if name is None:
            missing.append(named.file)
        else:
            found.append((named, name))
    used = {name for _, name in found}
    # Files may have a shared weight under each of its names.
    extra = {n for copy in model.copies() for n in _spellings(model, copy)}
    unused = [
        name
        for name in sorted(names - used - extra)
        if not any(fnmatchcase(name, pattern) for pattern in model.ignored)
    ]
    return Match(found, missing, unused)


def _spellings(model: Model, name: str) -> Iterable[str]:
    """Returns a name with and without the prefixes that files may lack."""
    yield name
    for prefix in model.prefixes:
        yield name.removeprefix(prefix) if name.startswith(prefix) else prefix + name


def _load(named: Named, name: str, tensors: Tensors, dtype: Any) -> None:
    parameter = named.parameter
    array = named.transform.load(tensors[name])
    if array.shape != parameter.array.shape:
        raise ModelFileError(
            f"{name!r} of {tensors.folder} must have the shape "
            f"{named.transform.save(parameter.array).shape}, got {tensors.shape(name)}"
        )
    # Such as the codes of a quantized model, which mean nothing without their scales; bfloat16, a
    # type of another package, has the kind V.
    if array.dtype.kind in "biuc":
        raise ModelFileError(
            f"{name!r} of {tensors.folder} must have numbers with a fraction, got {array.dtype}"
        )
    # Without a conversion the array stays a view of the mapped file, which is read on first use.
    parameter.array = array.astype(dtype, copy=False)


def _some(names: list[str]) -> str:
    """Returns the first names for a message."""
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
