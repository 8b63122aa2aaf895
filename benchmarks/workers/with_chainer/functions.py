"""Table of functions at sizes that are usual with NumPy, forward and backward each alone"""

from __future__ import annotations

from cases_activation import ACTIVATION
from cases_array import ARRAY
from cases_connection import CONNECTION
from cases_loss import LOSS
from cases_math import MATH
from cases_normalization import NORMALIZATION

UNIT = "us"
BUDGETS = {"upstream": 1 / 0.9}
MEAN_BUDGETS = {"upstream": 1 / 1.5}
CASES = {}
for group in (ACTIVATION, ARRAY, CONNECTION, LOSS, MATH, NORMALIZATION):
    CASES.update(group)
