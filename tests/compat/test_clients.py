"""chainer.compat.clients: removed names for named packages, and for no others."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from chainer.compat import clients
from chainer.compat.clients import importing, lookup
from chainer.compat.clients.nms_gpu_post import _nms_gpu_post

OLD = """
import collections
import inspect
import numpy as np
import numpy
from collections import Iterable, OrderedDict
from numpy import product as multiply, zeros

import old_package.part


def types():
    return np.bool, np.int, np.float, np.object, np.long


def same_module(xp):
    return xp is np


def of_module(xp):
    return xp.int


def arrays():
    x = np.array([[1, 2], [3]])
    y = np.array(np.zeros(2), copy=False)
    z = np.vstack(row for row in np.eye(2))
    return x.dtype == np.object, y, z


def methods(x):
    x.itemset(0, 5)
    return x.ptp(), x.tostring(), float(x[:1]), int(x[1:2])


def own():
    float = str
    return float(np.ones(1)), int("3"), int("11", 2)


def orders(ragged, seed):
    rng = np.random.RandomState(seed)
    np.random.seed(seed)
    return [rng.permutation(ragged), rng.choice(ragged, 2), np.random.permutation(ragged),
            np.random.default_rng(seed).permutation(ragged), rng.permutation(4)]


class Thing:
    int = 4
    def __init__(self):
        self.product = 7


def attributes():
    thing = Thing()
    thing.int = 5
    return thing.int, thing.product, Thing.int


def names():
    return (inspect.getargspec(lambda a, b=1, *c: 0), isinstance([], collections.Mapping),
            isinstance([], Iterable), OrderedDict, multiply([2, 3]), zeros, np.in1d([1, 2], [2]))


def missing():
    return np.no_such_name


def fails():
    raise ValueError("here")
"""


@pytest.fixture
def packages(tmp_path, monkeypatch):
    for name in ("old_package", "other_package"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "__init__.py").write_text(OLD.replace("old_package", name))
        (folder / "part.py").write_text("import numpy\nvalue = numpy.asscalar(numpy.ones(1))\n")
    (tmp_path / "other_package" / "__init__.py").write_text(
        "import numpy\nhas_int = hasattr(numpy, 'int')\n"
        "def convert(x): return float(x)\ndef types(): return numpy.int\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    clients.disable()
    for name in [n for n in sys.modules if n.partition(".")[0] in ("old_package", "other_package")]:
        del sys.modules[name]


@pytest.fixture
def old(packages):
    clients.enable("old_package")
    import old_package  # pyright: ignore[reportMissingImports]

    return old_package


def test_names(old):
    assert old.types() == (bool, int, float, object, int)
    argspec, is_mapping, is_iterable, ordered, product, zeros, found = old.names()
    assert tuple(argspec) == (["a", "b"], "c", None, (1,))
    assert not is_mapping
    assert is_iterable
    assert ordered.__name__ == "OrderedDict"
    assert product == 6
    assert zeros is np.zeros
    np.testing.assert_array_equal(found, [False, True])
    assert old.part.value == 1.0


def test_modules_are_the_same_objects(old):
    assert old.np is np
    assert old.same_module(np)
    assert old.of_module(np) is int


def test_stricter_functions(old):
    is_object, y, z = old.arrays()
    assert is_object
    np.testing.assert_array_equal(y, np.zeros(2))
    np.testing.assert_array_equal(z, np.eye(2))


def test_random_orders_of_sequences_of_various_lengths(old):
    ragged = [[1, 2], [3], [4, 5, 6]]
    permuted, chosen, same, other, plain = old.orders(ragged, 0)
    # Release 1.16 of NumPy gave these.
    assert permuted.tolist() == [[4, 5, 6], [3], [1, 2]]
    assert same.tolist() == permuted.tolist()
    assert all(item in ragged for item in chosen.tolist())
    assert sorted(other.tolist()) == ragged
    assert sorted(plain.tolist()) == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="negative"):
        lookup.look_up(np.random.RandomState(0), "choice")(3, -1)


def test_methods_and_conversions(old):
    x = np.array([1.0, 2.0, 4.0])
    range_, content, first, second = old.methods(x)
    assert (range_, first, second) == (3.0, 5.0, 2)
    assert content == np.array([5.0, 2.0, 4.0]).tobytes()
    assert old.own() == ("[1.]", 3, 3)


def test_attributes_of_other_objects(old):
    assert old.attributes() == (5, 7, 4)


def test_missing_names_stay_missing(old):
    with pytest.raises(AttributeError, match="no_such_name"):
        old.missing()
    with pytest.raises(AttributeError, match="itemset"):
        lookup.look_up([], "itemset")
    with pytest.raises(AttributeError, match="'product'"):
        lookup.look_up(sys, "product")
    with pytest.raises(ImportError, match="cannot import name 'product' from 'sys'"):
        lookup.look_up_import("sys", "product")


def test_line_numbers(old):
    with pytest.raises(ValueError, match="here") as raised:
        old.fails()
    lines = pathlib.Path(old.__file__).read_text().splitlines()
    assert lines[raised.traceback[-1].lineno].strip() == 'raise ValueError("here")'


def test_nothing_changes_elsewhere(old):
    import other_package  # pyright: ignore[reportMissingImports]

    assert not other_package.has_int
    with pytest.raises(AttributeError, match="int"):
        other_package.types()
    assert not hasattr(np, "int")
    assert not hasattr(np, "product")
    assert not list(pathlib.Path(old.__file__).parent.rglob("*.pyc"))


def test_off_by_default(packages):
    with pytest.raises(ImportError):
        import old_package  # noqa: F401  # pyright: ignore[reportMissingImports]
    assert clients.enabled() == ()
    assert importing._finder not in sys.meta_path


def test_enable_and_disable(packages):
    clients.enable("old_package", "other_package")
    clients.enable("old_package")
    assert clients.enabled() == ("old_package", "other_package")
    clients.disable("old_package")
    assert clients.enabled() == ("other_package",)
    clients.disable()
    assert clients.enabled() == ()


@pytest.mark.parametrize("name", ["a.b", "", 3, "chainer-cv"])
def test_bad_names(name):
    with pytest.raises(ValueError, match="import names of top-level packages"):
        clients.enable(name)


def test_too_late(packages):
    import other_package  # noqa: F401  # pyright: ignore[reportMissingImports]

    with pytest.raises(RuntimeError, match="other_package has been imported already"):
        clients.enable("other_package")
    assert clients.enabled() == ()


PROGRAM = """
    import sys
    import chainer
    import old_package
    print(old_package.types()[1], sys.argv[1:])
