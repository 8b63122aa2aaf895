"""Models as source text for PyTorch."""

import ast
import importlib.util

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from chainer.serializers import open_safetensors

from chainer_torch import write_torch_source
from chainer_torch.source.call import UnsupportedError
from chainer_torch.source.write import WRITERS

pytestmark = pytest.mark.usefixtures("evaluating")
X = np.random.RandomState(0).rand(2, 3, 16, 16).astype(np.float32)
ROWS = np.random.RandomState(1).rand(5, 4).astype(np.float32)

#: Regions within the image, beyond its edges, and of one pixel.
BOXES = np.array(
    [[1, 1, 6.3, 6.1], [0.4, 3.5, 15, 12.6], [-3, -2, 30, 31], [2, 2, 2, 2]], np.float32
)
IMAGES = np.array([0, 1, 0, 1], np.int32)
ROIS = np.array([[0, 1, 1, 6, 6], [1, 0.4, 3.5, 15, 12.6], [0, 14, 14, 30, 31]], np.float32)
SIGNAL = np.random.RandomState(2).rand(2, 3, 8).astype(np.float32)


def read(path):
    """Makes the module of a file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.load()


class Steps(chainer.Chain):
    """A recurrent network over two sequences of different lengths."""

    def __init__(self, name):
        super().__init__()
        with self.init_scope():
            self.rnn = getattr(L, name)(2, 4, 3, 0.0)

    def forward(self, first, second):
        states = [None, None] if "LSTM" in type(self.rnn).__name__ else [None]
        last, *_, ys = self.rnn(*states, [first, second])
        return (last, *ys)


class Images(chainer.Chain):
    """Layers for images, with pads that PyTorch does not have."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(3, 8, 3, stride=2, pad=1)
            self.bn = L.BatchNormalization(8)
            self.up = L.Deconvolution2D(8, 4, 4, stride=2, pad=1)
            self.wide = L.DilatedConvolution2D(4, 4, 3, pad=2, dilate=2)
            self.slope = L.PReLU()
            self.wise = L.DepthwiseConvolution2D(4, 2, 3, pad=1)
            self.fc = L.Linear(None, 5)

    def forward(self, x):
        h = F.max_pooling_2d(F.leaky_relu(self.bn(self.conv(x))), 3, stride=2)
        h = F.average_pooling_2d(self.up(h), 3, stride=2, pad=1)
        h = F.local_response_normalization(self.slope(self.wide(h)))
        h = F.resize_images(F.unpooling_2d(self.wise(h), 2), (5, 5))
        return self.fc(F.concat([h, F.pad(h, ((0, 0), (0, 0), (1, 2), (0, 0)), "edge")], axis=2))


