"""Cases of the function table: connections and recurrent networks."""

from __future__ import annotations

from bench_chainer import integers, operation, random

X = random(64, 256)
IMAGES = random(16, 32, 14, 14)
UNITS = 64
BATCH = 8
STEPS = [
    random(BATCH - n // 4, UNITS, seed=n) for n in range(20)
]  # of one time each, sequences end one by one


def _weights(gates, layers):
    """Weights and biases of layers whose inputs and states all have UNITS units."""
    ws = [[random(UNITS, UNITS, seed=g) * 0.1 for g in range(gates)] for _ in range(layers)]
    bs = [[random(UNITS, seed=g) * 0.1 for g in range(gates)] for _ in range(layers)]
    return ws, bs


def _state(layers, seed=0):
    return random(layers, BATCH, UNITS, seed=seed)


CONNECTION = {
    "linear": operation("linear", X, random(128, 256, seed=1), random(128, seed=2)),
    "linear small": operation("linear", random(32, 50), random(10, 50, seed=1), random(10, seed=2)),
    "bilinear": operation(
        "bilinear", random(32, 32), random(32, 32, seed=1), random(32, 32, 16, seed=2)
    ),
    "embed_id": operation("embed_id", integers(10000, 20, 35), random(10000, 200)),
    "convolution_2d": operation(
        "convolution_2d", IMAGES, random(64, 32, 3, 3, seed=1), random(64, seed=2), 1, 1
    ),
    "convolution_2d 1x1": operation("convolution_2d", IMAGES, random(64, 32, 1, 1, seed=1)),
    "convolution_2d stride 2": operation(
        "convolution_2d", IMAGES, random(64, 32, 3, 3, seed=1), None, 2, 1
    ),
    "convolution_2d groups": operation(
        "convolution_2d", IMAGES, random(64, 4, 3, 3, seed=1), None, 1, 1, groups=8
    ),
    "convolution_2d dilate": operation(
        "convolution_2d", IMAGES, random(64, 32, 3, 3, seed=1), None, 1, 2, dilate=2
    ),
    "dilated_convolution_2d": operation(
        "dilated_convolution_2d", IMAGES, random(64, 32, 3, 3, seed=1), None, 1, 2, 2
    ),
    "deconvolution_2d": operation(
        "deconvolution_2d", IMAGES, random(32, 16, 4, 4, seed=1), random(16, seed=2), 2, 1
    ),
    "depthwise_convolution_2d": operation(
        "depthwise_convolution_2d", IMAGES, random(2, 32, 3, 3, seed=1), None, 1, 1
    ),
    "local_convolution_2d": operation(
        "local_convolution_2d", random(8, 8, 12, 12), random(8, 10, 10, 8, 3, 3, seed=1)
    ),
    "convolution_nd 1d": operation(
        "convolution_nd", random(16, 32, 128), random(64, 32, 5, seed=1), None, 1, 2
    ),
    "convolution_nd 3d": operation(
        "convolution_nd", random(4, 8, 12, 12, 12), random(8, 8, 3, 3, 3, seed=1)
    ),
    "convolution_1d": operation(
        "convolution_1d", random(16, 32, 128), random(64, 32, 5, seed=1), random(64, seed=2), 1, 2
    ),
    "convolution_3d": operation(
        "convolution_3d", random(4, 8, 12, 12, 12), random(8, 8, 3, 3, 3, seed=1)
    ),
    "deconvolution_1d": operation(
        "deconvolution_1d", random(16, 32, 64), random(32, 32, 4, seed=1), None, 2, 1
    ),
    "deconvolution_3d": operation(
        "deconvolution_3d", random(4, 8, 8, 8, 8), random(8, 8, 3, 3, 3, seed=1)
    ),
    "deconvolution_nd 3d": operation(
        "deconvolution_nd", random(4, 8, 8, 8, 8), random(8, 8, 3, 3, 3, seed=1)
    ),
    "deformable_convolution_2d_sampler": operation(
        "deformable_convolution_2d_sampler",
        random(4, 16, 14, 14),
        random(4, 18, 12, 12),
        random(16, 16, 3, 3),
        random(16),
    ),
    "shift": operation("shift", IMAGES),
    "n_step_lstm": operation(
        "n_step_lstm", 1, 0.0, _state(1), _state(1, 1), *_weights(8, 1), STEPS
    ),
    "n_step_lstm 2 layers": operation(
        "n_step_lstm", 2, 0.0, _state(2), _state(2, 1), *_weights(8, 2), STEPS
    ),
    "n_step_gru": operation("n_step_gru", 1, 0.0, _state(1), *_weights(6, 1), STEPS),
    "n_step_rnn": operation("n_step_rnn", 1, 0.0, _state(1), *_weights(2, 1), STEPS),
    "n_step_bilstm": operation(
        "n_step_bilstm", 1, 0.0, _state(2), _state(2, 1), *_weights(8, 2), STEPS
    ),
}
