"""``chainer rescue``: models of old projects in other formats."""

import importlib.util
import json
import os
import pickle
import signal
import sys
import textwrap
from types import ModuleType

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from chainer.plugins.cli import main

from chainer_torch.rescue import converting
from chainer_torch.rescue.converting import _distance, convert, outputs_of
from chainer_torch.rescue.finding import Found, models_of, run_program
from chainer_torch.rescue.project import rescue

NET = """
import chainer
import chainer.functions as F
import chainer.links as L


class Net(chainer.Chain):
    def __init__(self, n_out):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(1, 4, 3)
            self.bn = L.BatchNormalization(4)
            self.fc = L.Linear(None, n_out)

    def __call__(self, x):
        return self.fc(F.dropout(F.relu(self.bn(self.conv(x)))))
"""

TRAIN = """
import sys
from pathlib import Path

import chainer
import numpy as np

import chainer.links as L
from net import Net

model = L.Classifier(Net(int(sys.argv[1])))
optimizer = chainer.optimizers.SGD(0.01).setup(model)
Path("written.txt").write_text("a result")
for _ in range(int(sys.argv[2])):
    x = np.random.rand(2, 1, 6, 6).astype("f")
    optimizer.update(model, x, np.array([0, 1], "i"))
"""


#: Modules of the projects here.
NEIGHBORS = {"net", "late", "plain", "size", "train"}


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "net.py").write_text(NET)
    (folder / "train.py").write_text(TRAIN)
    return folder


def report_of(program, text, *arguments, **options):
    """The report about a program that has no model."""
    program.write_text(text)
    out = program.parent.parent / "out"
    assert rescue(str(program), arguments, output=str(out), **options) == []
    return (out / "report.md").read_text()


#: A model of one layer, and what distinguishes the tests.
LAYER = """
import chainer
import chainer.functions as F
import chainer.links as L
{classes}

class Net(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l = L.Linear(3, 9)
{methods}
"""


def rescue_layer(project, methods, classes="", shapes=("2,3",)):
    """The result for a model of one layer, by its methods."""
    methods = textwrap.indent(textwrap.dedent(methods), "    ")
    text = LAYER.format(methods=methods, classes=textwrap.dedent(classes))
    (project / "net.py").write_text(text)
    out = str(project.parent / "out")
    (result,) = rescue(f"{project / 'net.py'}:Net", shapes=shapes, output=out)
    return result


def test_a_program(project, tmp_path):
    (result,) = rescue(str(project / "train.py"), ["3", "5"], output=str(tmp_path / "out"))
    assert result.name == "net"
    assert len(result.files) == 4
    assert all((tmp_path / "out" / name).is_file() for name in result.files)
    assert result.is_converted
    # onnxruntime is here for the tests; PyTorch may not be.
    assert all(d <= 1e-5 for d in result.differences.values())
    report = (tmp_path / "out" / "report.md").read_text()
    assert "it ended by itself. 1 of 1 models were converted." in report
    table = json.loads((tmp_path / "out" / "report.json").read_text())
    assert table["models"][0]["is_converted"] is True
    # The program ran in a copy.
    assert sorted(p.name for p in project.iterdir()) == ["net.py", "train.py"]


def test_a_long_program_is_stopped(project):
    found, end = run_program(project / "train.py", ["3", "1000000"], calls=7)
    assert end == "it was stopped after 7 calls of models"
    assert [type(f.link).__name__ for f in found] == ["Net"]


def test_classes_are_left_as_they_were(project):
    defined = vars(chainer.Link)["__init_subclass__"]
    found, _ = run_program(project / "train.py", ["3", "1"])
    assert vars(chainer.Link)["__init_subclass__"] is defined
    call = type(found[0].link).__call__
    assert not hasattr(call, "__wrapped__")


