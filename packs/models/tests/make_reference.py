"""Writes ``data/reference.json``: what transformers computes with the models of reference_models.

Run it with the Python of ``.peers/models`` (``python scripts/setup_peers.py --only models``)::

    .peers/models/bin/python packs/models/tests/make_reference.py [--out FILE] [--only NAME ...]
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import timm
import torch
import torchvision
import transformers
from safetensors.numpy import load_file, save_file

sys.path.insert(0, str(Path(__file__).parent))
import reference_models as models

HERE = Path(__file__).parent


def build(class_name, options):
    """Returns a model of transformers with the weights of the names, and the shapes of its file."""
    options = dict(options)
    config = transformers.AutoConfig.for_model(options.pop("model_type"), **options)
    config._attn_implementation = "eager"
    cls = getattr(transformers, class_name)
    with tempfile.TemporaryDirectory() as folder:
        cls(config).save_pretrained(folder)
        path = Path(folder) / "model.safetensors"
        old = load_file(path)
        new = {
            name: models.weight(name, array.shape) if array.dtype.kind == "f" else array
            for name, array in old.items()
        }
        save_file(new, path, {"format": "pt"})
        model, info = cls.from_pretrained(
            folder, output_loading_info=True, attn_implementation="eager"
        )
        written = json.loads((Path(folder) / "config.json").read_text())
    assert not info["missing_keys"], info
    assert not info["unexpected_keys"], info
    return model.eval(), {name: list(array.shape) for name, array in old.items()}, written


def build_named(library, options):
    """Returns a network of timm or torchvision with the weights of the names, as build does."""
    variant = options.get("architecture") or options["model_type"].partition("/")[2]
    if library == "timm":
        model = timm.create_model(variant, num_classes=options["num_classes"])
    else:
        model = getattr(torchvision.models, variant)(num_classes=options["num_classes"])
    shapes = {name: list(tensor.shape) for name, tensor in model.state_dict().items()}
    model.load_state_dict(
        {n: torch.from_numpy(models.weight(n, tuple(s), True)) for n, s in shapes.items()}
    )
    return model.eval(), shapes, options


def saved_tensors(model):
    """Returns the tensors of the file of a model."""
    if not hasattr(model, "save_pretrained"):
        return {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        return load_file(Path(folder) / "model.safetensors")


def gradients(model, output, names):
    """Returns some elements of the gradients of all tensors of the file."""
    model.zero_grad()
    factors = torch.from_numpy(models.factors(tuple(output.shape))).to(output.dtype)
    (output * factors).sum().backward()
    # Saving a model renames its parameters, so the gradients are saved as parameters.
    with torch.no_grad():
        for parameter in model.parameters():
            grad = parameter.grad
            parameter.copy_(torch.zeros_like(parameter) if grad is None else grad)
    saved = saved_tensors(model)
    floats = {name: saved[name] for name in names if saved[name].dtype.kind == "f"}
    trained = {n: a for n, a in floats.items() if "running_" not in n}
    largest = max(float(np.abs(array).max()) for array in trained.values())
    return {"largest": largest, "some": {n: models.some(a) for n, a in trained.items()}}


def causal(model, options):
    """Logits, logits of padded texts, and greedy tokens."""
    ids = torch.from_numpy(models.tokens())
    mask = torch.from_numpy(models.left_padding())
    positions = (mask.cumsum(1) - 1).clamp(min=0)
    with torch.no_grad():
        padded = model(ids, attention_mask=mask, position_ids=positions).logits.numpy()
        greedy = model.generate(ids, max_new_tokens=50, do_sample=False, pad_token_id=0)
        greedy_padded = model.generate(
            ids, attention_mask=mask, max_new_tokens=20, do_sample=False, pad_token_id=0
        )
        beams = model.generate(ids, max_new_tokens=12, do_sample=False, num_beams=4, pad_token_id=0)
    return model(ids).logits, {
        "padded": models.some(padded[1, 3:], 20),
        "greedy": greedy[:, ids.shape[1] :].tolist(),
        "greedy padded": greedy_padded[:, ids.shape[1] :].tolist(),
        "beams": beams[:, ids.shape[1] :].tolist(),
    }


def encoder(model, options):
    """Outputs of padded texts; RoBERTa counts positions by the padding token."""
    ids, mask = models.tokens(), models.right_padding()
    if options["model_type"] == "roberta":
        ids[mask == 0] = 1
    ids, mask = torch.from_numpy(ids), torch.from_numpy(mask)
    output = model(ids, attention_mask=mask)
    output = output.logits if hasattr(output, "logits") else output.last_hidden_state
    # Outputs of padding mean nothing.
    return output * mask[:, :, None], {}


def head(model, options):
    """Outputs of padded texts: of classes, or scores of begins and ends of answers."""
    ids, mask = models.tokens(), models.right_padding()
    ids[mask == 0] = 1
    output = model(torch.from_numpy(ids), attention_mask=torch.from_numpy(mask))
    if "logits" not in output:
        output = torch.stack([output.start_logits, output.end_logits], dim=-1)
    else:
        output = output.logits
    if output.ndim == 3:
        output = output * torch.from_numpy(mask)[:, :, None]
    return output, {}


def sequence(model, options):
    """Logits and texts for padded inputs."""
    ids, mask = torch.from_numpy(models.tokens()), torch.from_numpy(models.right_padding())
    start = torch.zeros((2, 1), dtype=torch.long)
    outputs = torch.cat([start, torch.from_numpy(models.tokens(2, 6, seed=9))], 1)
    logits = model(ids, attention_mask=mask, decoder_input_ids=outputs).logits
    with torch.no_grad():
        greedy = model.generate(
            ids, attention_mask=mask, max_new_tokens=50, do_sample=False, use_cache=False
        )
        beams = model.generate(
            ids,
            attention_mask=mask,
            max_new_tokens=12,
            do_sample=False,
            num_beams=4,
            use_cache=False,
        )
    return logits, {"greedy": greedy[:, 1:].tolist(), "beams": beams[:, 1:].tolist()}


def image(model, options):
    """Logits of classes, or hidden states."""
    dtype = next(model.parameters()).dtype
    output = model(torch.from_numpy(models.images(models.image_size(options))).to(dtype))
    if isinstance(output, torch.Tensor):
        return output, {}
    return output.logits if hasattr(output, "logits") else output.last_hidden_state, {}


def clip(model, options):
    """Similarities of images and texts."""
    images = torch.from_numpy(models.images())
    ids = torch.from_numpy(models.padded_tokens())
    with torch.no_grad():
        padded = model(
            input_ids=ids, attention_mask=(ids != 0).long(), pixel_values=images
        ).logits_per_image
    ids = torch.from_numpy(models.ended_tokens())
    output = model(input_ids=ids, pixel_values=images).logits_per_image
    return output, {"padded": models.some(padded.numpy(), 6)}


def sound(model, options):
    """Logits and texts of sounds."""
    features = torch.from_numpy(models.sounds())
    start = torch.ones((2, 1), dtype=torch.long)
    outputs = torch.cat([start, torch.from_numpy(models.tokens(2, 6, seed=9))], 1)
    logits = model(features, decoder_input_ids=outputs).logits
    with torch.no_grad():
        ids = start
        for _ in range(50):
            following = model(features, decoder_input_ids=ids).logits[:, -1].argmax(-1)
            ids = torch.cat([ids, following[:, None]], 1)
    return logits, {"greedy": ids[:, 1:].tolist()}


KINDS = {
    "causal": causal,
    "encoder": encoder,
    "head": head,
    "sequence": sequence,
    "image": image,
    "named": image,
    "clip": clip,
    "sound": sound,
}


def reference(name):
    """Returns everything about a case."""
    kind, class_name, options = models.CASES[name]
    build_model = build_named if kind == "named" else build
    model, shapes, config = build_model(class_name, options)
    output, others = KINDS[kind](model, options)
    array = output.detach().numpy()
    if kind == "named":
        # In float32 an argument of ReLU near zero may change its sign, which changes gradients of
        # 50 layers by more than all other roundings.
        model = model.double()
        output, _ = KINDS[kind](model, options)
    return {
        "config": config,
        "shapes": shapes,
        "output": {
            "shape": list(array.shape),
            "largest": float(np.abs(array).max()),
            "some": models.some(array, 40),
        },
        **others,
        "gradients": gradients(model, output, shapes),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=HERE / "data" / "reference.json")
    parser.add_argument("--only", nargs="+", default=list(models.CASES))
    options = parser.parse_args()
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    found = json.loads(options.out.read_text()) if options.out.exists() else {}
    for name in options.only:
        found[name] = reference(name)
        print(name, flush=True)
        found = {name: found[name] for name in models.CASES if name in found}
        text = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items())
        options.out.write_text("{\n" + text + "\n}\n")


if __name__ == "__main__":
    main()
