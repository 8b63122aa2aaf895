"""Reads folders that chainer_models wrote, with transformers, and prints what it found in JSON.

Run by test_transformers.py with the Python of ``.peers/models``.
"""

import json
import sys
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file

sys.path.insert(0, str(Path(__file__).parent))
import make_reference
import reference_models as models


def read_named(folder, library, options):
    """Reads the files with the names of timm or torchvision."""
    model, _, _ = make_reference.build_named(library, options)
    tensors = {}
    for path in folder.glob("*.safetensors"):
        tensors |= load_file(path)
    missing, unexpected = model.load_state_dict(tensors, strict=False)
    return model, {"missing_keys": missing, "unexpected_keys": unexpected}


def main():
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    found = {}
    for folder in sorted(Path(sys.argv[1]).iterdir()):
        case = folder.name
        kind, class_name, options = models.CASES[case]
        if kind == "named":
            model, info = read_named(folder, class_name, options)
        else:
            model, info = getattr(transformers, class_name).from_pretrained(
                folder,
                output_loading_info=True,
                attn_implementation="eager",
                # Otherwise it computes in the type of the file.
                dtype=torch.float32,
            )
        output, _ = make_reference.KINDS[kind](model.eval(), options)
        found[case] = {
            "missing": sorted(info["missing_keys"]),
            "unexpected": sorted(info["unexpected_keys"]),
            "some": models.some(output.detach().numpy(), 40),
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
