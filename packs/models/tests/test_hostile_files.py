"""Files that somebody prepared: one class of error refuses each, before memory is taken."""

import json
import os
import struct

import numpy as np
import pytest
from published import REFERENCE, tensors_of, write_folder

import chainer_models as cm

CASE = "llama tied, biases"
NORM = "model.norm.weight"
INDEX = "model.safetensors.index.json"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links and names of POSIX")


@pytest.fixture
def folder(tmp_path):
    return write_folder(tmp_path / "model", CASE)


@pytest.fixture
def shards(tmp_path):
    return write_folder(tmp_path / "model", CASE, shards=2)


def refused(folder, text="."):
    with pytest.raises(cm.ModelFileError, match=text):
        cm.load_pretrained(folder)


@pytest.mark.parametrize(
    ("case", "option", "value"),
    [
        ("gemma2", "query_pre_attn_scalar", 0),
        ("gemma2", "query_pre_attn_scalar", -5),
        ("gemma2", "query_pre_attn_scalar", 10**400),
        ("gemma2", "attn_logit_softcapping", -1),
        ("gemma2", "attn_logit_softcapping", [30]),
        ("gemma2", "final_logit_softcapping", float("inf")),
        ("gemma2", "layer_types", {"0": "full_attention"}),
        ("mistral", "sliding_window", 2.5),
        ("mistral", "sliding_window", 0),
        ("mistral", "head_dim", "8"),
        ("gpt2", "n_positions", 10**15),
        ("gpt2", "layer_norm_epsilon", "1e-5"),
        ("gpt2", "activation_function", ["gelu"]),
        ("bert", "type_vocab_size", True),
        ("bert", "architectures", "BertForMaskedLM"),
    ],
)
def test_options_of_other_types(case, option, value, tmp_path):
    config = {**REFERENCE[case]["config"], option: value}
    refused(write_folder(tmp_path / "model", case, config=config))


PROBABILITIES = [
    (case, option)
    for case in ("gpt2", "llama tied, biases", "bert", "t5", "vit", "whisper")
    for option in (
        "resid_pdrop",
        "attention_dropout",
        "hidden_dropout_prob",
        "dropout_rate",
        "drop_path_rate",
        "encoder_layerdrop",
        "classifier_dropout",
        "mask_time_prob",
    )
]


@pytest.mark.parametrize(("case", "option"), PROBABILITIES)
def test_probabilities(case, option, tmp_path):
    config = REFERENCE[case]["config"]
    for value in (2, -0.1, 1, float("nan"), "0.1", [0.1], 10**400):
        with pytest.raises(cm.ModelFileError, match=f"'{option}' of .* must be"):
            cm.from_config({**config, option: value})
    cm.from_config({**config, option: 0.5})
    folder = write_folder(tmp_path / "model", case, config={**config, option: 2})
    refused(folder, f"'{option}' of .*config.json must be in the range \\[0, 1\\), got 2")


@pytest.mark.parametrize(
    "value",
    ["x", [1, "a"], {"a": 1}, [[1]], 1.5, float("nan"), True, [None], 10**25, -7, [10**30]],
)
def test_tokens_that_end_a_text(value, folder):
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": value}))
    model = cm.load_pretrained(folder)
    with pytest.raises(cm.ModelFileError, match=r"'eos_token_id' .* must be a token"):
        cm.generate(model, np.array([[1, 2]]), max_new_tokens=1)


@pytest.mark.parametrize("content", ["", "[]", "null", "[" * 100_000, "\ufeff{}"])
def test_options_of_generation_that_are_no_object(content, folder):
    (folder / "generation_config.json").write_text(content)
    model = cm.load_pretrained(folder)
    with pytest.raises(cm.ModelFileError):
        cm.generate(model, np.array([[1, 2]]), max_new_tokens=1)


def test_no_end_and_ends_that_are_given(folder):
    (folder / "generation_config.json").write_text('{"eos_token_id": -1}')
    model, ids = cm.load_pretrained(folder), np.array([[1, 2]])
    assert cm.generate(model, ids, max_new_tokens=2).shape == (1, 4)
    first = int(cm.generate(model, ids, max_new_tokens=1)[0, -1])
    found = cm.generate(model, ids, max_new_tokens=2, eos_token_id=[np.int64(first)])
    assert found.shape == (1, 3)
    with pytest.raises(ValueError, match=r"eos_token_id must be a token .* got '5'"):
        cm.generate(model, ids, max_new_tokens=1, eos_token_id="5")