def trained(project):
    """The model of the project with other weights, in a trainer's form."""
    import importlib.util

    spec = importlib.util.spec_from_file_location("net_of_test", project / "net.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = L.Classifier(module.Net(3))
    model.predictor(np.ones((2, 1, 6, 6), "f"))
    model.predictor.fc.b.array[...] = [5, 6, 7]
    return model


@pytest.mark.parametrize("form", ["npz", "snapshot", "h5", "safetensors"])
def test_files_of_weights(project, tmp_path, form):
    if form == "h5":
        pytest.importorskip("h5py", reason="pip install h5py")
    model = trained(project)
    if form == "npz":
        chainer.serializers.save_npz(project / "model.npz", model)
    elif form == "h5":
        chainer.serializers.save_hdf5(str(project / "model.h5"), model.predictor)
    elif form == "safetensors":
        chainer.serializers.save_safetensors(str(project / "m.safetensors"), model.predictor)
    else:
        optimizer = chainer.optimizers.SGD().setup(model)
        updater = chainer.training.StandardUpdater(
            chainer.iterators.SerialIterator([(np.zeros((1, 6, 6), "f"), 0)], 1), optimizer
        )
        trainer = chainer.training.Trainer(updater)
        chainer.serializers.save_npz(project / "snapshot_iter_1", trainer)
    (project / "other.npz").write_bytes(b"no archive")
    (project / "whole.pkl").write_bytes(pickle.dumps(1))
    rescue(str(project / "train.py"), ["3", "2"], output=str(tmp_path / "out"))
    with chainer.serializers.open_safetensors(tmp_path / "out" / "net.safetensors") as file:
        assert any(np.array_equal(file[name], [5, 6, 7]) for name in file)
    report = (tmp_path / "out" / "report.md").read_text()
    assert "other.npz: it fits no model" in report
    assert "whole.pkl: a pickle is not read, because it can run any program" in report


def test_a_class(project, tmp_path, capsys):
    arguments = ["--output", str(tmp_path / "out"), "--shape", "1,1,6,6"]
    assert main(["rescue", *arguments, f"{project / 'net.py'}:Net", "3"]) == 0
    printed = capsys.readouterr().out
    assert "numbers): converted\n" in printed
    assert printed.endswith("report.md\n")


def test_modules_are_left_as_they_were(project, tmp_path, monkeypatch):
    (project / "plain").mkdir()
    (project / "plain" / "part.py").write_text("SIZE = 3")
    (project / "size.py").write_text("from plain.part import SIZE")
    text = NET.replace("import chainer\n", "import chainer\nimport size\n", 1)
    # A neighbor that is imported when the link is made.
    text = text.replace("        super()", "        from late import W\n        super()")
    (project / "net.py").write_text(text)
    (project / "late.py").write_text("W = 1")
    other = ModuleType("size")
    monkeypatch.delitem(sys.modules, "net", raising=False)
    monkeypatch.setitem(sys.modules, "size", other)
    monkeypatch.syspath_prepend(tmp_path)
    before, path = dict(sys.modules), list(sys.path)
    entry = f"{project / 'net.py'}:Net"
    (result,) = rescue(entry, ["3"], shapes=["1,1,6,6"], output=str(tmp_path / "out"))
    assert result.is_converted
    assert sys.path == path
    assert sys.modules["size"] is other
    new = {name for name in set(sys.modules) - set(before) if name.partition(".")[0] in NEIGHBORS}
    assert new == set()


def test_wrong_arguments(project, tmp_path, capsys):
    out = ["--output", str(tmp_path / "out")]
    assert main(["rescue", *out, str(project / "none.py")]) == 2
    assert "none.py is not a file: give a program, or file.py:Class" in capsys.readouterr().err
    assert main(["rescue", *out, f"{project / 'net.py'}:Other"]) == 2
    assert "has no class 'Other'" in capsys.readouterr().err
    assert main(["rescue", *out, f"{project / 'net.py'}:Net", "3"]) == 2
    said = capsys.readouterr().err
    assert "shapes must name the inputs of the class" in said
    assert "on the command line: --shape 1,3,32,32\n" in said
    with pytest.raises(SystemExit):
        main(["rescue"])
    assert "required: PROJECT\n" in capsys.readouterr().err
    assert main(["rescue", *out, "--shape", "1x3", f"{project / 'net.py'}:Net", "3"]) == 2
    assert "a shape must be like 1,3,32,32 or 1,10:int32, got '1x3'" in capsys.readouterr().err


def test_a_program_that_fails_before_it_calls_a_model(project, tmp_path, capsys):
    (project / "train.py").write_text("raise FileNotFoundError('data.csv')")
    assert main(["rescue", "--output", str(tmp_path / "out"), str(project / "train.py")]) == 2
    said = capsys.readouterr()
    assert said.out == f"{tmp_path / 'out'}/report.md\n"
    assert said.err == (
        "chainer rescue: the program called no model; it failed with FileNotFoundError: data.csv\n"
    )


@pytest.mark.parametrize("missing", ["onnxruntime", "safetensors"])
def test_a_runtime_that_is_not_installed(monkeypatch, missing):
    """The files are written, and the report says which command makes the comparison possible."""
    find = importlib.util.find_spec
    present = {"torch", "onnxruntime", "safetensors"} - {missing}
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: (
            None if name == missing else True if name in present else find(name, *rest)
        ),
    )
    result = converting.Result("net", "Net", 1)
    runtime = "torch" if missing == "safetensors" else missing
    converting._compare(result, runtime, [], list)
    (remark,) = result.remarks
    assert remark.startswith(f"not compared in {runtime}: ")
    assert remark.endswith(f"pip install {missing}")
    assert result.differences == {}