class Texts(chainer.Chain):
    """Attention, normalization and functions of elements."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(20, 8)
            self.norm = L.LayerNormalization(8)
            self.attention = L.MultiHeadAttention(2, 8)
            self.fc = L.Linear(8, 6)

    def forward(self, ids):
        h = self.norm(self.embed(ids))
        h = F.gelu(self.fc(h + self.attention(h, h, h), n_batch_axes=2))
        y = F.log_softmax(h, axis=2)
        return y[:, -1], F.cumsum(h, axis=1), F.clip(y, -1.0, 1.0) * 2 - F.sqrt(F.exp(h))


class MulAdd(chainer.Function):
    """A function of a program, which has no converter."""

    def forward_cpu(self, inputs):
        x, y, z = inputs
        return (x * y + z,)

    def backward_cpu(self, inputs, grads):
        x, y, _ = inputs
        return y * grads[0], x * grads[0], grads[0]


def graph_product(data, dense, row=(0, 0, 2, 0)):
    """The product of a sparse matrix of shape (3, 4), which has elements at these rows."""
    col = np.int32([1, 3, 2, 1])
    matrix = chainer.utils.CooMatrix(data.array, np.int32(row), col, (3, 4))
    matrix.data = data
    return F.sparse_matmul(matrix, dense, transb=True)


MODELS = {
    "classifier": (chainer.Sequential(L.Linear(4, 8), F.relu, L.Linear(8, 3), F.softmax), ROWS),
    "gru": (L.StatelessGRU(4, 3), ROWS[:, :3].copy(), ROWS),
    "images": (Images(), X),
    "texts": (Texts(), np.arange(12, dtype=np.int32).reshape(3, 4)),
    **{name: (Steps(name), ROWS, ROWS[:3]) for name in ("NStepLSTM", "NStepBiGRU", "NStepRNNReLU")},
}


@pytest.fixture(params=MODELS)
def case(request):
    model, *args = MODELS[request.param]
    model(*args)
    return model, args


def test_text_is_a_program_and_has_all_weights(case, tmp_path):
    model, args = case
    path = write_torch_source(model, args, tmp_path / "model.py")
    text = path.read_text()
    ast.parse(text)
    with open_safetensors(tmp_path / "model.safetensors") as file:
        count = sum(np.prod(file[name].shape) for name in file if f"self.{name} = nn" in text)
        assert all(f"self.{name}" in text for name in file)
    assert count == sum(p.size for p in model.params())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.py", "model.safetensors"]


def test_text():
    path = write_torch_source(MODELS["classifier"][0], ROWS, "net.py", class_name="Net")
    text = path.read_text()
    assert "class Net(nn.Module):\n" in text
    assert "        self.W_0 = nn.Parameter(torch.empty(8, 4))\n" in text
    assert "        linearfunction_0 = F.linear(input_0, self.W_0, self.b_0)\n" in text
    assert "        relu_0 = F.relu(linearfunction_0)\n" in text
    assert "        # /0\n" in text


def test_the_file_computes_the_same(torch, case, tmp_path):
    pytest.importorskip(
        "safetensors", reason="safetensors is not installed: pip install safetensors"
    )
    model, args = case
    module = read(write_torch_source(model, args, tmp_path / "model.py"))
    results = module(*[torch.from_numpy(x) for x in args])
    results = results if isinstance(results, tuple) else (results,)
    expected = model(*args)
    expected = expected if isinstance(expected, tuple) else (expected,)
    assert len(results) == len(expected)
    for y, result in zip(expected, results, strict=True):
        np.testing.assert_allclose(result.detach().numpy(), y.array, rtol=1e-5, atol=1e-6)
    sum(y.sum() for y in results).backward()
    assert all(p.grad is not None for p in module.parameters())


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lambda x: F.roi_pooling_2d(x, ROIS, 3, 2, 0.9), (X,)),
        (lambda x: F.roi_average_align_2d(x, BOXES, IMAGES, (3, 2), 0.9, 2), (X,)),
        (lambda x: F.roi_average_align_2d(x, BOXES, IMAGES, (3, 2), 0.9), (X,)),
        (lambda x, y: F.fft((x, y)), (SIGNAL, SIGNAL[::-1].copy())),
        (lambda x, y: F.ifft((x, y)), (SIGNAL, SIGNAL[::-1].copy())),
        (lambda x, y: MulAdd()(x, F.tanh(y), x), (SIGNAL, SIGNAL[::-1].copy())),
        (graph_product, (SIGNAL[0, 0, :4].copy(), ROWS)),
        (lambda x, y: graph_product(x, y, (0, 1, 2, 1)), (SIGNAL[0, 0, :4].copy(), ROWS)),
    ],
    ids=[
        *("roi_pooling", "roi_align", "roi_align, samples by size", "fft", "ifft", "own function"),
        *("sparse matrix, an element twice", "sparse matrix"),
    ],
)
def test_regions_transforms_and_graphs(torch, function, args, tmp_path):
    pytest.importorskip(
        "safetensors", reason="safetensors is not installed: pip install safetensors"
    )

    class Net(chainer.Chain):
        def forward(self, *xs):
            return function(*xs)

    module = read(write_torch_source(Net(), args, tmp_path / "model.py"))
    tensors = [torch.from_numpy(x).requires_grad_() for x in args]
    variables = [chainer.Variable(x) for x in args]
    results, expected = module(*tensors), function(*variables)
    if not isinstance(expected, tuple):
        results, expected = (results,), (expected,)
    for result, y in zip(results, expected, strict=True):
        np.testing.assert_allclose(result.detach().numpy(), y.array, rtol=1e-5, atol=1e-6)
    sum((y**2).sum() for y in results).backward()
    sum(F.sum(y**2) for y in expected).backward()
    for tensor, x in zip(tensors, variables, strict=True):
        np.testing.assert_allclose(tensor.grad.numpy(), x.grad, rtol=1e-4, atol=1e-5)


def test_all_missing_operators_are_told(tmp_path, monkeypatch):
    model = chainer.Sequential(lambda x: F.roi_pooling_2d(x, ROIS, 2, 2, 1.0))
    monkeypatch.delitem(WRITERS, "MaxRoiPool")
    with pytest.raises(UnsupportedError, match="there is no PyTorch source for: MaxRoiPool"):
        write_torch_source(model, X, tmp_path / "model.py")
    assert list(tmp_path.iterdir()) == []


def test_names_that_do_not_fit(tmp_path):
    model = MODELS["classifier"][0]
    with pytest.raises(ValueError, match="filename must be a name of a Python module"):
        write_torch_source(model, ROWS, tmp_path / "my-model.py")
    with pytest.raises(ValueError, match="class_name must be a name of a class, got 'class'"):
        write_torch_source(model, ROWS, tmp_path / "model.py", class_name="class")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("folder"))
