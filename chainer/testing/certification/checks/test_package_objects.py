"""The objects that a package registers."""

# pyright: basic
# ruff: noqa: D103
from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest

from chainer.core.arrays.backend import get_device
from chainer.core.registry import registries
from chainer.links.chain import Chain
from chainer.testing.certification.subject import functions_of, table_of
from chainer.testing.conformance.options import table
from chainer.testing.serializer import save_and_load_npz
from chainer.testing.specs import all_specs


def test_loads(registered):
    registry, entry = registered
    assert registry.get(entry.name) is not None


def test_has_a_docstring(registered):
    registry, entry = registered
    loaded = registry.get(entry.name)
    if not (inspect.isclass(loaded) or inspect.isfunction(loaded)):
        return  # instances have the documentation of their class
    assert inspect.getdoc(loaded), f"{registry.singular} {entry.name!r} has no docstring"


def test_is_pickled_by_reference(registered):
    registry, entry = registered
    loaded = registry.get(entry.name)
    if inspect.isclass(loaded) or inspect.isfunction(loaded):
        assert pickle.loads(pickle.dumps(loaded)) is loaded


def test_functions_have_rows(record, pytestconfig):
    """Every function is in a table, so that its gradients are tested."""
    names = functions_of(record.name)
    place = pytestconfig.getoption("--chainer-specs") or table_of(record)
    rows = table(place) if place else ()
    covered = {name for row in (*rows, *all_specs()) for name in (row.name, *row.functions)}
    missing = sorted(set(names) - covered)
    assert not missing, (
        f"no row of a table tests {', '.join(missing)}; add a module 'specs' with SPECS to the "
        "package, or name the table with --specs"
    )


class _Model(Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            W = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
            self.linear = registries.links.get("Linear")(3, 2, initialW=W)


def _made(registered):
    registry, entry = registered
    model = _Model()
    try:
        return model, registry.get(entry.name)().setup(model), registry.get(entry.name)
    except TypeError as error:
        pytest.skip(f"it needs arguments: {error}")


def _update(model, optimizer, x):
    loss = registries.functions.get("mean")(model.linear(x) ** 2)
    model.cleargrads()
    loss.backward()
    optimizer.update()
    return float(loss.array)


def test_optimizers_minimize_and_continue_from_a_file(registered_optimizer):
    model, optimizer, create = _made(registered_optimizer)
    x = get_device("@numpy").send(np.linspace(-1, 2, 12, dtype=np.float32).reshape(4, 3))
    losses = [_update(model, optimizer, x) for _ in range(5)]
    assert all(map(np.isfinite, losses))
    assert losses[-1] < losses[0], f"the loss does not fall: {losses}"
    other = _Model()
    restored = create().setup(other)
    save_and_load_npz(model, other)
    save_and_load_npz(optimizer, restored)
    _update(model, optimizer, x)
    _update(other, restored, x)
    np.testing.assert_allclose(other.linear.W.array, model.linear.W.array, rtol=1e-6)