class Loss(chainer.Chain):
    def __init__(self, inner):
        super().__init__()
        with self.init_scope():
            self.inner = inner

    def forward(self, x):
        return F.sum(self.inner(x))


def test_a_loss_is_not_the_model():
    inner, alone = L.Linear(3, 2), L.Linear(2, 2)
    outer = Loss(inner)
    x = np.zeros((1, 3), "f")
    calls = [
        Found(outer, (x,), {}, is_loss=True, inner=[Found(inner, (x,), {})]),
        Found(inner, (x,), {}),
        Found(alone, (x,), {}),
    ]
    assert [model.link for model in models_of(calls)] == [inner, alone]


def test_a_link_within_a_model_is_left_out():
    model = chainer.Sequential(L.Linear(3, 2))
    x = np.zeros((1, 3), "f")
    calls = [Found(model[0], (x,), {}), Found(model, (x,), {})]
    assert [found.link for found in models_of(calls)] == [model]


@pytest.mark.parametrize(("bias", "is_comparable"), [([np.inf, 1], True), ([np.nan] * 2, False)])
def test_outputs_that_are_not_numbers(tmp_path, bias, is_comparable):
    """As in a program whose training diverges: finite numbers tell, NaN alone tells nothing."""
    link = L.Linear(3, 2)
    link.b.array[...] = bias
    x = np.ones((1, 3), "f")
    result = convert(Found(link, (x,), {}), "model", tmp_path)
    for difference in result.differences.values():
        assert (difference <= 1e-5) == is_comparable
    said = [remark for remark in result.remarks if "all NaN or infinite" in remark]
    assert len(said) == (not is_comparable)


@pytest.mark.parametrize("found", [[np.nan, 1], [-np.inf, 1], [np.inf, np.nan], [np.inf, 2]])
def test_other_places_that_are_not_numbers_are_a_difference(found):
    assert not _distance(np.array(found), np.array([np.inf, 1])) <= 1e-5


ACTION_VALUE = """
class ActionValue:
    def __init__(self, q_values):
        self.q_values = q_values
        self.best = q_values.array.argmax(axis=1)
        self.log = F.log_softmax(q_values)
"""


def test_attributes_of_returned_objects_are_outputs(project):
    forward = """
    def forward(self, x):
        return ActionValue(self.l(x)), F.tanh(x)
    """
    result = rescue_layer(project, forward, ACTION_VALUE)
    assert result.is_converted
    text = "the outputs of the files are ActionValue.q_values, ActionValue.log, a Variable"
    assert [text in remark for remark in result.remarks if "returns" in remark] == [True]


def test_random_numbers_are_constants_in_the_files(project):
    forward = """
    def forward(self, x):
        return self.l(x) + self.xp.random.standard_normal(9).astype("f")
    """
    result = rescue_layer(project, forward)
    assert result.is_converted
    assert all(difference <= 1e-6 for difference in result.differences.values())
    assert result.remarks[0] == "it draws random numbers, which are constants in the files"
    # A network that counts its calls draws nothing.
    count = """
    calls = 0

    def forward(self, x):
        self.calls += 1
        return self.l(x) + self.calls
    """
    assert not any("random" in remark for remark in rescue_layer(project, count).remarks)


