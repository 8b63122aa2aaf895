"""Loops instead of repetitions: what a program does many times is compiled once.

A recorded step that calls a link for each word of a sequence consists of as many copies of the same
equations. XLA compiles each of them: half a minute for an LSTM of 35 steps, and the result
multiplies by the same weights 35 times. :func:`~chainer_jax.rolling.program.rolled` finds the
copies, and evaluates all of them at once: what one copy needs of the one before becomes
``lax.scan``, all else one operation on stacked arrays.
"""
