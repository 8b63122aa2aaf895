from __future__ import annotations

import importlib.util
import re
import sys

import numpy as np
import pytest

import chainer
from chainer.core.autograd.variable import Variable
from chainer.links.serializers.npz import load_npz, save_npz
from chainer.training import extensions as E
from chainer.training.extensions import plotting
from chainer.training.extensions.variable_statistics_plot import Reservoir, Statistician
from chainer.utils import install_command
from tests.training.small_training import make_trainer

PNG = b"\x89PNG\r\n\x1a\n"

needs_matplotlib = pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed"
)


def model_of(trainer):
    return trainer.updater.get_optimizer("main").target


@needs_matplotlib
class TestPlotReport:
    def test_file_and_points(self, tmp_path):
        trainer = make_trainer(tmp_path, (3, "epoch"))
        drawn = []

        def postprocess(figure, axes, data):
            line = axes.lines[0]
            drawn.append((list(line.get_xdata()), len(line.get_ydata()), line.get_marker()))

        extension = E.PlotReport(
            ["main/loss", "missing"], "epoch", postprocess=postprocess, file_name="loss.png"
        )
        trainer.extend(extension)
        trainer.extend(E.LogReport())
        trainer.run()
        assert (tmp_path / "loss.png").read_bytes().startswith(PNG)
        assert drawn == [([1], 1, "x"), ([1, 2], 2, "x"), ([1, 2, 3], 3, "x")]
        log = trainer.get_extension("LogReport").log
        assert extension._data["main/loss"] == [[e["epoch"], e["main/loss"]] for e in log]
        assert sorted(p.name for p in tmp_path.iterdir()) == ["log", "loss.png"]

    def test_formats_and_names(self, tmp_path):
        trainer = make_trainer(tmp_path, (2, "epoch"))
        trainer.extend(E.PlotReport("main/loss", file_name="loss.svg", marker=None, grid=False))
        trainer.extend(E.PlotReport(["main/loss"], filename="at_{iteration}.png"))
        trainer.extend(E.PlotReport(None, file_name="nothing.png"))
        trainer.run()
        assert sorted(p.name for p in tmp_path.iterdir()) == ["at_3.png", "at_5.png", "loss.svg"]
        assert b"<svg" in (tmp_path / "loss.svg").read_bytes()

    def test_resume_keeps_the_points(self, tmp_path):
        points = []
        for stop, load in ((2, False), (4, True)):
            trainer = make_trainer(tmp_path, (stop, "epoch"))
            extension = E.PlotReport(["main/loss"])
            trainer.extend(extension)
            if load:
                load_npz(tmp_path / "snapshot", trainer)
            trainer.run()
            save_npz(tmp_path / "snapshot", trainer)
            points.append(extension._data["main/loss"])
        assert len(points[1]) == 4
        assert points[1][:2] == points[0]

    def test_global_state_of_matplotlib_is_left_alone(self, tmp_path):
        import matplotlib

        backend = matplotlib.rcParams._get_backend_or_none()
        pyplot_loaded = "matplotlib.pyplot" in sys.modules
        trainer = make_trainer(tmp_path, (1, "epoch"))
        trainer.extend(E.PlotReport(["main/loss"]))
        trainer.extend(E.VariableStatisticsPlot(model_of(trainer)))
        trainer.run()
        assert matplotlib.rcParams._get_backend_or_none() == backend
        assert ("matplotlib.pyplot" in sys.modules) == pyplot_loaded


def test_installed_matplotlib_is_found(monkeypatch):
    monkeypatch.setattr(plotting.installed, "is_installed", lambda name: name == "matplotlib")
    assert plotting.is_available()
    monkeypatch.setattr(plotting.installed, "is_installed", lambda name: name != "matplotlib")
    assert not plotting.is_available()


def test_without_matplotlib(tmp_path, monkeypatch):
    for module in ("plot_report", "variable_statistics_plot"):
        monkeypatch.setattr(f"chainer.training.extensions.{module}._available", False)
    trainer = make_trainer(tmp_path, (1, "epoch"))
    for make in (
        lambda: E.PlotReport(["main/loss"]),
        lambda: E.VariableStatisticsPlot(model_of(trainer)),
    ):
        with pytest.warns(UserWarning, match=re.escape(install_command("chainer[plot]"))):
            extension = make()
        with pytest.warns(UserWarning, match="nothing will be plotted"):
            assert not type(extension).available()
        trainer.extend(extension)
    trainer.run()
    assert list(tmp_path.iterdir()) == []


def test_members_of_statistics():
    """Programs for release 7 use these arguments and attributes."""
    x = np.arange(6.0).reshape(2, 3)
    statistician = Statistician(True, False, (0, 100))
    found = statistician(x, axis=0, dtype=np.float32, xp=np)
    assert found["mean"].tolist() == [1.5, 2.5, 3.5]
    assert found["mean"].dtype == np.float32
    assert list(statistician.collect(x, 1)) == ["mean", "percentile"]
    assert statistician.collect(x, 1)["percentile"].tolist() == [[0, 3], [2, 5]]
    reservoir = Reservoir(3, (2,))
    reservoir.add(np.ones(2), idx=7)
    assert (reservoir.size, reservoir.counter, reservoir.idxs[0]) == (3, 1, 7)
    assert reservoir.data.shape == (3, 2)


