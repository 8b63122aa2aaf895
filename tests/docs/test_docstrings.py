"""The examples in the docstrings run and print what they show.

Examples that need a GPU have the marker ``gpu``: ``make gpu-emulated
ARGS=tests/docs/test_docstrings.py`` runs them on emulated devices.
"""

import doctest
import importlib
import importlib.util
import inspect
import pkgutil
import re

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import gradient_check, training
from chainer.backends import cuda
from chainer.core.registry import registries
from chainer.training.dataset import download
from tests.docs.number_checker import NumberChecker

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
# What the source of an example that needs a GPU has.
_ON_A_GPU = "cuda.to_gpu("
# Examples that use a package of an extra, by the start of their names.
_NEEDS = {
    "chainer.links.theano.": "pytensor",
    "chainer.links.serializers.hdf5.": "h5py",
    "chainer.training.extensions.plot_report.": "matplotlib",
    "chainer.training.extensions.variable_statistics_plot.": "matplotlib",
    "chainer.training.extensions.tensorboard_writer.": "tensorboardX",
}
# Examples that take seconds, because their models have 45 to 144 million parameters.
_SLOW = ("ResNet101Layers", "ResNet152Layers", "VGG16Layers", "VGG19Layers")
# Modules that cannot be imported without a package.
_IMPORTS = {
    "chainer.links.caffe.protobuf3.caffe_pb2": "google.protobuf",
    "chainer._pyinstaller.hook-chainer": "PyInstaller",
}


#: The text of an object of ours whose class has no ``__repr__``.
_ADDRESS = re.compile(r"<chainer[\w.]* object at 0x")


def _is_ours(value):
    return str(type(value).__module__).startswith("chainer.")


def _modules():
    for module in pkgutil.walk_packages(chainer.__path__, "chainer."):
        if ".conformance" not in module.name:
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


def _marks(example):
    if any(_ON_A_GPU in each.source for each in example.examples):
        yield pytest.mark.gpu
        yield pytest.mark.skipif(not chainer.backends.cuda.available, reason="needs a GPU, CuPy")
    if example.name.endswith(_SLOW):
        yield pytest.mark.slow


def pytest_generate_tests(metafunc):
    if "example" in metafunc.fixturenames:
        metafunc.parametrize(
            "example",
            [pytest.param(each, id=each.name, marks=list(_marks(each))) for each in _examples()],
        )


@pytest.fixture(scope="module")
def datasets(tmp_path_factory):
    """A dataset root with a few examples of each dataset, so that nothing is downloaded."""
    root = tmp_path_factory.mktemp("datasets")

    def save(name, **arrays):
        path = root / "pfnet" / "chainer" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, **{key: np.asarray(each, np.uint8) for key, each in arrays.items()})

    for split in ("train", "test"):
        for name in ("mnist", "fashion-mnist", "kuzushiji_mnist"):
            save(f"{name}/{split}.npz", x=np.zeros((3, 784)), y=[5, 0, 4])
        save(f"svhn/{split}.npz", x=np.zeros((32, 32, 3, 2)), y=[[1], [9]])
    images, labels = np.zeros((2, 3072)), [6, 9]
    for name in ("cifar-10.npz", "cifar-100.npz"):
        save(f"cifar/{name}", train_x=images, train_y=labels, test_x=images, test_y=labels)
    # As many words as the first sentence of the real file has.
    sentence = " ".join(f"word{i}" for i in range(24))
    folder = root / "pfnet" / "chainer" / "ptb"
    folder.mkdir()
    for split in ("train", "valid", "test"):
        (folder / f"ptb.{split}.txt").write_text(sentence + "\n", encoding="utf-8")
    return root


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_example(example, datasets, tmp_path, monkeypatch):
    for start, package in _NEEDS.items():
        if example.name.startswith(start):
            pytest.importorskip(package, reason=f"{package} is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHAINER_DATASET_ROOT", str(datasets))
    # Other tests and examples may have set them for the process.
    monkeypatch.setattr(download, "_root", None)
    monkeypatch.setattr(cuda, "_max_workspace_size", 8 << 20)
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
            example, out=output.append, clear_globs=False
        )
    assert result.attempted > 0
    assert result.failed == 0, "".join(output)
    # What a notebook shows of the objects of the example: an address says nothing to the reader.
    texts = [repr(value) for value in example.globs.values() if _is_ours(value)]
    example.globs.clear()
    assert not [text for text in texts if _ADDRESS.search(text)]


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
    "serializers",
)


def _lacks_example(value):
    """Returns whether an object has no example that runs and prints something."""
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(value) or "")
    return not any(each.want and not each.options.get(doctest.SKIP) for each in examples)


def _is_error(value):
    return inspect.isclass(value) and issubclass(value, BaseException)


@pytest.mark.parametrize("kind", _WITH_EXAMPLES)
def test_every_registered_name_has_an_example(kind):
    missing = []
    for entry in getattr(registries, kind).entries():
        if entry.provenance is None or entry.provenance.distribution != "chainer":
            continue
        value = entry.load()
        is_node = kind == "functions" and inspect.isclass(value)
        if not is_node and not _is_error(value) and _lacks_example(value):
            missing.append(entry.name)
    assert set(missing) <= _ON_TWO_GPUS


#: Processes of these hold one GPU each, and exchange gradients by NCCL.
_ON_TWO_GPUS = {"MultiprocessParallelUpdater"}


#: Modules whose functions and classes, but errors and warnings, have examples.
_MODULES = (
    "chainer",
    "chainer.backend",
    "chainer.backends.cuda",
    "chainer.computational_graph",
    "chainer.dataset",
    "chainer.datasets.transforms",
    "chainer.gradient_check",
    "chainer.kernel",
    "chainer.plugins",
    "chainer.profiler",
    "chainer.testing",
    "chainer.training",
    "chainer.training.schedules",
    "chainer.utils",
    "chainer.utils.type_check",
)
# Classes of CuPy, or what is there without it.
_OF_CUPY = {"Device", "Event", "Stream", "ndarray"}


def _public_names(module):
    """Returns the classes and functions of a module, as the reference of the site has them."""
    # What a module without a list of names imports is for its own use.
    has_all = hasattr(module, "__all__") or hasattr(module, "__path__")
    for attribute in getattr(module, "__all__", None) or dir(module):
        value = getattr(module, attribute, None)
        if attribute.startswith("_") or _is_error(value):
            continue
        if not (inspect.isclass(value) or inspect.isroutine(value)):
            continue
        of = str(getattr(value, "__module__", ""))
        # The machinery of lazy modules is in the namespace of each of them.
        if attribute == "lazy_module":
            continue
        if of == module.__name__ or (has_all and of.startswith("chainer")):
            yield attribute, value


@pytest.mark.parametrize("name", _MODULES)
def test_every_public_name_has_an_example(name):
    missing = [
        attribute
        for attribute, value in _public_names(importlib.import_module(name))
        if ">>>" not in (inspect.getdoc(value) or "")
        and not (name.endswith(".cuda") and attribute in _OF_CUPY)
    ]
    assert not missing
