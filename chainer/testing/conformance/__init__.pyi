# Written by scripts/make_stubs.py. Do not edit.

from chainer.plugins.testing.conformance import *
from chainer.plugins.testing.conformance import (
    contract as contract,
    expected_failures as expected_failures,
    harness as harness,
    options as options,
    reports as reports,
    results as results,
)
