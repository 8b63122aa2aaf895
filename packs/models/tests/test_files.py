"""Files that are damaged, hostile, or of other types: one class of error, and the right numbers."""

import json

import chainer
import numpy as np
import pytest
from published import REFERENCE, tensors_of, write_folder
from reference_models import tokens

import chainer_models as cm

CASE = "llama tied, biases"


def changed(**options):
    return {**REFERENCE[CASE]["config"], **options}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"hidden_size": "32"}, "'hidden_size' of .* must be an integer, got '32'"),
        ({"hidden_size": True}, "must be an integer, got True"),
        ({"vocab_size": 10**15}, "'vocab_size' of .* must be between 1 and"),
        ({"num_hidden_layers": -1}, "'num_hidden_layers' of .* must be between 1 and"),
        ({"rms_norm_eps": float("nan")}, "'rms_norm_eps' of .* must be finite"),
        ({"num_key_value_heads": 3}, "must divide the number of heads, got 3 and 4"),
        ({"hidden_act": "magic"}, "activation 'magic' is not known; known ones: gelu"),
        ({"tie_word_embeddings": "yes"}, "must be true or false, got 'yes'"),
        ({"rope_parameters": [1]}, "'rope_parameters' of .* must be an object"),
        ({"rope_parameters": {"rope_type": "magic"}}, "'rope_type' of .* got 'magic'"),
        ({"model_type": "magic"}, "'model_type' of .* got 'magic'; 'chainer list model_arch"),
        ({"model_type": 3}, "'model_type' of .* must be a text, got 3"),
        ({"vocab_size": 66}, r"'model.embed_tokens.weight' of .* shape \(66, 32\), got \(67, 32\)"),
        ({"num_hidden_layers": 3}, "lacks 16 tensors of Llama: model.layers.2"),
    ],
)
def test_wrong_options(options, text, tmp_path):
    write_folder(tmp_path, CASE, config=changed(**options))
    with pytest.raises(cm.ModelFileError, match=text):
        cm.load_pretrained(tmp_path)


@pytest.mark.parametrize("content", ["", "[1]", "{", "[" * 100_000, '{"model_type": null}'])
def test_config_that_is_not_an_object(content, tmp_path):
    write_folder(tmp_path, CASE)
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(cm.ModelFileError):
        cm.load_pretrained(tmp_path)


@pytest.mark.parametrize(
    "file",
    [
        "../secret.safetensors",
        "/etc/passwd",
        "a/b.safetensors",
        "..",
        "",
        3,
        "x.bin",
        "..\\x",
        None,
    ],
)
def test_an_index_that_leads_elsewhere(file, tmp_path):
    write_folder(tmp_path, CASE, shards=2)
    path = tmp_path / "model.safetensors.index.json"
    index = json.loads(path.read_text())
    index["weight_map"]["model.norm.weight"] = file
    path.write_text(json.dumps(index))
    with pytest.raises(cm.ModelFileError, match="must name files"):
        cm.load_pretrained(tmp_path)


def test_an_index_that_does_not_fit(tmp_path):
    write_folder(tmp_path, CASE, shards=2)
    path = tmp_path / "model.safetensors.index.json"
    index = json.loads(path.read_text())
    for change, text in (
        ({"weight_map": []}, "has no 'weight_map'"),
        ({"weight_map": {**index["weight_map"], "x": "gone.safetensors"}}, "is missing"),
        # An index is not a file of weights, so that no shard can be a list of shards.
        ({"weight_map": {"x": path.name}}, "must name files of safetensors"),
    ):
        path.write_text(json.dumps(change))
        with pytest.raises(cm.ModelFileError, match=text):
            cm.load_pretrained(tmp_path)
    first = index["weight_map"]["model.norm.weight"]
    index["weight_map"]["not there"] = first
    path.write_text(json.dumps(index))
    with pytest.raises(cm.ModelFileError, match="has 'not there', which it lacks"):
        cm.load_pretrained(tmp_path)


def test_files_without_weights(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(changed()))
    with pytest.raises(FileNotFoundError, match=r"neither model\.safetensors nor"):
        cm.load_pretrained(tmp_path)
    (tmp_path / "pytorch_model.bin").write_bytes(b"x")
    with pytest.raises(FileNotFoundError, match=r"pytorch_model\.bin is a pickle"):
        cm.load_pretrained(tmp_path)


def test_tensors_that_are_not_used_are_told(tmp_path):
    write_folder(tmp_path, CASE, {**tensors_of(CASE), "extra.weight": np.ones(2, "f")})
    with pytest.warns(UserWarning, match=r"has 1 tensors that Llama does not use: extra\.weight"):
        cm.load_pretrained(tmp_path)
    explanation = cm.explain(tmp_path)
    assert explanation.unused == ["extra.weight"]
    assert "chainer-models 1" in str(explanation)


def test_options_that_are_not_understood(tmp_path):
    write_folder(tmp_path, CASE, config=changed(magic_attention=True))
    assert cm.explain(tmp_path).not_understood == ["magic_attention"]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e4m3fn"])
