"""How much memory a model takes that is loaded: one copy of the weights, or none."""

import gc
from pathlib import Path

import numpy as np
import pytest
from reference_models import tokens

import chainer_models as cm

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")

pytestmark = [
    pytest.mark.skipif(not STATUS.exists(), reason="Linux tells how much memory is resident"),
    pytest.mark.usefixtures("evaluating"),
]

#: 60 MB of weights, so that what else a process needs is small beside them. The largest is a fifth.
OPTIONS = {
    "model_type": "llama",
    "vocab_size": 8192,
    "hidden_size": 384,
    "intermediate_size": 1536,
    "num_hidden_layers": 5,
    "num_attention_heads": 6,
    "num_key_value_heads": 6,
    "tie_word_embeddings": True,
}


def resident(kind):
    """Returns bytes of memory: ``VmHWM`` (peak), ``VmRSS`` (all), ``RssAnon`` (without files)."""
    for line in STATUS.read_text().splitlines():
        if line.startswith(kind + ":"):
            return int(line.split()[1]) << 10
    pytest.skip(f"this Linux does not tell {kind}")


def forget_the_peak():
    try:
        CLEAR.write_text("5")
    except OSError as error:
        pytest.skip(f"the peak cannot be reset: {error}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("memory") / "llama"
    cm.save_pretrained(cm.from_config(OPTIONS, initialize=True), folder)
    gc.collect()
    return folder


def size_of(folder):
    return (folder / "model.safetensors").stat().st_size


def test_a_copy_needs_its_own_memory_only(folder):
    size = size_of(folder)
    forget_the_peak()
    before = resident("VmRSS")
    model = cm.load_pretrained(folder, mapped=False)
    # Beside the copy, the pages of one tensor of the file are there at a time.
    assert resident("VmHWM") - before < 1.1 * size
    # It is there: the memory of an earlier test was not used again.
    assert resident("VmRSS") - before > 0.9 * size
    mapped = cm.load_pretrained(folder)
    np.testing.assert_array_equal(model(tokens()).array, mapped(tokens()).array)


def test_a_mapped_model_needs_no_memory_of_its_own(folder):
    size = size_of(folder)
    model = cm.load_pretrained(folder)
    # NumPy keeps the memory that a first forward run takes.
    model(tokens())
    del model
    gc.collect()
    private, all_memory = resident("RssAnon"), resident("VmRSS")
    model = cm.load_pretrained(folder)
    assert resident("VmRSS") - all_memory < 0.05 * size
    model(tokens())
    assert resident("RssAnon") - private < 0.05 * size
    # The pages of the file are read: they can be taken away, and read again.
    assert resident("VmRSS") - all_memory > 0.8 * size
