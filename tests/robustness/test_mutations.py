"""A few mutations of each format; ``python tests/robustness/mutations.py`` makes 20,000 of each."""

import pytest

from tests.robustness import mutations


@pytest.mark.parametrize("name", mutations.FORMATS)
def test_mutations(name):
    if name == "onnx":
        pytest.importorskip("onnx_chainer")
        pytest.importorskip("onnx")
    results = mutations.run(name, 150, seed=7)
    assert results.keys() <= mutations.ALLOWED, results
    assert results.total() == 150


@pytest.mark.slow
@pytest.mark.parametrize("name", ["npz", "hdf5", "safetensors"])
def test_every_bit(name, tmp_path):
    """No flipped bit goes unnoticed: equal values, or FileFormatError."""
    path = str(tmp_path / "file")
    load = getattr(mutations.serializers, f"load_{name}")
    data = mutations._saved(getattr(mutations.serializers, f"save_{name}"), path)
    check = mutations._check_model(load)
    for position in range(len(data)):
        for bit in range(8):
            changed = bytearray(data)
            changed[position] ^= 1 << bit
            with open(path, "wb") as file:
                file.write(changed)
            assert check(path) in ("equal", "refused"), (position, bit)