def test_other_types(dtype, tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    tensors = {name: array.astype(dtype) for name, array in tensors_of(CASE).items()}
    one = cm.load_pretrained(write_folder(tmp_path / "one", CASE, tensors))
    rounded = {name: array.astype("f") for name, array in tensors.items()}
    other = cm.load_pretrained(write_folder(tmp_path / "other", CASE, rounded))
    with chainer.using_config("train", False):
        np.testing.assert_array_equal(one(tokens()).array, other(tokens()).array)
    cm.save_pretrained(one, tmp_path / "again", dtype=dtype)
    again = chainer.serializers.open_safetensors(tmp_path / "again" / "model.safetensors")
    assert all(again.dtype(name) == dtype for name in again)
    for name in again:
        np.testing.assert_array_equal(again[name], tensors[name])


def test_shards_and_prefixes_are_the_same_model(tmp_path):
    one = cm.load_pretrained(write_folder(tmp_path / "one", "gpt2"))
    short = {name.removeprefix("transformer."): a for name, a in tensors_of("gpt2").items()}
    other = cm.load_pretrained(write_folder(tmp_path / "other", "gpt2", short, shards=3))
    with chainer.using_config("train", False):
        np.testing.assert_array_equal(one(tokens()).array, other(tokens()).array)


def test_a_tied_head_may_be_in_the_file_twice(tmp_path):
    tensors = tensors_of(CASE)
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"]
    model = cm.load_pretrained(write_folder(tmp_path, CASE, tensors))
    cm.save_pretrained(model, tmp_path / "again")
    assert "lm_head.weight" not in chainer.serializers.open_safetensors(
        tmp_path / "again" / "model.safetensors"
    )


def test_weights_are_mapped_and_training_leaves_the_file(tmp_path):
    folder = write_folder(tmp_path, "llama")
    before = (folder / "model.safetensors").read_bytes()
    model = cm.load_pretrained(folder)
    assert not model.embed.W.array.flags.owndata
    assert type(model.embed.W.array) is np.ndarray
    optimizer = chainer.optimizers.SGD(0.1).setup(model)
    loss = chainer.functions.sum(model(tokens()) ** 2)
    model.cleargrads()
    loss.backward()
    optimizer.update()
    assert (model.embed.W.array != tensors_of("llama")["model.embed_tokens.weight"]).any()
    assert (folder / "model.safetensors").read_bytes() == before


def test_rotations_of_older_files(tmp_path):
    config = changed(rope_theta=500.0, rope_scaling={"type": "linear", "factor": 2.0})
    del config["rope_parameters"]
    old = cm.load_pretrained(write_folder(tmp_path / "old", CASE, config=config))
    values = {"rope_theta": 500.0, "rope_type": "linear", "factor": 2.0}
    config = changed(rope_parameters=values)
    new = cm.load_pretrained(write_folder(tmp_path / "new", CASE, config=config))
    np.testing.assert_array_equal(old(tokens()).array, new(tokens()).array)


def test_saving_replaces_the_old_files(tmp_path):
    model = cm.load_pretrained(write_folder(tmp_path / "a", CASE))
    (tmp_path / "a" / "tokenizer.json").write_text("{}")
    out = tmp_path / "b"
    cm.save_pretrained(model, out, max_shard_size="10KB")
    assert (out / "tokenizer.json").exists()
    assert len(list(out.glob("*.safetensors"))) > 1
    cm.save_pretrained(model, out)
    assert [path.name for path in out.glob("*.safetensors*")] == ["model.safetensors"]
    with pytest.raises(ValueError, match=r"max_shard_size must be .*, got 'big'"):
        cm.save_pretrained(model, out, max_shard_size="big")


def test_new_embeddings_are_small():
    """Heads that are tied to them would begin with a large loss otherwise."""
    options = {"model_type": "gpt2", "n_embd": 32, "n_head": 2, "n_layer": 1, "vocab_size": 100}
    model = cm.from_config(options, initialize=True)
    assert 0.015 < model.embed.W.array.std() < 0.025
    model = cm.from_config({**options, "initializer_range": 0.1}, initialize=True)
    assert 0.08 < model.embed.W.array.std() < 0.12


@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        ("n_layer", 10**6, "'n_layer' of .* must be at most"),
        ("n_embd", 2 * 10**6, "asks for arrays that do not fit into memory|must have the shape"),
    ],
)
def test_sizes_that_no_file_has(option, value, text, tmp_path):
    config = {**REFERENCE["gpt2"]["config"], option: value}
    folder = write_folder(tmp_path / "model", "gpt2", config=config)
    with pytest.raises(cm.ModelFileError, match=text):
        cm.load_pretrained(folder)


def test_a_name_of_the_hub_is_no_folder():
    with pytest.raises(FileNotFoundError, match=r"'organization/model' is none; .*download"):
        cm.load_pretrained("organization/model")


def test_an_unknown_kind_of_weights_is_refused_before_files_are_read(tmp_path):
    with pytest.raises(ValueError, match=r"weights must be None or one of .*int4, got 'int3'"):
        cm.load_pretrained(tmp_path / "nothing", weights="int3")
