"""Compares what examples print with what they should: numbers as float32 numbers."""

import doctest
import re

import numpy as np

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


class NumberChecker(doctest.OutputChecker):
    """Accepts another last digit, which depends on NumPy, the BLAS library and the processor."""

    def check_output(self, want, got, optionflags):
        if super().check_output(want, got, optionflags):
            return True
        skeletons = [re.sub(r"\s+", "", _NUMBER.sub("#", text)) for text in (want, got)]
        if skeletons[0] != skeletons[1]:
            return False
        numbers = [np.array(_NUMBER.findall(text), float) for text in (want, got)]
        return np.allclose(*numbers, rtol=2e-6, atol=1e-7)
