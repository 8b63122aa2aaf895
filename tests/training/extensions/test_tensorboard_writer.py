from __future__ import annotations

import io
import re
import sys
import time

import numpy as np
import pytest
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import chainer
from chainer import training
from chainer.training import extensions
from chainer.training.extensions import TensorBoardWriter
from chainer.utils import install_command
from tests.training.observed_training import assert_same_rows, make_trainer, observing


def read(path):
    """Reads event files as TensorBoard does, everything in them."""
    events = EventAccumulator(str(path), {"scalars": 0, "histograms": 0, "tensors": 0, "images": 0})
    return events.Reload()


def scalars(path):
    events = read(path)
    return {
        tag: [(event.step, event.value) for event in events.Scalars(tag)]
        for tag in events.Tags()["scalars"]
    }


def writer(**options):
    return TensorBoardWriter(**{"trigger": (1, "iteration"), "histograms": None} | options)


def test_means(tmp_path):
    observing(
        tmp_path, [1, 2, np.float32(4), np.array(6.5)], writer(trigger=(2, "iteration"))
    ).run()
    found = scalars(tmp_path / "tensorboard")
    assert found == {"metric": [(2, 1.5), (4, 5.25)], "epoch": [(2, 0), (4, 0)]}


def test_keys(tmp_path):
    observing(tmp_path, [1], writer(keys=["other"])).run()
    assert list(scalars(tmp_path / "tensorboard")) == ["epoch"]


@pytest.mark.parametrize("by_name", [True, False])
def test_entries_of_a_log_report(tmp_path, by_name):
    report = extensions.LogReport(trigger=(2, "iteration"))
    trainer = observing(tmp_path, [1, 2, 3, 4, 5], report)
    trainer.extend(writer(log_report="LogReport" if by_name else report))
    trainer.run()
    found = scalars(tmp_path / "tensorboard")
    assert found["metric"] == [(2, 1.5), (4, 3.5)]
    assert found["epoch"] == [(2, 0), (4, 0)]
    times = [entry["elapsed_time"] for entry in report.log]
    assert [value for _, value in found["elapsed_time"]] == pytest.approx(times)


def test_can_be_read_while_the_training_goes_on(tmp_path):
    def wait(trainer):
        deadline = time.monotonic() + 120
        expected = list(range(1, trainer.updater.iteration + 1))
        found = []
        while found != expected:
            assert time.monotonic() < deadline
            time.sleep(0.05)
            found = [step for step, _ in scalars(tmp_path / "tensorboard").get("metric", [])]

    trainer = observing(tmp_path, [1, 2], writer())
    trainer.extend(wait, name="wait", priority=0)
    trainer.run()


def test_histograms(tmp_path):
    trainer = make_trainer(tmp_path, (2, "epoch"))
    model = trainer.updater.get_optimizer("main").target
    trainer.extend(TensorBoardWriter(histograms=(1, "epoch")))
    trainer.run()
    events = read(tmp_path / "tensorboard")
    names = ["l1/W", "l1/b", "l2/W", "l2/b"]
    assert set(events.Tags()["histograms"]) == {*names, *(f"{name}/grad" for name in names)}
    for tag, array in (("l1/W", model.l1.W.array), ("l2/b/grad", model.l2.b.grad)):
        steps = events.Histograms(tag)
        assert [event.step for event in steps] == [5, 10]
        last = steps[-1].histogram_value
        assert (last.min, last.max) == (array.min(), array.max())
        assert last.num == sum(last.bucket) == array.size
        assert last.sum == pytest.approx(float(array.sum()), rel=1e-5, abs=1e-6)


def test_histograms_of_named_links_and_odd_values(tmp_path):
    link = chainer.Link(w=(4,), empty=(0,), nothing=(2,))
    link.w.array = np.array([1, np.nan, np.inf, 3], np.float16)
    link.nothing.array[...] = np.nan
    writer_ = writer(histograms=(1, "iteration"), links={"mine": link})
    observing(tmp_path, [1], writer_).run()
    events = read(tmp_path / "tensorboard")
    assert events.Tags()["histograms"] == ["mine/w"]
    assert events.Histograms("mine/w")[0].histogram_value.num == 2


def test_several_optimizers(tmp_path):
    trainer = make_trainer(tmp_path, (1, "iteration"))
    model = trainer.updater.get_optimizer("main").target
    other = chainer.Link(w=(1,))
    other.w.array[...] = 1
    second = chainer.optimizers.SGD().setup(other)
    updater = training.StandardUpdater(
        trainer.updater.get_iterator("main"),
        {"main": chainer.optimizers.SGD().setup(model), "other": second},
    )
    trainer = training.Trainer(updater, (1, "iteration"), out=str(tmp_path))
    trainer.extend(writer(histograms=(1, "iteration")))
    trainer.run()
    assert {"main/l1/W", "main/l1/W/grad", "other/w"} <= set(
        read(tmp_path / "tensorboard").Tags()["histograms"]
    )


def test_graph(tmp_path):
    flags = []
    trainer = make_trainer(tmp_path, (2, "iteration"))
    trainer.extend(writer(graph="main/loss"))
    trainer.extend(
        lambda trainer: flags.append(chainer.config.keep_graph_on_report), name="f", priority=0
    )
    trainer.run()
    assert flags == [False, False]
    (event,) = read(tmp_path / "tensorboard").Tensors("graph/main/loss/text_summary")
    text = event.tensor_proto.string_val[0].decode()
    assert event.step == 1
    assert text.startswith("```dot\ndigraph")
    assert "SoftmaxCrossEntropy" in text
    assert "LinearFunction" in text


