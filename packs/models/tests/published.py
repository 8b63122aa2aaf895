"""Folders in Hugging Face's layout with the weights of reference_models."""

import json
from pathlib import Path

import numpy as np
from chainer.links.serializers.safetensors_archive import write_safetensors
from reference_models import NAMED, weight

REFERENCE = json.loads((Path(__file__).parent / "data" / "reference.json").read_text())


def tensors_of(case):
    """Returns the tensors that the file of a case has."""
    shapes = REFERENCE[case]["shapes"]
    is_deep = case in NAMED
    return {name: weight(name, tuple(shape), is_deep) for name, shape in shapes.items()}


def write_folder(folder, case, tensors=None, config=None, shards=1):
    """Writes the files of a case."""
    folder.mkdir(parents=True, exist_ok=True)
    values = REFERENCE[case]["config"] if config is None else config
    (folder / "config.json").write_text(json.dumps(values))
    tensors = tensors_of(case) if tensors is None else tensors
    if shards == 1:
        write_safetensors(folder / "model.safetensors", tensors, {"format": "pt"})
        return folder
    places = {}
    for i, names in enumerate(np.array_split(sorted(tensors), shards)):
        file = f"model-{i + 1:05}-of-{shards:05}.safetensors"
        write_safetensors(folder / file, {str(n): tensors[str(n)] for n in names}, {})
        places |= dict.fromkeys(map(str, names), file)
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {}, "weight_map": places})
    )
    return folder
