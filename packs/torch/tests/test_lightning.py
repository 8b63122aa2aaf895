"""Lightning trains links as modules of PyTorch."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed; pip install torch, then make test-torch"
)
lightning = pytest.importorskip(
    "lightning", reason="Lightning is not installed; pip install lightning"
)

# Lightning warns of the machine, of its logger and of folders that exist.
pytestmark = pytest.mark.filterwarnings("default")


class Task(lightning.LightningModule):
    """A classifier whose layers are links."""

    def __init__(self):
        from chainer_torch import LinkModule

        super().__init__()
        state = np.random.RandomState(0)
        link = chainer.Sequential(
            L.Linear(4, 8), L.BatchNormalization(8), F.relu, L.Linear(8, 3, nobias=True)
        )
        for _, parameter in sorted(link.namedparams()):
            parameter.array[...] = state.randn(*parameter.shape) * 0.5
        self.net = LinkModule(link)
        self.losses = []
        self.norms = []

    def training_step(self, batch, index):
        x, t = batch
        loss = torch.nn.functional.cross_entropy(self.net(x), t)
        self.losses.append(loss.item())
        return loss

    def configure_gradient_clipping(self, optimizer, *limits, **named):
        self.clip_gradients(optimizer, *limits, **named)
        norms = [p.grad.norm() for p in self.parameters()]
        self.norms.append(torch.stack(norms).norm().item())

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=0.01)


@pytest.fixture
def batches():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(32, 4, generator=generator)
    t = torch.randint(0, 3, (32,), generator=generator)
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, t), batch_size=8)


@pytest.fixture
def trainer(tmp_path):
    def make(epochs, **options):
        return lightning.Trainer(
            max_epochs=epochs,
            accelerator="cpu",
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            default_root_dir=tmp_path,
            **options,
        )

    return make


def test_training_is_resumed_from_a_checkpoint(trainer, batches, tmp_path):
    whole, first, second = Task(), Task(), Task()
    trained = trainer(4)
    trained.fit(whole, batches)
    half = trainer(2)
    half.fit(first, batches)
    half.save_checkpoint(tmp_path / "half.ckpt")
    resumed = trainer(4)
    resumed.fit(second, batches, ckpt_path=tmp_path / "half.ckpt")
    assert first.losses + second.losses == whole.losses
    assert whole.losses[-1] != whole.losses[0]
    for name, value in whole.state_dict().items():
        assert torch.equal(second.state_dict()[name], value), name
    expected, found = (t.optimizers[0].state_dict()["state"] for t in (trained, resumed))
    # AdamW has two averages and a count for each of the five parameters.
    assert [sorted(state) for state in found.values()] == [["exp_avg", "exp_avg_sq", "step"]] * 5
    for index, state in expected.items():
        for name, value in state.items():
            assert torch.equal(found[index][name], value), (index, name)


def test_a_checkpoint_is_read_into_the_link(trainer, batches, tmp_path):
    task = Task()
    fitted = trainer(1)
    fitted.fit(task, batches)
    fitted.save_checkpoint(tmp_path / "last.ckpt")
    read = Task.load_from_checkpoint(tmp_path / "last.ckpt")
    x = np.ones((2, 4), np.float32)
    with chainer.using_config("train", False):
        expected, y = task.net.link(x).array, read.net.link(x).array
        fresh = Task().net.link(x).array
    np.testing.assert_array_equal(y, expected)
    assert not np.array_equal(fresh, expected)


def test_gradients_are_clipped(trainer, batches):
    free, clipped = Task(), Task()
    trainer(1).fit(free, batches)
    trainer(1, gradient_clip_val=0.25).fit(clipped, batches)
    assert max(free.norms) > 0.25
    # Norms of at most 0.25, up to the rounding of the products with float32 factors.
    assert max(clipped.norms) <= 0.25 * (1 + 1e-5)
    assert clipped.norms[0] == pytest.approx(0.25, rel=1e-5)
