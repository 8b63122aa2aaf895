"""The index of a sharded checkpoint names files that are read and removed."""

import json

import pytest
from chainermn.sharding.files import export_sharded

GOOD = {"files": ["shard-1.0-of-1.npz"], "number": 1, "t": 3}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is damaged"),
        ("[" * 10_000, "is damaged"),
        ("5", "is not the index"),
        (json.dumps({**GOOD, "files": ["../model.npz"]}), "is not the index"),
        (json.dumps({**GOOD, "files": ["/etc/passwd"]}), "is not the index"),
        (json.dumps({**GOOD, "files": [5]}), "is not the index"),
        (json.dumps({**GOOD, "number": "1"}), "is not the index"),
        (json.dumps({"files": []}), "is not the index"),
    ],
)
def test_damaged_index(tmp_path, text, message):
    (tmp_path / "complete.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        export_sharded(tmp_path, tmp_path / "whole.safetensors")


def test_no_index(tmp_path):
    with pytest.raises(FileNotFoundError, match="no complete sharded checkpoint"):
        export_sharded(tmp_path, tmp_path / "whole.safetensors")
