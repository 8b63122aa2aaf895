"""Sample benchmark that needs no framework."""

import os
import random

from bench_case import Case, Missing

UNIT = "us"
PER_CALL = 10
BUDGETS = {"twin": 1e9}
MEAN_BUDGETS = {"twin": 1e-9}
ROW_BUDGETS = [["phases first", "phases second", 0.0], ["phases first", "phases first", 1.0]]


def plain():
    return Case([("", lambda: None)], lambda: [1.0, 2.0])


def phases():
    return Case([("first", lambda _: 1), ("second", lambda state: state + 1), ("_hidden", str)])


def missing():
    raise Missing("this framework lacks it")


def broken():
    raise ValueError("broken on purpose")


def dying():
    return lambda: os._exit(3)


def different():
    return Case([("", lambda: None)], lambda: [random.random() for _ in range(9)])


CASES = {
    "plain": plain,
    "phases": phases,
    "missing": missing,
    "broken": broken,
    "different": different,
    "dying": dying,
}