@pytest.mark.parametrize("first", [True, False])
def test_graph_beside_dump_graph(tmp_path, first):
    trainer = make_trainer(tmp_path, (2, "iteration"))
    both = [writer(graph="main/loss"), extensions.dump_graph("main/loss")]
    for extension in both if first else reversed(both):
        trainer.extend(extension)
    trainer.run()
    assert chainer.config.keep_graph_on_report is False
    assert (tmp_path / "cg.dot").exists()
    assert "graph/main/loss/text_summary" in read(tmp_path / "tensorboard").Tags()["tensors"]


def test_graph_of_something_else(tmp_path):
    trainer = observing(tmp_path, [1], writer(graph="metric"))
    with pytest.raises(KeyError, match="graph='metric' must be the key of an observed Variable"):
        trainer.run(show_loop_exception_msg=False)
    assert chainer.config.keep_graph_on_report is False


def test_images(tmp_path):
    gray = np.linspace(-1, 2, 12).reshape(3, 4).astype(np.float32)
    color = np.arange(24, dtype=np.uint8).reshape(3, 2, 4)
    images = {
        "gray": gray,
        "one": gray[None],
        "color": chainer.Variable(color),
        "several": np.stack([color, color]),
    }
    extension = writer(images=lambda trainer: images, images_trigger=(2, "iteration"))
    observing(tmp_path, [1, 2, 3], extension).run()
    events = read(tmp_path / "tensorboard")

    def decode(tag):
        (event,) = events.Images(tag)
        assert event.step == 2
        return np.asarray(Image.open(io.BytesIO(event.encoded_image_string)))

    expected = (np.clip(gray, 0, 1) * 255).round()
    for tag in ("gray", "one"):
        image = decode(tag)
        np.testing.assert_array_equal(image[..., 0] if image.ndim == 3 else image, expected)
    np.testing.assert_array_equal(decode("color"), color.transpose(1, 2, 0))
    assert decode("several").size == 2 * 3 * 2 * 4


@pytest.mark.parametrize("shape", [(3,), (2, 4, 4), (1, 5, 4, 4), (1, 1, 3, 4, 4)])
def test_bad_images(tmp_path, shape):
    bad = writer(images=lambda trainer: {"bad": np.zeros(shape)}, images_trigger=(1, "iteration"))
    trainer = observing(tmp_path, [1], bad)
    with pytest.raises(ValueError, match="image 'bad' must have shape"):
        trainer.run(show_loop_exception_msg=False)


def test_reason_of_a_stop(tmp_path):
    trainer = observing(tmp_path, [1, 2, 3, 5], writer(trigger=(2, "iteration")))
    stop = training.make_extension(trigger=(3, "iteration"), priority=200)
    trainer.extend(stop(lambda trainer: trainer.stop("enough")), name="stop")
    trainer.run()
    events = read(tmp_path / "tensorboard")
    (event,) = events.Tensors("stop_reason/text_summary")
    assert (event.step, event.tensor_proto.string_val[0]) == (3, b"enough")
    assert [event.step for event in events.Scalars("metric")] == [2, 3]


@pytest.mark.filterwarnings("ignore:Detected out of order")
@pytest.mark.parametrize("with_log_report", [False, True])
def test_resumed_run_equals_an_uninterrupted_one(tmp_path, with_log_report):
    def make(out, stop):
        trainer = make_trainer(tmp_path / out, stop)
        trainer.extend(extensions.LogReport(trigger=(2, "iteration")))
        trainer.extend(
            TensorBoardWriter(
                trigger=(2, "iteration"),
                log_report="LogReport" if with_log_report else None,
                graph="main/loss",
            )
        )
        return trainer

    make("whole", (3, "epoch")).run()
    first = make("resumed", (7, "iteration"))
    first.run()
    chainer.serializers.save_npz(tmp_path / "snapshot", first)
    ahead = make("resumed", (13, "iteration"))  # what comes after the snapshot is lost
    chainer.serializers.load_npz(tmp_path / "snapshot", ahead)
    ahead.run()
    second = make("resumed", (3, "epoch"))
    chainer.serializers.load_npz(tmp_path / "snapshot", second)
    second.run()
    whole, resumed = (read(tmp_path / out / "tensorboard") for out in ("whole", "resumed"))
    assert resumed.Tags() == whole.Tags()
    for tag in whole.Tags()["scalars"]:
        found, expected = (
            [{"step": event.step, tag: event.value} for event in events.Scalars(tag)]
            for events in (resumed, whole)
        )
        if tag == "elapsed_time":
            assert len(found) == len(expected)
        else:
            assert_same_rows(found, expected)
    for tag in whole.Tags()["histograms"]:
        found, expected = (
            [(event.step, event.histogram_value.num) for event in events.Histograms(tag)]
            for events in (resumed, whole)
        )
        assert found == expected
    assert len(resumed.Tensors("graph/main/loss/text_summary")) == 1


def test_a_new_training_replaces_the_last_one(tmp_path):
    observing(tmp_path, [1, 2, 3], writer()).run()
    observing(tmp_path, [7, 8], writer()).run()
    assert scalars(tmp_path / "tensorboard")["metric"] == [(1, 7), (2, 8)]
    assert len(list((tmp_path / "tensorboard").iterdir())) == 2


def test_without_the_library(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    trainer = observing(tmp_path, [1], TensorBoardWriter())
    with pytest.raises(ImportError, match=re.escape(install_command("chainer[tensorboard]"))):
        trainer.run(show_loop_exception_msg=False)


def test_bad_log_report(tmp_path):
    with pytest.raises(TypeError, match="log_report must be the name of a LogReport"):
        TensorBoardWriter(log_report=3)
    trainer = observing(tmp_path, [1], TensorBoardWriter(log_report="missing"))
    with pytest.raises(ValueError, match="extension missing not found"):
        trainer.run(show_loop_exception_msg=False)
