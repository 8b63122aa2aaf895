"""Fine-tuning by small matrices, and their files."""

import json

import chainer
import chainer.functions as F
import numpy as np
import pytest
from chainer.links.serializers.safetensors_archive import write_safetensors
from published import REFERENCE, write_folder
from reference_models import tokens, weight

import chainer_models as cm


@pytest.fixture
def model(tmp_path):
    return cm.load_pretrained(write_folder(tmp_path / "model", "gpt2"))


def test_options_of_the_case():
    # Dropout would make losses random: chainer.config.train is True in these tests.
    assert REFERENCE["gpt2"]["config"]["attn_pdrop"] == 0


def loss_of(model):
    ids = tokens()
    return F.softmax_cross_entropy(
        F.reshape(model(ids[:, :-1]), (-1, 67)), ids[:, 1:].reshape(-1).astype("i")
    )


def train(model, steps):
    optimizer = chainer.optimizers.AdamW(1e-2, pytorch_style=True).setup(model)
    losses = []
    for _ in range(steps):
        loss = loss_of(model)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        losses.append(float(loss.array))
    return losses


def test_only_the_small_matrices_are_trained(model):
    before = model(tokens()).array
    paths = cm.add_lora(model, r"/attn/(qkv|o)$", rank=2)
    assert len(paths) == 4
    np.testing.assert_array_equal(model(tokens()).array, before)
    frozen = {path: p.array.copy() for path, p in model.namedparams() if not p.requires_grad}
    losses = train(model, 8)
    assert losses[-1] < losses[0] - 0.5
    for path, parameter in model.namedparams():
        if path in frozen:
            assert parameter.grad is None
            np.testing.assert_array_equal(parameter.array, frozen[path])
        else:
            assert path.endswith(("/A", "/B"))


def test_merging(model, tmp_path):
    cm.add_lora(model, r"/mlp/up$", rank=3, alpha=5)
    train(model, 3)
    expected = model(tokens()).array
    with pytest.raises(ValueError, match="GPT2 has LoRA, which save_adapter saves"):
        cm.save_pretrained(model, tmp_path / "no")
    cm.merge_lora(model)
    np.testing.assert_allclose(model(tokens()).array, expected, atol=2e-5)
    assert all(p.requires_grad for p in model.params())
    cm.save_pretrained(model, tmp_path / "merged")
    again = cm.load_pretrained(tmp_path / "merged")
    np.testing.assert_allclose(again(tokens()).array, expected, atol=2e-5)


def test_files_of_adapters(model, tmp_path):
    cm.add_lora(model, r"/attn/qkv$", rank=2, alpha=6)
    train(model, 2)
    cm.save_adapter(model, tmp_path / "adapter")
    values = json.loads((tmp_path / "adapter" / "adapter_config.json").read_text())
    assert values["r"] == 2
    assert values["fan_in_fan_out"] is True
    tensors = chainer.serializers.open_safetensors(tmp_path / "adapter/adapter_model.safetensors")
    name = "base_model.model.transformer.h.0.attn.c_attn.lora_A.weight"
    assert tensors.shape(name) == (2, 32)
    other = cm.load_pretrained(tmp_path / "model")
    assert cm.load_adapter(other, tmp_path / "adapter") == [
        "/layers/0/attn/qkv",
        "/layers/1/attn/qkv",
    ]
    np.testing.assert_array_equal(other(tokens()).array, model(tokens()).array)
    values["use_dora"] = True
    (tmp_path / "adapter" / "adapter_config.json").write_text(json.dumps(values))
    with pytest.raises(cm.ModelFileError, match=r"'use_dora' of .* must be off"):
        cm.load_adapter(cm.load_pretrained(tmp_path / "model"), tmp_path / "adapter")


LAYER = "base_model.model.transformer.h.0.attn.c_attn.lora_"


