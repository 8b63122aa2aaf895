"""Files of models, as other libraries read them."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import numpy
from chainer.links.serializers.safetensors_archive import write_safetensors
from chainer.typing import HostArray
from chainer.utils.atomic_file import replacing

from chainer_models.files import INDEX, WEIGHTS
from chainer_models.model import Model

# Powers of ten, as in huggingface_hub.
_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}

#: Files beside the weights that a model needs where it is used, and that are copied.
COMPANIONS = (
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "spiece.model",
    "tokenizer.model",
    "chat_template.jinja",
    "preprocessor_config.json",
    "processor_config.json",
)


def save_pretrained(
    model: Any,
    folder: str | os.PathLike[str],
    *,
    max_shard_size: int | str = "5GB",
    dtype: Any = None,
) -> None:
    """Saves a model in Hugging Face's layout, so that transformers reads it.

    It writes ``config.json`` and ``model.safetensors``, or several such files with an index. Files
    for the tokenizer are copied from the folder that the model was loaded from. Each file replaces
    an older one only once it is complete.

    Args:
        model (Model): The model.
        folder (path): The folder; it is made if it does not exist.
        max_shard_size (int or str): Greatest size of a file in bytes, or a text such as ``"5GB"``.
        dtype: Data type of the tensors in the files; as in the model by default.

    Raises:
        ValueError: If ``max_shard_size`` is not a size.
        OSError: If a file cannot be written.
    """
    limit = _bytes_of(max_shard_size)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tensors: dict[str, HostArray] = {}
    for named in model.file_names():
        array = named.transform.save(_host(named.parameter.array))
        if dtype is not None and array.dtype.kind != "i":
            array = array.astype(dtype)
        tensors[named.file] = array
    tensors |= model.constants()
    shards = _shards(tensors, limit)
    names = _names(len(shards))
    # The index is written last: until then the folder has the old model, or a complete new one.
    for name, shard in zip(names, shards, strict=True):
        with replacing(folder / name) as temporary:
            # The format of PyTorch's tensors: transformers reads no file of an unknown one.
            write_safetensors(temporary, shard, {"format": "pt"})
    values = model.config.as_dict()
    if tensors:
        # transformers renamed the option: the old name could contradict the new one.
        values["dtype"] = next(iter(tensors.values())).dtype.name
        values.pop("torch_dtype", None)
    _write_json(folder / "config.json", values)
    if len(shards) > 1:
        places = {
            tensor: name for name, shard in zip(names, shards, strict=True) for tensor in shard
        }
        total = sum([array.nbytes for array in tensors.values()])
        index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(places.items()))}
        _write_json(folder / INDEX, index)
    _remove_old(folder, names)
    _copy_companions(model, folder)


def _host(array: Any) -> HostArray:
    return array if isinstance(array, numpy.ndarray) else array.get()


def _bytes_of(size: int | str) -> int:
    """Returns the number of bytes of a text such as ``"5GB"``."""
    if isinstance(size, str):
        matched = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?B)\s*", size.upper())
        number = float(matched[1]) * _UNITS[matched[2]] if matched else 0
    else:
        number = size
    if number < 1:
        raise ValueError(
            f"max_shard_size must be a number of bytes or a text such as '5GB', got {size!r}"
        )
    return int(number)


def _shards(tensors: dict[str, HostArray], limit: int) -> list[dict[str, HostArray]]:
    """Divides tensors in their order into groups below a size; a larger tensor is alone."""
    shards: list[dict[str, HostArray]] = [{}]
    size = 0
    for name, array in tensors.items():
        if shards[-1] and size + array.nbytes > limit:
            shards.append({})
            size = 0
        shards[-1][name] = array
        size += array.nbytes
    return shards


def _names(count: int) -> list[str]:
    if count == 1:
        return [WEIGHTS]
    return [f"model-{i:05}-of-{count:05}.safetensors" for i in range(1, count + 1)]


def _remove_old(folder: Path, names: list[str]) -> None:
    """Removes files of an older save that would be read instead of the new ones."""
    if len(names) == 1:
        (folder / INDEX).unlink(missing_ok=True)
    else:
        (folder / WEIGHTS).unlink(missing_ok=True)
    for path in folder.glob("model-*-of-*.safetensors"):
        # glob() has no pattern for digits only: files of other programs stay.
        if path.name not in names and re.fullmatch(r"model-\d{5}-of-\d{5}\.safetensors", path.name):
            path.unlink()


def _copy_companions(model: Model, folder: Path) -> None:
    source = model.folder
    if source is None or source.resolve() == folder.resolve():
        return
    for name in COMPANIONS:
        if (source / name).is_file():
            with replacing(folder / name) as temporary:
                shutil.copyfile(source / name, temporary)


def _write_json(path: Path, values: dict[str, Any]) -> None:
    with replacing(path) as temporary:
        text = json.dumps(values, indent=2, ensure_ascii=False)
        Path(temporary).write_text(text + "\n", encoding="utf-8")