"""


def run(folder, *arguments, **environment):
    (folder / "program.py").write_text(textwrap.dedent(PROGRAM))
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_environment_variable(packages):
    out = run(packages, "program.py", "-x", CHAINER_COMPAT_CLIENTS="old_package, other_package")
    assert out == "<class 'int'> ['-x']"


def test_command(packages):
    command = ["-m", "chainer.compat.clients", "--packages", "old_package"]
    assert run(packages, *command, "program.py", "--option", "1") == (
        "<class 'int'> ['--option', '1']"
    )


def test_every_name_can_be_looked_up():
    for module, names in lookup.MODULES.items():
        if module == "cupy":
            continue
        for name in names:
            assert lookup.look_up_import(module, name) is not None, (module, name)


def test_find_common_type():
    find = lookup.look_up(np, "find_common_type")
    assert find([np.float32], [np.float64, np.int64]) == np.float32
    assert find([np.int32], [np.float64]) == np.float64
    assert find([], [np.int8, np.int16]) == np.int16


def test_replaced_module(packages):
    # As ChainerCV, whose compiled module cannot be built.
    folder = packages / "chainercv" / "utils" / "bbox"
    folder.mkdir(parents=True)
    for parent in (folder, folder.parent, folder.parent.parent):
        (parent / "__init__.py").write_text("")
    clients.enable("chainercv")
    try:
        from chainercv.utils.bbox import (  # pyright: ignore[reportMissingImports]
            _nms_gpu_post as module,
        )

        assert module._nms_gpu_post is _nms_gpu_post
    finally:
        for name in [n for n in sys.modules if n.partition(".")[0] == "chainercv"]:
            del sys.modules[name]


@pytest.mark.parametrize("block", [4, 64])
def test_nms_gpu_post(block):
    # Each box against each later one, as the kernel marks them.
    rng = np.random.RandomState(0)
    count = 11
    blocks = -(-count // block)
    overlap = np.triu(rng.rand(count, count) < 0.3, 1)
    mask = np.zeros((count, blocks), np.uint64)
    for i, j in zip(*overlap.nonzero()):
        mask[i, j // block] |= np.uint64(1 << int(j % block))
    selection, number = _nms_gpu_post(mask.ravel(), count, block, blocks)
    expected: list[int] = []
    for i in range(count):
        if not any(overlap[j, i] for j in expected):
            expected.append(i)
    assert selection[:number].tolist() == expected
    assert selection.dtype == np.int32
