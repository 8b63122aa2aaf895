"""The operation-spec table itself."""

import re

import pytest

from chainer.core.registry import registries
from chainer.testing import specs
from chainer.testing.op_spec import OpSpec, Sample


def our_functions():
    """Names of the functions (not the nodes) our own packs registered."""
    registries.functions.load_all()
    return {
        entry.name
        for entry in registries.functions.entries()
        if entry.name[0].islower() and entry.target.startswith("chainer.functions.")
    }


def test_every_function_has_a_row():
    covered = {name for spec in specs.all_specs() for name in spec.functions}
    assert our_functions() - covered == set()


def test_rows_are_about_functions_that_exist():
    covered = {name for spec in specs.all_specs() for name in spec.functions}
    assert covered - our_functions() == set()


@pytest.mark.parametrize("row", specs.all_specs(), ids=lambda row: row.name)
def test_rows(row):
    assert isinstance(row, OpSpec)
    assert re.fullmatch(r"[a-z0-9_]+", row.name)
    assert 0 <= row.gradient_order <= 2
    first = list(row.samples(row.draw()))
    second = list(row.samples(row.draw()))
    assert first
    for one, other in zip(first, second, strict=True):
        assert isinstance(one, Sample)
        assert [a.tolist() for a in one.arrays] == [a.tolist() for a in other.arrays]
        size = [a.size for a in one.arrays]
        assert one.kind == "empty" or 0 not in size
        assert max(size, default=0) <= 2000, "samples are to be small"
        if one.kind == "zero-dim":
            assert any(a.ndim == 0 for a in one.arrays)
    for bad in row.errors(row.draw()) if row.errors else ():
        assert bad.match, f"{bad}: say what the message must contain"


def test_two_rows_of_one_name(monkeypatch):
    from chainer.testing.specs import activation

    monkeypatch.setattr(activation, "SPECS", activation.SPECS * 2)
    with pytest.raises(ValueError, match=r"have one name: .*relu"):
        specs.all_specs()
