"""A pytest plugin: nothing may be computed by NumPy."""

import chainer

chainer.global_config.array_api_fallback = "error"
