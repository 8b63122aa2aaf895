"""Loops in place of repeated equations: XLA compiles what a program does many times once.

A recorded step that calls a link for each word of a sequence consists of as many copies of the same
equations. XLA would compile each of them: 15 seconds for an LSTM of 35 steps, whose program then
multiplies by the same weights 35 times and takes three times as long as a loop.

:func:`with_loops` is the whole interface. It takes a ``jaxpr`` and knows nothing of Chainer:

- :mod:`~chainer_jax.loops.simplify` removes repeated and unused equations,
- :mod:`~chainer_jax.loops.copies` finds copies of equations, and what these get from each other,
- :mod:`~chainer_jax.loops.evaluation` evaluates all copies at once: equations that need results of
  the copy before become ``lax.scan``, all others one operation on stacked arrays.
"""

from chainer_jax.loops.program import with_loops

__all__ = ["with_loops"]
