"""Every module of release 7.8.1 can be imported, with the public names that it defines."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import chainer
from chainer.compat import imported_names

MODULES = {
    line.split()[0]: line.split()[1:]
    for line in (Path(__file__).parent / "modules_of_7_8_1.txt").read_text().splitlines()
}

#: Files of the implementation of 7.8.1: classes of views with private names, CUDA sources of
#: pooling functions, makers of data files.
INTERNAL_MODULES = re.compile(
    r"chainer\.dataset\.tabular\._\w+|chainer\.functions\.pooling\.\w+_nd_kernel"
    r"|chainer\.datasets\._mnist_helper"
)

#: Names without an underscore that belong to the implementation of 7.8.1: nodes of gradients,
#: CPU and GPU halves of functions, helpers of one caller.
INTERNAL_NAMES = re.compile(
    r"\w*Grad\w*|\w+_(cpu|gpu|core|grad_grad)|[Cc]udnnRNNWeightConcat|cudnn_rnn_weight_concat"
    r"|MaxPoolingNDWithIndexes|Cumprodsum|RsqrtGPU|Assign|argone|compute_indices_and_weights"
    r"|GeneralBatchNormalizationImpl|CupyMemoryCumulativeHook|DotNode|Conveyor"
    r"|concat_examples_func|fix_avg_\w+|make_deprecation_message|make_decorator"
    r"|skip_not_in_test_target|QuietTestRunner|is_available|check_available|is_return_code_zero"
    r"|is_graphviz_available|size_num_grads|mulexp|andexp|muladdexp|map_|succ_sublists|Writer"
    r"|get_function_check_context|LightMode|AsLayout"
)


@pytest.mark.parametrize("name", [name for name in MODULES if not INTERNAL_MODULES.match(name)])
def test_module(name):
    module = importlib.import_module(name)
    missing = [each for each in MODULES[name] if not hasattr(module, each)]
    assert not [each for each in missing if not INTERNAL_NAMES.fullmatch(each)]


def test_most_modules_are_there():
    """The lists of what is internal do not grow unseen."""
    assert len(MODULES) > 400
    assert sum(bool(INTERNAL_MODULES.match(name)) for name in MODULES) == 10
    names = [each for names in MODULES.values() for each in names]
    assert len([each for each in names if not INTERNAL_NAMES.fullmatch(each)]) > 900


@pytest.mark.slow
def test_modules_in_a_new_process():
    """In the order of their names, and in the reverse one: no import depends on another."""
    names = [name for name in MODULES if not INTERNAL_MODULES.match(name)]
    for order in (names, names[::-1]):
        program = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)"
        subprocess.run([sys.executable, "-W", "ignore", "-c", program, *order], check=True)


def test_names_behind_private_paths():
    from chainer._backprop import backward
    from chainer.dataset.tabular.from_data import from_data
    from chainer.testing._distribution_test import distribution_unittest
    from chainer.training._updater import Updater

    assert backward is chainer.backward
    assert from_data is chainer.dataset.tabular.data_sources.from_data
    assert len(chainer.dataset.tabular.from_data([1, 2])) == 2
    assert distribution_unittest is chainer.testing.distribution_unittest
    assert Updater is chainer.training.Updater
    x = chainer.Variable(np.array([1.5]), name="x")
    assert chainer.variable.variable_repr(x) == repr(x)
    assert chainer.variable.variable_str(x) == str(x)


class TestEnvironmentCheck:
    def test_present_packages_are_recent_enough(self, recwarn):
        from chainer import _environment_check

        _environment_check.check()
        assert not [warning for warning in recwarn if "needs" in str(warning.message)]

    def test_old_package(self, monkeypatch):
        from chainer import _environment_check

        monkeypatch.setattr(
            _environment_check.metadata, "requires", lambda name: ["numpy >=99.1", "no_such>=1"]
        )
        with pytest.warns(UserWarning, match=r"numpy \d.* is installed.* needs 99.1 or later"):
            _environment_check.check()
        monkeypatch.setenv("CHAINER_WARN_VERSION_MISMATCH", "0")
        _environment_check.check()

    @pytest.mark.parametrize("text", ["numpy", "numpy<9", "numpy[x]>=1.0", 'numpy>=2; extra=="a"'])
    def test_requirements_that_are_fulfilled(self, text):
        from chainer._environment_check import too_old

        assert too_old([text]) == {}


class TestImportedNames:
    """Modules of release 7 have the modules that they import as attributes."""

    def test_of_packages(self):
        from chainer.backend import cuda, intel64
        from chainer.functions.connection.convolution_2d import function_node, type_check
        from chainer.training.extensions.evaluator import reporter_module

        assert cuda is chainer.backends.cuda
        assert intel64 is chainer.backends.intel64
        assert function_node is chainer.function_node
        assert type_check is chainer.utils.type_check
        assert reporter_module is chainer.reporter
        assert chainer.functions.activation.relu.numpy is np

    def test_all(self):
        optional = {"ideep4py", "h5py", "scipy", "PIL", "mock", "filelock", "six", "pkg_resources"}
        for name, names in imported_names.names_by_module().items():
            module = importlib.import_module(name)
            for each, target in names.items():
                if target.partition(".")[0] not in optional | {"typing_extensions"}:
                    assert getattr(module, each) is not None
            assert set(names) <= set(dir(module))

    def test_missing_package(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "six", None)
        module = importlib.import_module("chainer.training.extensions.print_report")
        with pytest.raises(AttributeError, match="print_report' has no attribute 'six'"):
            module.six

    def test_missing_attribute(self):
        module = importlib.import_module("chainer.functions.activation.relu")
        with pytest.raises(AttributeError, match=r"^module 'chainer.*relu' has no attribute 'x'$"):
            module.x
        with pytest.raises(ImportError, match="cannot import name 'x'"):
            exec("from chainer.functions.activation.relu import x")
        assert not hasattr(module, "__wrapped__")

    def test_source_of_modules(self):
        import inspect

        module = importlib.import_module("chainer.functions.activation.relu")
        assert "class ReLU" in inspect.getsource(module)
        before = dict(vars(module))
        try:
            assert module.cuda is importlib.reload(module).cuda
        finally:
            # F.relu is the function of the first import: pickle would refuse it in later tests.
            vars(module).update(before)
