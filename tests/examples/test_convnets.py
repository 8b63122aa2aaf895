import re

import numpy as np
import pytest

from tests.examples.programs import run, table

pytest.importorskip("sklearn")


def accuracy(out):
    return float(re.search(r"held-out accuracy ([\d.]+)", out)[1])


@pytest.mark.slow
def test_lenet5(tmp_path):
    args = ["convnets/train_convnet.py", "--limit", 600, "-b", 16, "--lr", 0.005]
    out = run(*args, "-e", 8, cwd=tmp_path)
    assert "450 + 150 images of 28x28 pixels" in out
    losses = [float(row[1]) for row in table(out)]
    assert losses[-1] < 0.8 * losses[0]
    # The file of parameters gives the very same network.
    again = run(*args, "-e", 0, "-m", "result/model.npz", "-o", "again", cwd=tmp_path)
    assert accuracy(again) == accuracy(out)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arch", "parameters"),
    [
        # 14.7 million in the convolutions, then 512 -> 4096 -> 4096 -> 1000
        ("vgg16", 14_714_688 + 513 * 4096 + 4097 * 4096 + 4097 * 1000),
        # the number known for ResNet-152
        ("resnet152", 60_192_808),
    ],
)
def test_forward(tmp_path, arch, parameters):
    args = ["-a", arch, "--size", 32, "--limit", 8, "-e", 0, "--no-save"]
    out = run("convnets/train_convnet.py", *args, cwd=tmp_path)
    assert f"{arch}: {parameters:,} parameters" in out
    assert 0 <= accuracy(out) <= 1


def test_image_folder(tmp_path):
    image = pytest.importorskip("PIL.Image")
    random = np.random.RandomState(0)
    for name, mode in (("dark", "L"), ("light", "RGB")):
        (tmp_path / "images" / name).mkdir(parents=True)
        for i in range(8):
            shape = (20, 30) if mode == "L" else (20, 30, 3)
            pixels = random.randint(0, 100, shape) + 100 * (mode == "RGB")
            path = tmp_path / "images" / name / f"{i}.png"
            image.fromarray(pixels.astype(np.uint8)).save(path)
    (tmp_path / "images" / "dark" / "notes.txt").write_text("no image")
    out = run("convnets/train_convnet.py", "images", "-b", 4, "-e", 1, cwd=tmp_path)
    assert "12 + 4 images of 28x28 pixels, classes: dark, light" in out
    assert 0 <= accuracy(out) <= 1
    (tmp_path / "empty").mkdir()
    out = run("convnets/train_convnet.py", "empty", cwd=tmp_path, expect=1)
    assert "no subdirectories with images" in out
