import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.sampling import sample

pytest_plugins = ["pytester"]


@dataclass
class Call:
    params: dict[str, Any]

    @property
    def id(self):
        return "-".join(map(str, self.params.values()))


GRID = [
    Call({"function": f, "dtype": d, "layout": k})
    for f, d, k in itertools.product(range(40), ["e", "f", "d"], [[0], [1], [2], [3]])
]


def test_one_in_four_runs():
    kept = sample(GRID, "a", 4)
    assert len(GRID) / 5 < len(kept) < len(GRID) / 3
    assert kept == sample(GRID, "a", 4) == [call for call in GRID if call in kept]
    assert kept != sample(GRID, "b", 4)


def test_each_value_is_in_a_combination():
    kept = sample(GRID, "a", 10**9)
    assert {call.params["function"] for call in kept} == set(range(40))
    assert {call.params["dtype"] for call in kept} == {"e", "f", "d"}
    assert {call.params["layout"][0] for call in kept} == {0, 1, 2, 3}
    assert len(kept) < 50


def test_combinations_that_always_run():
    kept = sample(GRID, "a", 10**9, always={"dtype": "f", "layout": [0]})
    chosen = [c for c in GRID if c.params["dtype"] == "f" and c.params["layout"] == [0]]
    assert all(call in kept for call in chosen)
    assert len(kept) < 50


def test_a_table_of_cases_stays_whole():
    table = [Call({"case": number, "expected": 0}) for number in range(30)]
    assert sample(table, "a", 10**9) == table


def test_the_marker_and_the_option(pytester):
    pytester.makeconftest(
        "from tests import sampling\n"
        "import pytest\n"
        "def pytest_addoption(parser):\n"
        "    parser.addoption('--all-combinations', action='store_true')\n"
        "def pytest_configure(config):\n"
        "    config.addinivalue_line('markers', 'sampled(every): ...')\n"
        "@pytest.hookimpl(trylast=True)\n"
        "def pytest_generate_tests(metafunc):\n"
        "    sampling.keep_sample(metafunc)\n"
    )
    pytester.makepyfile(
        "import pytest\n"
        "@pytest.fixture(params=[0, 1, 2])\n"
        "def c(request):\n"
        "    return request.param\n"
        "@pytest.mark.sampled(10**9)\n"
        "@pytest.mark.parametrize('a', [0, 1, 2])\n"
        "@pytest.mark.parametrize('b', [0, 1, 2])\n"
        "def test_a(a, b, c): pass\n"
        "@pytest.mark.parametrize('a', [0, 1, 2])\n"
        "def test_b(a, c): pass\n"
    )
    root = str(Path(__file__).parents[1])
    pytester.syspathinsert(root)
    plain = ("-p", "no:cacheprovider", "-p", "no:xdist")
    pytester.inline_run(*plain).assertoutcome(passed=7 + 9)
    pytester.inline_run(*plain, "--all-combinations").assertoutcome(passed=27 + 9)
