"""Faults that stay silent when models of other libraries are loaded; README.md lists them."""

import importlib.util
import json
import warnings
from pathlib import Path

import chainer
import chainer.functions as F
import numpy as np
import pytest
from published import REFERENCE, write_folder
from reference_models import tokens

import chainer_models as cm

pytestmark = pytest.mark.usefixtures("evaluating")


def load(folder, case, **options):
    config = {**REFERENCE[case]["config"], **options}
    return cm.load_pretrained(write_folder(folder, case, config=config))


def test_activation_and_layer_types_are_read(tmp_path):
    plain = load(tmp_path / "plain", "gemma2")
    other = load(tmp_path / "other", "gemma2", hidden_activation="relu")
    assert np.abs(plain(tokens()).array - other(tokens()).array).max() > 1e-2
    full = load(tmp_path / "full", "gemma2", layer_types=["full_attention"] * 2)
    assert [layer.window for layer in full.options.layers] == [None, None]
    with pytest.raises(cm.ModelFileError, match="'layer_types'"):
        load(tmp_path / "wrong", "gemma2", layer_types=["full_attention", "magic"])


def test_the_size_of_a_head_need_not_divide_that_of_the_states():
    options = {**REFERENCE["qwen3"]["config"], "head_dim": 12}
    model = cm.from_config(options, initialize=True)
    assert model.layers[0].attn.q.W.shape == (4 * 12, 32)
    assert model(tokens()).shape == (2, 12, 67)


@pytest.mark.parametrize(
    ("case", "option", "published"),
    [
        ("bert", "layer_norm_eps", 1e-12),
        ("gpt2", "layer_norm_epsilon", 1e-5),
        ("llama", "rms_norm_eps", 1e-6),
    ],
)
def test_eps_is_that_of_the_file(case, option, published):
    options = dict(REFERENCE[case]["config"])
    for value in (published, 0.25):
        model = cm.from_config({**options, option: value})
        found = {link.eps for link in model.links() if hasattr(link, "eps")}
        assert found == {value}
    del options[option]
    assert cm.from_config(options).norm.eps == published


def test_gradients_of_key_biases_are_rounding_errors(tmp_path):
    model = load(tmp_path, "bert")
    model.cleargrads()
    F.sum(model(tokens()) ** 2).backward()
    keys = [p.grad for path, p in model.namedparams() if path.endswith("/attn/k/b")]
    largest = max(float(np.abs(p.grad).max()) for p in model.params())
    assert len(keys) == 2
    assert max(float(np.abs(grad).max()) for grad in keys) < 1e-4 * largest


def test_several_queries_after_a_cache(tmp_path):
    model, ids = load(tmp_path, "llama"), tokens()
    expected = model(ids).array
    cache = model.make_cache()
    parts = [model(part, cache=cache).array for part in (ids[:, :5], ids[:, 5:9], ids[:, 9:])]
    np.testing.assert_allclose(np.concatenate(parts, axis=1), expected, atol=1e-4)


def test_a_captured_step_is_as_silent_as_the_step_as_written():
    x = np.array([-1e9, -10.0, 0.0, 10.0, 1e9], np.float32)
    step = chainer.capture(lambda x: F.gelu(x, approximate=True) * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = [step(x).array for _ in range(6)]
    for y in results:
        np.testing.assert_array_equal(y, results[0])


#: What torchvision computed, and the PyTorch that it was installed with: see read_torchvision.py.
TORCHVISION = json.loads((Path(__file__).parent / "data" / "torchvision.json").read_text())


def check_torchvision(found):
    """Checks that PyTorch is the build of the release that torchvision was built for."""
    (needed,) = found["needed"]
    assert needed.split(".")[:2] == found["torch"].split(".")[:2]
    assert found["torch.build"] == found["torchvision.build"]


def test_torchvision_has_the_pytorch_that_it_is_built_for():
    check_torchvision(TORCHVISION)
    x = np.random.RandomState(0).standard_normal((2, 3, 8, 9)).astype(np.float32)
    rois = np.float32(TORCHVISION["rois"])
    # Chainer wants y before x, and the numbers of the images apart.
    boxes, images = rois[:, [2, 1, 4, 3]], rois[:, 0].astype(np.int32)
    y = F.roi_average_align_2d(x, boxes, images, (2, 3), 0.9, 2)
    expected = np.float32(TORCHVISION["roi_align"]).reshape(y.shape)
    np.testing.assert_allclose(y.array, expected, rtol=1e-5, atol=1e-6)


def test_both_are_installed_by_one_command():
    """Installed later, torchvision replaces PyTorch by another build."""
    path = Path(__file__).parents[3] / "scripts" / "setup_peers.py"
    spec = importlib.util.spec_from_file_location("setup_peers", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert {"torch", "torchvision"} <= set(module.SHARED["models"])
    assert not any("torchvision" in names for k, names in module.SHARED.items() if k != "models")
