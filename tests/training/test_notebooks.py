"""What a notebook shows: a kernel of Jupyter runs cells, and their outputs are looked at."""

import re

import pytest

nbformat = pytest.importorskip("nbformat", reason='needs nbclient: pip install "chainer[test]"')
nbclient = pytest.importorskip("nbclient", reason='needs nbclient: pip install "chainer[test]"')
pytest.importorskip("ipykernel", reason='needs ipykernel: pip install "chainer[test]"')

SETUP = """
import numpy as np, chainer, chainer.functions as F, chainer.links as L
from chainer import training
from chainer.training import extensions
chainer.utils.seed(0)
x = np.random.normal(size=(40, 3)).astype(np.float32)
t = (x.sum(axis=1) > 0).astype(np.int32)
model = L.Classifier(chainer.Sequential(L.Linear(3, 4), F.relu, L.Linear(4, 2)))
optimizer = chainer.optimizers.Adam().setup(model)
iterator = chainer.iterators.SerialIterator(chainer.datasets.TupleDataset(x, t), 10)
updater = training.updaters.StandardUpdater(iterator, optimizer)
trainer = training.Trainer(updater, (3, 'epoch'), out='result')
trainer.extend(extensions.LogReport())
trainer.extend(extensions.ProgressBar(update_interval=1))
"""

#: An import of a module that is None fails, as if it were not installed.
NO_WIDGETS = "import sys; sys.modules['ipywidgets'] = None"

#: Program of a cell, the type of the output that is looked at, and a part of it.
CELLS = [
    ("trainer.run()", "text/plain", "12 iter, 3.00 epoch / 3 epochs"),
    ("trainer.get_extension('LogReport')", "text/html", "<polyline"),
    ("trainer", "text/plain", "Trainer(updater=StandardUpdater("),
    ("updater", "text/plain", "StandardUpdater(optimizers=main: Adam, iteration=12"),
    ("iterator", "text/plain", "SerialIterator(dataset=TupleDataset of 40 examples"),
    ("iterator.dataset", "text/plain", "<TupleDataset of 40 examples>"),
    ("optimizer", "text/plain", "Adam(alpha=0.001"),
    ("model", "text/html", "<table"),
    ("model", "text/plain", "<Classifier predictor=Sequential>"),
    ("chainer.summary(model.predictor, x)", "text/html", "<table"),
    ("chainer.summary(model.predictor, x)", "text/plain", "trainable"),
    ("model.predictor[0].W", "text/plain", "variable W(["),
    ("chainer.Variable(np.ones(2, np.float32))", "text/plain", "variable([1., 1.])"),
    (
        "from chainer.computational_graph import build_computational_graph\n"
        "build_computational_graph(model(x, t))",
        "image/svg+xml",
        "SoftmaxCrossEntropy",
    ),
    ("chainer.board('result', height=321)", "text/html", 'height="321"'),
    ("chainer.get_device('@numpy')", "text/plain", "<CpuDevice (numpy)>"),
    ("chainer.distributions.Normal(0.0, 1.0)", "text/plain", "Normal"),
    ("training.triggers.IntervalTrigger(1, 'epoch')", "text/plain", "IntervalTrigger(1, 'epoch')"),
    ("extensions.LogReport()", "text/html", "0 entries"),
    ("chainer.config", "text/plain", "train=True"),
    ("chainer.explain('relu', x)", "text/plain", "relu"),
]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The outputs of the cells without widgets, from one kernel: to start one takes seconds."""
    folder = tmp_path_factory.mktemp("notebook")
    programs = (NO_WIDGETS + SETUP, *(cell[0] for cell in CELLS))
    cells = [nbformat.v4.new_code_cell(code) for code in programs]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(
        notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    return [cell.outputs for cell in notebook.cells[1:]]


def shown(outputs, kind):
    """Returns what the outputs of a cell show in one type."""
    texts = []
    for output in outputs:
        if output.output_type == "stream":
            texts.append(output.text)
        else:
            texts.append(output.get("data", {}).get(kind, ""))
    return "".join(texts)


@pytest.mark.parametrize("number", range(len(CELLS)), ids=[code[-40:] for code, _, _ in CELLS])
def test_output(outputs, number):
    _, kind, wanted = CELLS[number]
    text = shown(outputs[number], kind)
    assert wanted in text
    # An address says nothing to the reader.
    assert not re.search(r" at 0x[0-9a-f]+", text)


def test_the_bar_is_drawn_in_place(outputs):
    # Widgets are drawn by the browser; without them tqdm returns to the beginning of the line.
    text = shown(outputs[0], "text/plain")
    assert text.count("\n") <= 1 and "\033[J" not in text


def test_the_bar_is_a_widget(tmp_path):
    """Where the notebook has widgets: one output, with text for pages that cannot draw it."""
    pytest.importorskip("ipywidgets", reason='needs ipywidgets: pip install "chainer[test]"')
    cells = [nbformat.v4.new_code_cell(text) for text in (SETUP, "trainer.run()")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(
        notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    (output,) = notebook.cells[-1].outputs
    view = "application/vnd.jupyter.widget-view+json"
    assert set(output.data) == {"text/plain", view}
    # A viewer without widgets shows the end, too.
    assert "100%|" in output.data["text/plain"]
    assert "12 iter, 3.00 epoch / 3 epochs" in output.data["text/plain"]
    models = notebook.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
    values = [model["state"].get("value") for model in models.values()]
    assert "100%" in values and 1.0 in values
    # The spaces of the HTML are wide ones, at which a line is not broken.
    texts = [" ".join(str(value).split()) for value in values]
    assert any("12 iter, 3.00 epoch / 3 epochs" in text for text in texts)


def test_without_widgets_in_vs_code(tmp_path, monkeypatch):
    """The bar is one line of text, and nothing is written to stderr."""
    pytest.importorskip("tqdm")
    monkeypatch.setenv("VSCODE_PID", "1")
    monkeypatch.setenv("VSCODE_CWD", str(tmp_path))
    code = (NO_WIDGETS, SETUP, "trainer.run()")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in code])
    nbclient.NotebookClient(
        notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    outputs = notebook.cells[-1].outputs
    assert {(output.output_type, output.get("name")) for output in outputs} == {
        ("stream", "stdout")
    }
    text = shown(outputs, "text/plain")
    assert "100%|" in text and "12 iter, 3.00 epoch / 3 epochs" in text
    assert text.count("\n") == 1 and "\033" not in text
