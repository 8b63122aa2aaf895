"""Upsampling by the indexes of a max pooling, as SegNet has it."""

import numpy as np
import onnx_chainer
import pytest
from running import OPSETS, compare, run

import chainer
import chainer.functions as F
import chainer.links as L


def image(*shape, dtype=np.float32):
    return np.random.RandomState(0).permutation(np.prod(shape)).reshape(shape).astype(dtype)


class SegNet(chainer.Chain):
    """An encoder and a decoder that share the indexes of two poolings."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.down1 = L.Convolution2D(3, 4, 3, pad=1)
            self.down2 = L.Convolution2D(4, 5, 3, pad=1)
            self.up2 = L.Convolution2D(5, 4, 3, pad=1)
            self.up1 = L.Convolution2D(4, 2, 3, pad=1)

    def forward(self, x):
        h = F.relu(self.down1(x))
        size1 = h.shape[2:]
        h, indexes1 = F.max_pooling_2d(h, 2, return_indices=True)
        h = F.relu(self.down2(h))
        # As programs of release 4 do it.
        size2, pooling = h.shape[2:], F.MaxPooling2D(2, 2)
        h = pooling.apply((h,))[0]
        h = self.up2(F.upsampling_2d(h, pooling.indexes, 2, 2, outsize=size2))
        return self.up1(F.upsampling_2d(h, indexes1, 2, outsize=size1))


@pytest.mark.parametrize("opset", OPSETS)
def test_segnet(opset):
    x = image(2, 3, 6, 7) / 100
    model = SegNet()
    compare(model, [x], onnx_chainer.export(model, x, opset_version=opset))


class Again(chainer.Chain):
    """A pooling and an upsampling with the same indexes."""

    def __init__(self, *args, cover_all=True, **kwargs):
        super().__init__()
        self.args, self.kwargs, self.cover_all = args, kwargs, cover_all

    def forward(self, x):
        y, indexes = F.max_pooling_2d(x, *self.args, cover_all=self.cover_all, return_indices=True)
        kwargs = {"cover_all": self.cover_all, **self.kwargs}
        return F.upsampling_2d(y * y, indexes, *self.args, **kwargs)


@pytest.mark.parametrize(
    ("shape", "args", "kwargs"),
    [
        ((1, 1, 4, 4), (2,), {"outsize": (4, 4)}),
        ((2, 3, 4, 6), (2,), {}),  # an output that ends before the places of the maxima
        ((2, 3, 5, 5), (2,), {}),
        ((2, 2, 5, 6), (2,), {"cover_all": False, "outsize": (5, 6)}),
        ((2, 2, 5, 5), (2,), {"cover_all": False, "outsize": (4, 4)}),
        ((1, 2, 4, 4), (2,), {"cover_all": False, "outsize": (5, 5)}),
        ((2, 2, 6, 7), ((2, 3),), {"outsize": (6, 7)}),
        ((1, 2, 7, 7), (2, 3), {"outsize": (7, 7)}),
        ((2, 2, 6, 6), (3, 3, 1), {"outsize": (6, 6)}),
        ((2, 2, 6, 6), (3, 2), {"outsize": (6, 6)}),  # windows overlap: maxima add up
        ((2, 2, 5, 6), (3, (1, 2), (1, 0)), {"outsize": (5, 6)}),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_windows(shape, args, kwargs, dtype):
    model, x = Again(*args, **kwargs), image(*shape, dtype=dtype)
    compare(model, [x], onnx_chainer.export(model, x, opset_version=17))


def test_half_precision():
    model, x = Again(2, outsize=(4, 6)), image(2, 2, 4, 6, dtype=np.float16)
    compare(model, [x], onnx_chainer.export(model, x, opset_version=17))


def test_the_pooling_runs_once():
    proto = onnx_chainer.export(Again(2, outsize=(4, 4)), image(1, 1, 4, 4))
    assert [node.op_type for node in proto.graph.node].count("MaxPool") == 1


def test_other_numbers_of_samples():
    model = Again(2, outsize=(4, 6))
    x = image(2, 3, 4, 6)
    proto = onnx_chainer.export(model, x, input_shapes=("batch", 3, 4, 6))
    for count in (1, 2, 5):
        compare(model, [image(count, 3, 4, 6)[:, ::-1].copy()], proto)


def test_heights_that_have_names_are_refused():
    class Model(chainer.Chain):
        def forward(self, x):
            y, indexes = F.max_pooling_2d(x, 2, return_indices=True)
            return F.upsampling_2d(y, indexes, 2, outsize=x.shape[2:])

    with pytest.raises(ValueError, match="heights and widths that have names"):
        onnx_chainer.export(Model(), image(1, 1, 4, 4), input_shapes=(1, 1, "height", 4))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("args", "outsize"), [((2,), (4, 6)), ((3, 3, 1), (4, 7)), ((3, 2), (5, 7))]
)
def test_indexes_that_are_an_input(args, outsize, dtype):
    class Model(chainer.Chain):
        def forward(self, x, indexes):
            return F.upsampling_2d(x, indexes, *args, outsize=outsize)

    x = image(2, 3, 2, 3)
    rng = np.random.RandomState(1)
    # With padding, these are places inside of the image.
    first, other = (
        rng.randint(4 if len(args) == 3 else 0, args[0] ** 2 - 3, x.shape) for _ in "ab"
    )
    model = Model()
    proto = onnx_chainer.export(model, (x, first.astype(dtype)), opset_version=17)
    (found,), _ = run(proto, {"Input_0": x, "Input_1": other.astype(dtype)})
    np.testing.assert_allclose(found, model(x, other.astype(dtype)).array)


def test_what_is_refused():
    x = image(1, 1, 6, 6)

    def export(function, opset=17):
        class Model(chainer.Chain):
            def forward(self, x):
                return function(*F.max_pooling_2d(x, 2, return_indices=True))

        onnx_chainer.export(Model(), x, opset_version=opset)

    with pytest.raises(ValueError, match="other windows than those of the pooling"):
        export(lambda y, i: F.upsampling_2d(y, i, 3, 2, outsize=(7, 7)))
    with pytest.raises(ValueError, match="neither those of a pooling of the graph nor an input"):
        export(lambda y, i: F.upsampling_2d(y, i.copy(), 2, outsize=(6, 6)))
    with pytest.raises(ValueError, match="windows that lie behind the image"):
        onnx_chainer.export(Again(2, 3, outsize=(6, 6)), x)
    with pytest.raises(RuntimeError, match="windows that overlap"):
        onnx_chainer.export(Again(3, 2, outsize=(6, 6)), x, opset_version=13)


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("args", [(2, 3), (1, 3, 1), ((2, 1), (3, 2))])
def test_windows_behind_the_image(args, opset):
    class Model(chainer.Chain):
        def forward(self, x):
            # Such a window has no maximum: minus infinity, or the lowest number in a runtime.
            return F.relu(F.max_pooling_2d(x, *args))

    x = image(1, 2, 6, 6)
    compare(Model(), [x], onnx_chainer.export(Model(), x, opset_version=opset))
