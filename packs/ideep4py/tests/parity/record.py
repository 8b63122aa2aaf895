"""Records what the original does: run by hand with Python 3.7, ``pip install ideep4py numpy``.

    python3.7 record.py

writes ``original_2_0_0.npz``: for every case the results, and under ``types`` their Python types.
"""

import os
import sys

import numpy as np

import ideep4py

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import cases

results = {}
types = []
for name in sorted(cases.CASES):
    arrays = cases.Arrays(ideep4py, cases.inputs())
    for k, value in enumerate(cases.CASES[name](ideep4py, arrays)):
        key = "%s.%d" % (name, k)
        results[key] = np.array(value)
        types.append("%s=%s" % (key, type(value).__name__))
results["types"] = np.array(types)
results["version"] = np.array("ideep4py %s" % ideep4py.__version__)
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "original_2_0_0.npz")
np.savez_compressed(path, **results)
print(len(results) - 2, "results,", os.path.getsize(path), "bytes")