@pytest.mark.parametrize(
    "file",
    [
        "\0.safetensors",
        "a\n.safetensors",
        "\ud800.safetensors",
        "x" * 5000 + ".safetensors",
        "./model.safetensors",
        "model.safetensors/",
        "~/../x.safetensors",
        "file:///x.safetensors",
        INDEX,
        "MODEL.SAFETENSORS",
        ".safetensors",
        [],
        {},
        1.5,
        True,
    ],
)
def test_names_of_shards(file, shards):
    index = json.loads((shards / INDEX).read_text())
    index["weight_map"][NORM] = file
    (shards / INDEX).write_text(json.dumps(index))
    refused(shards)


@pytest.mark.parametrize("kind", ["circle", "folder", "index", "exchanged", "text", "empty"])
def test_shards_that_are_none(kind, shards):
    first, second = sorted(shards.glob("*.safetensors"))
    content = second.read_bytes()
    first.unlink()
    if kind == "circle":
        second.unlink()
        first.symlink_to(second.name)
        second.symlink_to(first.name)
    elif kind == "folder":
        first.mkdir()
    elif kind == "index":
        first.write_bytes((shards / INDEX).read_bytes())
    elif kind == "exchanged":
        first.write_bytes(content)
    elif kind == "text":
        first.symlink_to("/etc/passwd")
    else:
        first.symlink_to("/dev/null")
    refused(shards)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
@pytest.mark.parametrize("kind", ["folder", "link"])
def test_files_that_are_none(name, kind, folder):
    path = folder / name
    path.unlink()
    if kind == "folder":
        path.mkdir()
        refused(folder, "cannot be read: Is a directory")
    elif name == "config.json":
        path.symlink_to(name)
        refused(folder, "cannot be read: Too many levels")


def described(**change):
    entry = {"dtype": "F32", "shape": [16], "data_offsets": [0, 64], **change}
    return json.dumps({NORM: entry}).encode()


@pytest.mark.parametrize(
    "header",
    [
        described(shape=[2**62, 4]),
        described(shape=[-4, -4]),
        described(shape=[4.0, 4]),
        described(shape=[True, 16]),
        described(shape=[1] * 1000 + [16]),
        described(dtype="O"),
        described(dtype=3),
        described(data_offsets=[64, 0]),
        described(data_offsets=[-64, 0]),
        described(data_offsets=[0]),
        described(data_offsets=[10**30, 10**30 + 64]),
        described(shape=[10**400]),
        b'{"' + NORM.encode() + b'": NaN}',
        b'{"\xff": 1}',
        b"[" * 100_000,
    ],
)
def test_headers_of_weights(header, folder):
    data = struct.pack("<Q", len(header)) + header + bytes(64)
    (folder / "model.safetensors").write_bytes(data)
    refused(folder)
    with pytest.raises(cm.ModelFileError):
        cm.explain(folder)


@pytest.mark.parametrize("dtype", [np.int32, bool, np.int8])
def test_weights_that_are_no_numbers_with_a_fraction(dtype, tmp_path):
    tensors = tensors_of(CASE)
    tensors[NORM] = tensors[NORM].astype(dtype)
    refused(write_folder(tmp_path, CASE, tensors), "must have numbers with a fraction, got")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("init_lora_weights", "pissa"),
        ("init_lora_weights", ["olora"]),
        ("layer_replication", [[0, 1]]),
        ("alora_invocation_tokens", [1]),
        ("use_qalora", True),
        ("use_bdlora", True),
        ("lora_bias", True),
        ("trainable_token_indices", [1]),
        ("target_parameters", ["x"]),
        ("arrow_config", {"a": 1}),
        ("corda_config", {"a": 1}),
        ("invented", "on"),
        ("r", 10**12),
        ("r", "2"),
        ("lora_alpha", []),
        ("lora_dropout", 1),
        ("peft_type", 3),
        ("bias", ["all"]),
    ],
)
def test_options_of_adapters(option, value, folder, tmp_path):
    model = cm.load_pretrained(folder)
    cm.add_lora(model, r"/attn/q$", rank=2)
    cm.save_adapter(model, tmp_path)
    path = tmp_path / "adapter_config.json"
    values = json.loads(path.read_text())
    cm.load_adapter(cm.load_pretrained(folder), tmp_path)
    path.write_text(json.dumps({**values, option: value}))
    with pytest.raises(cm.ModelFileError, match=f"'{option}' of "):
        cm.load_adapter(cm.load_pretrained(folder), tmp_path)
