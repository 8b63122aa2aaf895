"""Simplified programs compute the same with fewer equations."""

from __future__ import annotations

import jax
import numpy as np

from chainer_jax.loops.simplify import simplified


def test_equations_without_inputs():
    traced = jax.make_jaxpr(lambda x: jax.lax.iota("float32", 3) + x)(np.zeros(3, "f"))
    equations, results = simplified(traced.jaxpr, traced.consts)
    assert [e.name for e in equations] == ["iota", "add"]
    assert results == list(equations[1].outputs)