@pytest.mark.parametrize("x_key", ["main/loss", "elapsed_time", "n"])
def test_x_of_observations(tmp_path, x_key):
    trainer = make_trainer(tmp_path, (4, "iteration"))
    trainer.extend(lambda t: t.observation.update(n=2 * t.updater.iteration), "n", priority=400)
    plotted = []
    trainer.extend(
        E.PlotReport(
            ["main/loss"],
            x_key,
            (2, "iteration"),
            postprocess=lambda f, axes, _: plotted.append(axes),
        )
    )
    trainer.run()
    data = trainer.get_extension("PlotReport")._data
    assert list(data) == ["main/loss"]
    x, y = zip(*data["main/loss"], strict=True)
    assert {"main/loss": x == y, "elapsed_time": 0 < x[0] < x[1], "n": x == (3, 7)}[x_key]
    assert plotted[-1].get_xlabel() == x_key


def test_x_that_is_not_observed(tmp_path):
    trainer = make_trainer(tmp_path, (4, "iteration"))
    trainer.extend(E.PlotReport(["main/loss"], "zz", (2, "iteration")))
    with pytest.raises(KeyError, match=r"no 'zz' for x .* reported last: \['main/loss'\]"):
        trainer.run(show_loop_exception_msg=False)


def test_mistakes():
    with pytest.raises(TypeError, match="'fname'"):
        E.PlotReport(["y"], fname="x")
    with pytest.raises(TypeError, match="y_keys must be an iterable of strings or None, got 3"):
        E.PlotReport(3)
    with pytest.raises(TypeError, match="targets must be .* got 3"):
        E.VariableStatisticsPlot(3)
    with pytest.raises(TypeError, match="element of type int"):
        E.VariableStatisticsPlot([3])
    with pytest.raises(ValueError, match="at least one variable"):
        E.VariableStatisticsPlot([])
    nothing = {"plot_mean": False, "plot_std": False}
    for sigmas in ((), None):
        with pytest.raises(ValueError, match="Nothing to plot"):
            E.VariableStatisticsPlot(
                chainer.Parameter(np.zeros(2)), percentile_sigmas=sigmas, **nothing
            )


@needs_matplotlib
class TestVariableStatisticsPlot:
    def test_statistics_and_file(self, tmp_path):
        trainer = make_trainer(tmp_path, (4, "iteration"))
        model = model_of(trainer)
        history = []
        extension = E.VariableStatisticsPlot(
            model, percentile_sigmas=(0, 50, 100), trigger=(2, "iteration")
        )
        trainer.extend(
            lambda t: history.append((model.W.array.copy(), model.W.grad.copy())), name="look"
        )
        trainer.extend(extension)
        trainer.run()
        assert extension.available()
        assert (tmp_path / "statistics.png").read_bytes().startswith(PNG)
        positions, items = extension._samples.get_data()
        np.testing.assert_array_equal(positions, [1, 2, 3, 4])
        for row, arrays in zip(items, history, strict=True):
            for values, array in zip(row, arrays, strict=True):
                expected = [array.mean(), array.std(), array.min(), np.median(array), array.max()]
                np.testing.assert_allclose(values, expected, rtol=1e-5)

    @pytest.mark.parametrize(
        ("kwargs", "shape"),
        [
            ({}, (3, 2)),
            ({"report_grad": False}, (3, 1)),
            ({"plot_mean": False, "plot_std": False}, (1, 2)),
            ({"percentile_sigmas": (), "marker": "o", "grid": False}, (2, 2)),
        ],
    )
    def test_grid_of_axes(self, kwargs, shape, tmp_path):
        class Recording(plotting.Figures):
            def subplots(self, *args, **kwargs):
                figure, axes = super().subplots(*args, **kwargs)
                shapes.append(axes.shape)
                return figure, axes

        shapes = []
        variable = Variable(np.arange(3, dtype=np.float32), grad=np.ones(3, np.float32))
        extension = E.VariableStatisticsPlot([variable], **kwargs)
        extension._samples.add([extension._measure(a) for a in extension._attributes], 1)
        extension.save_plot_using_module(str(tmp_path / "plot.png"), Recording())
        assert shapes == [shape]

    def test_pyplot_works_too(self, tmp_path):
        from matplotlib import pyplot

        pyplot.switch_backend("Agg")
        extension = E.VariableStatisticsPlot(Variable(np.zeros(3, np.float32)))
        extension._samples.add([extension._measure(a) for a in extension._attributes], 1)
        extension.save_plot_using_module(str(tmp_path / "plot.png"), pyplot)
        assert pyplot.get_fignums() == []

    def test_resume(self, tmp_path):
        samples = []
        for stop, load in ((2, False), (4, True)):
            trainer = make_trainer(tmp_path, (stop, "iteration"))
            extension = E.VariableStatisticsPlot(model_of(trainer))
            trainer.extend(extension)
            if load:
                load_npz(tmp_path / "snapshot", trainer)
            trainer.run()
            save_npz(tmp_path / "snapshot", trainer)
            samples.append(extension._samples.get_data())
        np.testing.assert_array_equal(samples[1][0], [1, 2, 3, 4])
        np.testing.assert_array_equal(samples[1][1][:2], samples[0][1])


class TestReservoir:
    def test_every_item_has_the_same_chance(self):
        counts = np.zeros(10)
        for offset in range(300):
            reservoir = Reservoir(3, ())
            for i in range(10):
                # Random numbers depend on how many were seen; shift the items instead.
                reservoir.add(float((i + offset) % 10), i)
            positions, items = reservoir.get_data()
            assert len(items) == 3
            assert (np.diff(positions) > 0).all()
            counts[items.astype(int)] += 1
        assert counts.sum() == 900
        assert counts.min() > 60
