"""The page of the board in a browser without a window."""

import csv
import json
import shutil
import subprocess
import time

import numpy as np
import pytest
from matplotlib import pyplot as plt

from chainer.training import extensions
from tests.plugins.board_server import answer_at, results, serving
from tests.training.small_training import make_trainer

__all__ = ["results"]  # a fixture


@pytest.fixture
def page():
    """A page in a browser without a window."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("needs chromium")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = started.new_page()
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        yield page
        started.close()


@pytest.mark.slow
def test_page_in_a_browser(results, page):
    with serving(results) as url:
        page.goto(url)
        page.wait_for_selector("figure[data-key='main/loss'] canvas")
        spoken = page.locator("figure[data-key='main/loss'] .plot")
        assert "main/loss by iteration, 2 runs" in spoken.get_attribute("aria-label")
        # The curves are equal, so that the color of the second run is seen.
        drawn = """() => {
            const canvas = document.querySelector("figure[data-key='main/loss'] canvas");
            const { width, height } = canvas, context = canvas.getContext("2d");
            const { data } = context.getImageData(0, 0, width, height);
            const found = new Set();
            for (let i = 0; i < data.length; i += 4) found.add(data.slice(i, i + 4).join());
            return found.has("216,101,63,255");
        }"""
        assert page.evaluate(drawn)
        # Hyperparameters that differ are marked, resources are there.
        page.keyboard.press("2")
        table = page.inner_text("#table")
        assert "group/second" in table and "optimizer.lr" in table and "SGD" in table
        assert page.locator("#table td.differs").count() > 0 and "MiB" in table
        page.get_by_label("only columns that differ").check()
        page.wait_for_function("() => !document.querySelector('#table').innerText.includes('SGD')")
        page.get_by_role("button", name="time").click()
        header = page.get_by_role("columnheader", name="time")
        assert header.get_attribute("aria-sort") == "ascending"
        with page.expect_download() as download:
            page.get_by_role("button", name="Save as CSV").click()
        assert (content := download.value.path().read_text()).count("\n") == 3
        assert "group/second" in content
        # One run is hidden, by a filter and by its box.
        page.get_by_role("checkbox", name="group/second").uncheck()
        page.wait_for_function(
            "() => !document.querySelector('#table').innerText.includes('second')"
        )
        page.get_by_role("checkbox", name="group/second").check()
        page.keyboard.press("Escape")
        page.keyboard.press("/")
        page.keyboard.type("^gr.*d$")
        page.wait_for_function(
            "() => !document.querySelector('#table').innerText.includes('first')"
        )
        page.get_by_label("Filter runs").fill("")
        page.keyboard.press("Escape")
        page.keyboard.press("3")
        assert page.get_attribute("#pictures img", "alt") == "loss plot.png"
        page.keyboard.press("4")
        page.wait_for_function("() => document.querySelector('#details').innerText.includes('SGD')")
        # Another axis, a logarithmic one, a part of it, and the values below the crosshair.
        for key in "1xl":
            page.keyboard.press(key)
        # The charts are drawn after the key is handled.
        page.wait_for_function(
            "() => document.querySelector(\"figure[data-key='main/loss'] .plot\")"
            ".ariaLabel.includes('by epoch')"
        )
        page.keyboard.press("+")
        page.get_by_role("button", name="Whole axis").click()
        page.locator("figure[data-key='main/loss'] .u-over").hover()
        assert "group/second" in page.inner_text("figure[data-key='main/loss'] .values")
        with page.expect_download() as download:
            page.get_by_label("Save main/loss as CSV").click()
        assert download.value.path().read_text().startswith("run,epoch,main/loss\nfirst,1,")
        with page.expect_download() as download:
            page.get_by_label("Save main/loss as PNG").click()
        assert download.value.path().read_bytes().startswith(b"\x89PNG")
        # The training goes on: the page follows without a reload.
        page.keyboard.press("2")
        log = results / "group" / "second" / "log"
        entries = json.loads(log.read_text())
        entries.append(entries[-1] | {"epoch": 9, "iteration": 99})
        log.write_text(json.dumps(entries))
        page.wait_for_function("() => document.querySelector('#table').innerText.includes('99')")
        assert page.errors == []


@pytest.mark.slow
def test_names_cannot_change_the_page(results, page):
    name = "<img src=x onerror=alert(1)>"
    (results / "group" / "second" / "log").write_text(json.dumps([{"iteration": 1, name: 2.0}]))
    with serving(results) as url:
        page.goto(url)
        page.wait_for_selector("figcaption")
        assert name in page.inner_text("#charts")
        assert page.locator("img[src=x]").count() == 0


@pytest.mark.slow
def test_statistics_and_pictures_by_step(tmp_path, page):
    trainer = make_trainer(tmp_path, (5, "epoch"))
    trainer.extend(extensions.LogReport())
    model = trainer.updater.get_optimizer("main").target
    assert model is not None
    trainer.extend(extensions.ParameterStatistics(model))
    trainer.run()
    for step in (1, 2, 10):
        (tmp_path / f"sample_{step}.png").write_bytes(b"\x89PNG")
    with serving(tmp_path) as url:
        page.goto(url)
        figure = page.locator("figure:has(canvas.histogram)").first
        page.wait_for_selector("canvas.histogram")
        figure.scroll_into_view_if_needed()
        page.wait_for_function(
            "() => document.querySelector('.histogram').ariaLabel?.startsWith('Histogram from')"
        )
        page.keyboard.press("3")
        assert page.get_attribute("#pictures img", "alt") == "sample_10.png"
        page.locator("#pictures input").fill("1")
        assert page.get_attribute("#pictures img", "alt") == "sample_2.png"
        assert page.errors == []


@pytest.mark.slow
def test_a_training_that_diverges(tmp_path, page):
    """Its axis has ticks, and its last value is not the last one that was finite."""
    for name, losses in {"bad": (1.0, 1e12, 1e33, float("nan")), "good": (1.0, 0.5)}.items():
        log = [
            {"iteration": i, "epoch": i, "main/loss": loss, "main/W/std": 1.0}
            for i, loss in enumerate(losses, 1)
        ]
        (tmp_path / name).mkdir()
        (tmp_path / name / "log").write_text(json.dumps(log))
    ticks = """() => document.querySelector("figure[data-key='main/loss']")
        .chart.plot.axes[1]._values.join()"""
    with serving(tmp_path) as url:
        page.goto(url)
        page.wait_for_selector("figure[data-key='main/loss'] canvas")
        assert page.evaluate(ticks) == "0,2e32,4e32,6e32,8e32,1e33"
        page.keyboard.press("l")
        page.wait_for_function(f"() => ({ticks})() === '1,100000,1e10,1e15,1e20,1e25,1e30'")
        page.keyboard.press("2")
        cells = "#table tbody tr td:nth-child(4)"
        page.wait_for_selector(cells)
        assert page.locator(cells).all_inner_texts() == ["nan", "0.5"]
        head = page.get_by_role("button", name="main/loss")
        head.click()
        assert page.locator(cells).all_inner_texts() == ["0.5", "nan"]
        head.click()
        assert page.locator(cells).all_inner_texts() == ["nan", "0.5"]
        assert page.errors == []


@pytest.mark.slow
def test_many_runs(tmp_path, page):
    """1,000 runs with 1,000,000 entries are read, sent and drawn. Prints how long it takes."""
    random = np.random.RandomState(0)
    for run in range(1000):
        losses, folder = random.rand(1000).cumsum(), tmp_path / f"run{run:03d}"
        folder.mkdir()
        log = [
            {"main/loss": x, "main/accuracy": 1 / x, "iteration": i}
            for i, x in enumerate(losses, 1)
        ]
        (folder / "log").write_text(json.dumps(log))
    with serving(tmp_path) as url:
        page.goto(url)
        # Minutes on a busy machine: the time is not what is tested.
        page.wait_for_function(
            "() => document.querySelector('#count').innerText.includes('1000')", timeout=240_000
        )
        while any(run["read"] < 1 for run in answer_at(url)["runs"].values()):
            time.sleep(1)
        page.wait_for_timeout(3000)
        # All numbers are there: three columns of a million.
        assert page.evaluate("() => performance.memory.usedJSHeapSize") > 20e6
        took = {}
        for name, keys in (
            ("all", "a"),
            ("zoom", "+"),
            ("axis", "x"),
            ("table", "2"),
            ("back", "1"),
        ):
            start = time.monotonic()
            page.keyboard.press(keys)
            # Two frames later everything is drawn.
            page.evaluate(
                "() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))"
            )
            took[name] = time.monotonic() - start
        print(f"seconds until it is drawn: {took}")
        spoken = page.locator("figure[data-key='main/loss'] .plot").get_attribute("aria-label")
        assert "1000 runs" in spoken and page.errors == []


@pytest.mark.slow
def test_page_says_why_there_is_no_curve(tmp_path, page):
    said = page.locator("#no-charts")

    def wait(text):
        page.wait_for_function(
            "text => document.querySelector('#no-charts').textContent.startsWith(text)", arg=text
        )

    with serving(tmp_path) as url:
        page.goto(url)
        wait("No logs here yet")
        (tmp_path / "run").mkdir()
        log = tmp_path / "run" / "log"
        log.write_text("[]")
        wait("The logs have no numbers yet.")
        log.write_text('[{"iteration": 1, "main/loss": NaN}, {"iteration": 2, "main/loss": NaN}]')
        wait("All values are nan or infinite.")
        page.keyboard.press("n")
        wait("No run is shown.")
        page.keyboard.press("a")
        log.write_text('[{"iteration": 1, "main/loss": 1}, {"iteration": 2, "main/loss": 2}]')
        page.wait_for_selector("figure[data-key='main/loss'] canvas")
        assert said.text_content() == ""
        page.locator("#filter-charts").fill("accuracy")
        wait("No chart has such a name.")
        assert page.errors == []


#: Runs that are broken, or that try to run code in the page: files by folder.
BAD_RUNS = {
    "number": {"log": "5"},
    "null": {"log": "null"},
    "brackets": {"log": "[" * 100_000},
    "nan": {"log": '[{"epoch": 1, "main/loss": NaN, "x": {"a": [NaN]}}]', "args": '{"a": [NaN]}'},
    "name<b>x": {
        "log": json.dumps(
            [
                {
                    "iteration": 1,
                    "<img src=x onerror=\"document.title='seized'\">": 0.5,
                    "main/loss": "</script><script>document.title='seized'</script>",
                }
            ]
        )
    },
    "drawing": {
        "log": '[{"iteration": 1}]',
        "cg.svg": '<svg xmlns="http://www.w3.org/2000/svg"><script>document.title="seized"</script></svg>',
    },
}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs the browser chromium")
def test_bad_runs_in_a_browser(results):
    for name, files in BAD_RUNS.items():
        (results / name).mkdir()
        for file, text in files.items():
            (results / name / file).write_text(text)
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000"]
    with serving(results) as url:
        done = subprocess.run(
            ["chromium", *options, "--dump-dom", url], capture_output=True, text=True, timeout=60
        )
    assert "<title>Chainer board</title>" in done.stdout and "seized<" not in done.stdout
    assert ">first</span>" in done.stdout and "NaN" not in done.stdout
    for name in BAD_RUNS:
        assert f">{name.replace('<', '&lt;').replace('>', '&gt;')}</span>" in done.stdout
    assert "log: nested too deeply" in done.stdout
    assert "The board has been stopped" not in done.stdout


#: What has the focus, as the tests call it.
FOCUS = """() => {
    const e = document.activeElement;
    if (e === document.body) return "page";
    return e.id || e.dataset.focus || e.ariaLabel || e.textContent.trim();
}"""


def walk(page, limit=60):
    """Presses Tab until the page begins again; returns what had the focus, in order."""
    found = []
    for _ in range(limit):
        page.keyboard.press("Tab")
        name = page.evaluate(FOCUS)
        # A browser without a window begins again. Others go on to their own controls.
        if name == "page" or (found and name == found[0]):
            return found
        seen = page.evaluate("""() => {
            const e = document.activeElement, box = e.getBoundingClientRect();
            const style = getComputedStyle(e);
            return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1
                && box.width > 0 && box.bottom > 0 && box.right > 0
                && box.top < innerHeight && box.left < innerWidth;
        }""")
        assert seen, f"the focus on {name} is not seen"
        found.append(name)
    raise AssertionError(f"the focus does not leave {found[-5:]}")


@pytest.mark.slow
def test_the_whole_page_by_keys(results, page):
    """Tab reaches every control, in the order in which they are read, and leaves each."""
    for step in (1, 2):
        (results / "first" / f"sample_{step}.png").write_bytes(b"\x89PNG")
    settings = ["skip", "x", "smoothing", "logarithmic", "filter", "show-all", "show-none"]
    with serving(results) as url:
        page.goto(url)
        page.wait_for_selector("figure[data-key='main/loss'] canvas")
        charts = page.locator("figure h3").all_inner_texts()
        controls = [
            name
            for title in charts
            for name in (
                f"Save {title} as CSV",
                f"Save {title} as PNG",
                page.locator(f"figure[data-key='{title}'] .plot").get_attribute("aria-label"),
            )
        ]
        found = walk(page)
        groups = set(page.locator("#charts summary").all_inner_texts())
        # The list of runs is one stop, also if there are a thousand.
        start = [*settings, "run first", "tab-curves", "help-button", "filter-charts"]
        assert found[: len(start)] == start
        assert [name for name in found[len(start) :] if name not in groups] == controls
        assert groups <= set(found)
        # Back, one by one: nothing holds the focus.
        page.reload()
        page.wait_for_selector("figure[data-key='main/loss'] canvas")
        back = []
        for _ in found:
            page.keyboard.press("Shift+Tab")
            back.append(page.evaluate(FOCUS))
        assert back[::-1] == found
        # What is left to reach is the page itself: every control was there.
        wanted = page.evaluate("""() => [
                ...document.querySelectorAll("a, button, input, select, summary"),
            ].filter(e => e.checkVisibility({ visibilityProperty: true }) && e.tabIndex >= 0)
            .map(e => e.id || e.dataset.focus || e.ariaLabel || e.textContent.trim())""")
        assert set(wanted) <= set(found)
        assert page.errors == []


@pytest.mark.slow
def test_controls_by_keys(results, page):
    """What the mouse can do: show runs, choose a view, read values, sort, look at pictures."""
    for step in (1, 2, 3):
        (results / "first" / f"sample_{step}.png").write_bytes(b"\x89PNG")

    def until(name):
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate(FOCUS) == name:
                return
        raise AssertionError(f"{name} is not reached")

    def has_focus(name):
        page.wait_for_function(f"name => ({FOCUS})() === name", arg=name)

    def shown():
        return [box.is_checked() for box in page.locator("#runs input").all()]

    with serving(results) as url:
        page.goto(url)
        page.wait_for_selector("figure[data-key='main/loss'] canvas")
        until("run first")
        page.keyboard.press("Space")
        assert shown() == [False, True]
        page.keyboard.press("ArrowDown")
        has_focus("run group/second")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        assert shown() == [True, False]
        page.keyboard.press("a")
        page.keyboard.press("End")
        has_focus("run group/second")
        # The values along the axis, in the text of the crosshair.
        page.keyboard.press("Tab")
        has_focus("tab-curves")
        plot = page.locator("figure[data-key='main/loss'] .plot")
        until(plot.get_attribute("aria-label"))
        page.keyboard.press("ArrowRight")
        first = plot.get_attribute("aria-valuetext")
        assert first.startswith("iteration ") and "group/second" in first
        assert "group/second" in page.inner_text("figure[data-key='main/loss'] .values")
        page.keyboard.press("End")
        assert plot.get_attribute("aria-valuetext") != first
        assert plot.get_attribute("aria-valuenow") == plot.get_attribute("aria-valuemax")
        # Escape leaves the chart, and Tab goes on from there.
        page.keyboard.press("Escape")
        has_focus("page")
        assert page.locator("figure[data-key='main/loss'] .values").is_hidden()
        page.keyboard.press("Shift+Tab")
        has_focus("Save main/loss as PNG")
        # The views. A number chooses one, the arrows go to its neighbors.
        page.keyboard.press("1")
        has_focus("tab-curves")
        page.keyboard.press("ArrowRight")
        has_focus("tab-compare")
        # A column is sorted, and keeps the focus, also when the training goes on.
        until("column iteration")
        page.keyboard.press("Enter")
        has_focus("column iteration")
        assert page.locator("th[aria-sort=ascending]").inner_text().startswith("iteration")
        log = results / "first" / "log"
        entries = json.loads(log.read_text())
        log.write_text(json.dumps([*entries, entries[-1] | {"epoch": 9, "iteration": 99}]))
        page.wait_for_function("() => document.querySelector('#table').innerText.includes('99')")
        has_focus("column iteration")
        # The arrows scroll the table and do not zoom the charts.
        page.locator(".scroll").focus()
        page.keyboard.press("ArrowRight")
        assert page.locator("#reset-zoom").is_hidden()
        page.keyboard.press("3")
        until("picture first/sample_*.png")
        page.keyboard.press("ArrowLeft")
        page.wait_for_selector("img[alt='sample_2.png']")
        page.keyboard.press("4")
        until("details first")
        page.keyboard.press("Enter")
        # The help: Tab stays in a dialog, Escape gives the focus back.
        page.keyboard.press("1")
        until("help-button")
        page.keyboard.press("Enter")
        page.wait_for_selector("#help[open]")
        page.keyboard.press("Escape")
        page.wait_for_selector("#help", state="hidden")
        has_focus("help-button")
        # The link over all of it.
        page.reload()
        page.wait_for_selector("figure[data-key='main/loss'] canvas")
        page.keyboard.press("Tab")
        has_focus("skip")
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        has_focus("tab-curves")
        assert page.errors == []


def write_long_runs(folder, runs, length):
    """Writes logs of random walks; returns the losses of each run."""
    random, losses = np.random.RandomState(0), {}
    for run in range(runs):
        name = f"run{run}"
        losses[name] = random.randn(length).cumsum().tolist()
        (folder / name).mkdir()
        log = [{"iteration": i, "main/loss": x} for i, x in enumerate(losses[name], 1)]
        (folder / name / "log").write_text(json.dumps(log))
    return losses


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "length"), [(3, 5_000), (4, 250_000)])
def test_downloads_of_long_runs(tmp_path, page, runs, length):
    """All points are in the file, not those that are drawn. Prints the time and the memory."""
    losses = write_long_runs(tmp_path, runs, length)
    with serving(tmp_path) as url:
        page.goto(url)
        page.wait_for_selector("figure[data-key='main/loss'] canvas", timeout=120_000)
        page.wait_for_function(
            "points => points ==="
            " document.querySelector('figure').chart.runs.reduce((n, run) => n + run.length, 0)",
            arg=runs * length,
            timeout=240_000,
        )
        heap = "() => performance.memory.usedJSHeapSize"
        before, start = page.evaluate(heap), time.monotonic()
        with page.expect_download(timeout=60_000) as download:
            page.get_by_label("Save main/loss as CSV").click()
        path, took = download.value.path(), time.monotonic() - start
        grown = page.evaluate(heap) - before
        print(f"{runs * length:,} points: {took:.1f} s, heap + {grown / 1e6:.0f} MB")
        with open(path, newline="") as file:
            head, *rows = csv.reader(file)
        assert head == ["run", "iteration", "main/loss"]
        wanted = [(n, i) for n, xs in losses.items() for i in range(1, len(xs) + 1)]
        assert [(name, int(i)) for name, i, _ in rows] == wanted
        # The board sends seven digits.
        values = np.array([x for *_, x in rows], float)
        np.testing.assert_allclose(values, np.concatenate([*losses.values()]), rtol=1e-6)
        start = time.monotonic()
        with page.expect_download(timeout=60_000) as download:
            page.get_by_label("Save main/loss as PNG").click()
        path, drawn = download.value.path(), time.monotonic() - start
        print(f"picture: {drawn:.1f} s, {path.stat().st_size / 1e3:.0f} kB")
        # A picture of the size of the screen, in the colors of all runs.
        image = plt.imread(path)
        assert image.shape[1] >= 300 and path.stat().st_size < 1 << 20
        found = {tuple(color) for color in np.rint(255 * image[..., :3]).astype(int).reshape(-1, 3)}
        assert {(63, 111, 216), (216, 101, 63), (47, 158, 98)} <= found
        # Points times some hundred bytes at most, and seconds, also on a busy machine.
        assert grown < 400e6 and took < 60 and drawn < 60
        assert page.errors == []