def test_conversion_leaves_random_numbers_as_they_were(tmp_path):
    link, x = L.Linear(3, 9), np.zeros((2, 3), "f")
    np.random.seed(5)
    expected = np.random.rand()
    np.random.seed(5)
    assert convert(Found(link, (x,), {}), "net", tmp_path).is_converted
    assert np.random.rand() == expected


def test_a_returned_function_is_no_output(project):
    forward = """
    def forward(self, x):
        h = self.l(x)
        return lambda scale: h * scale
    """
    result = rescue_layer(project, forward)
    assert not result.is_converted
    assert result.remarks == ["it returns no Variables"]


def test_a_reset_state_that_fails_is_a_remark(project):
    methods = """
    def reset_state(self):
        self.l.reset_state()

    def forward(self, x):
        return self.l(x)
    """
    result = rescue_layer(project, methods)
    assert result.is_converted
    (remark,) = [remark for remark in result.remarks if "reset_state" in remark]
    assert remark.startswith("reset_state of Net: AttributeError: 'Linear' object has no")


def test_a_link_among_the_results_is_no_output():
    x, y = chainer.Variable(np.zeros(2, "f")), chainer.Variable(np.ones(2, "f"))
    found = outputs_of({"a": [x, L.Linear(2, 3), 1.5], "b": (y, None)})
    assert [name for name, _ in found] == ["", ""]
    assert found[0][1] is x
    assert found[1][1] is y


def test_what_cannot_be_converted_is_told(project):
    forward = """
    def forward(self, x):
        return F.batch_inv(F.reshape(self.l(x), (-1, 3, 3)))
    """
    result = rescue_layer(project, forward)
    assert not result.is_converted
    assert result.files == ["net.chainer.safetensors"]
    assert any("ONNX: MissingConverterError" in remark for remark in result.remarks)


#: Programs that call no model and do not end.
HANGING = ["while True: pass", "import time; time.sleep(100)", "while True: print('x' * 100)"]

#: Program -> how the report says that it ended.
HOSTILE = {
    **dict.fromkeys(HANGING, "it was stopped after 0 calls of models"),
    "raise KeyError('no data')": "it failed with KeyError: 'no data'",
    "import os; os._exit(3)": "it ended with the status 3",
    "import sys; sys.exit('bye')": "it ended with the status bye",
    "import os, shutil; shutil.rmtree(os.getcwd())": "it ended by itself",
    "def f(): f()\nf()": "it failed with RecursionError",
    "raise MemoryError('no memory')": "it failed with MemoryError: no memory",
    "x = (": "it failed with SyntaxError",
}


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_programs_end_with_a_report(project, text):
    assert HOSTILE[text] in report_of(project / "train.py", text, seconds=0.5)
    assert (project / "train.py").read_text() == text
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert os._exit.__module__ == "posix"


def test_a_model_that_raises_is_told(project, tmp_path):
    (project / "net.py").write_text(NET.replace("return self.fc(", "raise KeyError('no') or ("))
    rescue(str(project / "train.py"), ["3", "5"], output=str(tmp_path / "out"))
    assert "it failed with KeyError: 'no'" in (tmp_path / "out" / "report.md").read_text()


def test_links_and_pipes_of_a_project(project, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "large").write_text("a data set")
    (project / "sub").mkdir()
    for name in ("circle", "other", "sub/up"):
        (project / name).symlink_to(project)
    (project / "itself").symlink_to("itself")
    (project / "data").symlink_to("../data")
    (project / "zeros").symlink_to("/dev/zero")
    os.mkfifo(project / "pipe")
    text = """
import os
from pathlib import Path
assert os.path.samefile("circle", ".") and os.path.samefile("sub/up", ".")
assert Path("data/large").read_text() == "a data set"
assert not os.path.exists("zeros") and not os.path.exists("pipe")
Path("circle/written").write_text("a result")
"""
    assert "it ended by itself" in report_of(project / "train.py", text)
    assert not (project / "written").exists()
    assert (tmp_path / "data" / "large").read_text() == "a data set"


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf"])
def test_times_that_are_no_limit(project, capsys, seconds):
    assert main(["rescue", "--seconds", seconds, str(project / "train.py")]) == 2
    assert "seconds must be positive and finite, got" in capsys.readouterr().err
