"""Mixed precision in one call."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L


def make(lazy=False):
    np.random.seed(0)
    return L.Classifier(
        chainer.Sequential(
            L.Linear(None if lazy else 4, 8), L.BatchNormalization(8), F.relu, L.Linear(8, 3)
        )
    )


def data():
    random = np.random.RandomState(1)
    x = random.randn(30, 4).astype(np.float32)
    return x, x[:, :3].argmax(axis=1).astype(np.int32)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("device", ["@numpy", "@strict"])
def test_training(lazy, device):
    model = make(lazy)
    model.to_device(device)
    optimizer = chainer.optimizers.Adam(0.02).setup(model).mixed_precision()
    x, t = (chainer.get_device(device).send(array) for array in data())
    for _ in range(60):
        optimizer.update(model, x, t)
    linear, normalization = model.predictor[0], model.predictor[1]
    assert linear.W.dtype == linear.b.dtype == np.float16 == model.y.dtype
    assert normalization.gamma.dtype == normalization.avg_mean.dtype == np.float32
    assert linear.W.update_rule._fp32_param.dtype == np.float32
    assert optimizer._loss_scale > 1
    assert float(model.loss) < 0.5
    # A part of the model takes float32, too.
    assert model.predictor(x).dtype == np.float16


def test_bfloat16_needs_no_scale():
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="needs ml_dtypes")
    model = make()
    optimizer = chainer.optimizers.SGD().setup(model).mixed_precision(ml_dtypes.bfloat16)
    assert model.predictor[0].W.dtype == ml_dtypes.bfloat16 and optimizer._loss_scale is None


def test_gradients_reach_inputs_in_their_dtype():
    model = make()
    chainer.optimizers.SGD().setup(model).mixed_precision()
    x = chainer.Variable(data()[0])
    F.sum(model.predictor(x)).backward()
    assert x.grad.dtype == np.float32


def test_errors():
    model = make()
    with pytest.raises(RuntimeError, match="not set up"):
        chainer.optimizers.SGD().mixed_precision()
    optimizer = chainer.optimizers.SGD().setup(model)
    with pytest.raises(TypeError, match="dtype must be float16 or bfloat16, got float32"):
        optimizer.mixed_precision("float32")
    optimizer.update(model, *data())
    with pytest.raises(RuntimeError, match="has made 1 updates; call mixed_precision"):
        optimizer.mixed_precision()


def test_a_hook_may_replace_arguments():
    class Double(chainer.LinkHook):
        name = "Double"

        def forward_preprocess(self, args):
            args.replace((args.args[0] * 2,), args.kwargs)

    link = L.Linear(2, 2, initialW=np.eye(2, dtype=np.float32))
    link.add_hook(Double())
    np.testing.assert_array_equal(link(np.ones((1, 2), np.float32)).array, [[2, 2]])
