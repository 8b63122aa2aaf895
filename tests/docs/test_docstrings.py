"""The examples in the docstrings run and print what they show."""

import doctest
import importlib
import importlib.util
import inspect
import pkgutil

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import gradient_check, training
from chainer.core.registry import registries
from tests.docs.number_checker import NumberChecker

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
# Examples of these need a GPU.
_WITHOUT = ("chainer.backends.cupy",)
# Examples that use a package of an extra, by the start of their names.
_NEEDS = {"chainer.links.theano.": "pytensor"}
# Modules that cannot be imported without a package.
_IMPORTS = {
    "chainer.links.caffe.protobuf3.caffe_pb2": "google.protobuf",
    "chainer._pyinstaller.hook-chainer": "PyInstaller",
}


def _modules():
    for module in pkgutil.walk_packages(chainer.__path__, "chainer."):
        if not module.name.startswith(_WITHOUT) and ".conformance" not in module.name:
            yield module.name


def _is_installed(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # a parent package is missing
        return False


def _examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    for name in _modules():
        if name in _IMPORTS and not _is_installed(_IMPORTS[name]):
            continue  # it has no examples
        module = importlib.import_module(name)
        yield from (test for test in finder.find(module, name) if test.examples)


def pytest_generate_tests(metafunc):
    if "example" in metafunc.fixturenames:
        examples = list(_examples())
        metafunc.parametrize("example", examples, ids=[example.name for example in examples])


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_example(example, tmp_path, monkeypatch):
    for start, package in _NEEDS.items():
        if example.name.startswith(start):
            pytest.importorskip(package, reason=f"{package} is not installed")
    monkeypatch.chdir(tmp_path)
    example.globs = {
        "np": np,
        "chainer": chainer,
        "F": F,
        "L": L,
        "gradient_check": gradient_check,
        "training": training,
        "__name__": "__main__",
    }
    output = []
    np.random.seed(0)
    with np.printoptions(legacy="1.25"):
        result = doctest.DocTestRunner(checker=NumberChecker(), optionflags=FLAGS).run(
            example, out=output.append
        )
    assert result.attempted > 0
    assert result.failed == 0, "".join(output)


def test_there_are_many():
    names = [example.name for example in _examples()]
    assert len(names) > 150
    assert "chainer.functions.activation.tanh.tanh" in names


#: Registries whose entries have pages in the reference.
_WITH_EXAMPLES = (
    "functions",
    "links",
    "distributions",
    "optimizers",
    "optimizer_hooks",
    "extensions",
    "triggers",
    "updaters",
    "datasets",
    "iterators",
    "initializers",
    "function_hooks",
    "link_hooks",
)


@pytest.mark.parametrize("kind", _WITH_EXAMPLES)
def test_every_registered_name_has_an_example(kind):
    missing = []
    for entry in getattr(registries, kind).entries():
        if entry.provenance is None or entry.provenance.distribution != "chainer":
            continue
        value = entry.load()
        text = inspect.getdoc(value) or ""
        is_node = kind == "functions" and inspect.isclass(value)
        # Examples with ``::`` need what a machine for tests lacks: the network, a GPU, DALI.
        if not is_node and ">>>" not in text and "Example:" not in text:
            missing.append(entry.name)
    assert not missing


#: Modules whose functions and classes, but errors and warnings, have examples.
_MODULES = (
    "chainer",
    "chainer.backend",
    "chainer.computational_graph",
    "chainer.gradient_check",
    "chainer.testing",
)


@pytest.mark.parametrize("name", _MODULES)
def test_every_public_name_has_an_example(name):
    module = importlib.import_module(name)
    missing = []
    for attribute in getattr(module, "__all__", None) or dir(module):
        value = getattr(module, attribute)
        is_error = inspect.isclass(value) and issubclass(value, BaseException)
        # A module imports names of others for its own use.
        is_ours = str(getattr(value, "__module__", "")).startswith("chainer")
        if attribute.startswith("_") or is_error or not is_ours:
            continue
        if not (inspect.isclass(value) or inspect.isroutine(value)):
            continue
        text = inspect.getdoc(value) or ""
        if ">>>" not in text and "Example" not in text:
            missing.append(attribute)
    assert not missing
