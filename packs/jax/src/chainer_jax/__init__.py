"""Chainer on arrays of JAX. Importing this does not import JAX; the first ``@jax`` device does."""