def change_adapter(folder, change):
    """Writes an adapter whose tensors, or options, a function has changed."""
    path = folder / "adapter_model.safetensors"
    file = chainer.serializers.open_safetensors(path)
    tensors = {name: np.array(file[name]) for name in file}
    values = json.loads((folder / "adapter_config.json").read_text())
    change(tensors, values)
    write_safetensors(str(path), tensors, {})
    (folder / "adapter_config.json").write_text(json.dumps(values))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda t, v: t.clear(), "must have the matrices of a layer, got no tensor"),
        (lambda t, v: t.pop(LAYER + "B.weight"), r"must have the shape \(96, 2\), got None"),
        (lambda t, v: v.update(r=10**8), r"must have the shape \(100000000, 32\), got \(2, 32\)"),
        (lambda t, v: v.update(r=-1), "'r' of .*adapter_config.json"),
        (lambda t, v: v.update(lora_alpha=float("nan")), "'lora_alpha' of .*adapter_config.json"),
        (lambda t, v: v.update(lora_alpha=10**400), "'lora_alpha' of .* must be finite, got inf"),
        (lambda t, v: v.update(lora_dropout=1.5), "'lora_dropout' of .*adapter_config.json"),
        (
            lambda t, v: t.update({LAYER + "A.weight": np.zeros((32, 2), "f")}),
            r"must have the shape \(2, 32\), got \(32, 2\)",
        ),
        (
            lambda t, v: t.update({LAYER + "A.weight": np.zeros((2, 32), "i")}),
            "must have numbers with a fraction, got int32",
        ),
        (
            lambda t, v: t.update({LAYER + "A.weight": np.full((2, 32), np.nan, "f")}),
            "has numbers that are not finite",
        ),
        (lambda t, v: t.update(other=np.zeros(1, "f")), "'other', which is not a layer"),
    ],
)
def test_hostile_adapters_leave_the_model(model, tmp_path, change, text):
    cm.add_lora(model, r"/attn/qkv$", rank=2)
    cm.save_adapter(model, tmp_path / "adapter")
    change_adapter(tmp_path / "adapter", change)
    other = cm.load_pretrained(tmp_path / "model")
    paths = [path for path, _ in other.namedparams()]
    with pytest.raises(cm.ModelFileError, match=text):
        cm.load_adapter(other, tmp_path / "adapter")
    assert [path for path, _ in other.namedparams()] == paths
    assert all(parameter.requires_grad for parameter in other.params())


def test_numbers_of_peft(model):
    """One step of peft with transformers and torch.optim.AdamW, from the same matrices."""
    # peft 0.21, torch.optim.AdamW(lr=1e-2, weight_decay=0), r = 2, lora_alpha = 4.
    expected = {
        "losses": [5.069268703460693, 4.7891926765441895, 4.562841892242432],
        "A": [
            [0.43299630284309387, 0.10398776084184647, -0.0031449580565094948],
            [0.016320694237947464, -0.06312541663646698, -0.3045584261417389],
        ],
    }
    cm.add_lora(model, r"/attn/qkv$", rank=2, alpha=4)
    for path, parameter in model.namedparams():
        if path.endswith(("/A", "/B")):
            layer, letter = path.split("/")[2], path[-1]
            name = f"lora.{layer}.{letter}"
            parameter.array = weight(name, parameter.shape)
    losses = train(model, 3)
    np.testing.assert_allclose(losses, expected["losses"], rtol=2e-6)
    A = dict(model.namedparams())["/layers/1/attn/qkv/A"].array
    np.testing.assert_allclose(A[:, :3], expected["A"], atol=2e-6)


def test_wrong_arguments(model):
    with pytest.raises(ValueError, match="pattern must match a linear layer, got 'nothing'"):
        cm.add_lora(model, "nothing")
    with pytest.raises(TypeError, match=r"pattern must be a regular expression, such as .*, got 4"):
        cm.add_lora(model, 4)
    with pytest.raises(ValueError, match="rank must be positive, got 0"):
        cm.add_lora(model, "qkv", rank=0)
    with pytest.raises(ValueError, match="model must have LoRA: call add_lora first"):
        cm.save_adapter(model, "x")
    cm.add_lora(model, "qkv")
    with pytest.raises(ValueError, match="model must have no LoRA already"):
        cm.add_lora(model, "mlp")
